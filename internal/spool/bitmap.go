package spool

import "math/bits"

// bitmap is a set of small integers that grows as needed.
type bitmap []uint64

func (b bitmap) has(i uint32) bool {
	return int(i/64) < len(b) && b[i/64]&(1<<(i%64)) != 0
}

func (b *bitmap) set(i uint32) {
	for int(i/64) >= len(*b) {
		*b = append(*b, 0)
	}
	(*b)[i/64] |= 1 << (i % 64)
}

func (b bitmap) unset(i uint32) {
	if int(i/64) < len(b) {
		b[i/64] &^= 1 << (i % 64)
	}
}

// next is the first member that is not below i.
func (b bitmap) next(i uint32) (uint32, bool) {
	for w := int(i / 64); w < len(b); w++ {
		word := b[w]
		if w == int(i/64) {
			word &= ^uint64(0) << (i % 64)
		}
		if word != 0 {
			return uint32(w*64 + bits.TrailingZeros64(word)), true
		}
	}
	return 0, false
}
