// Package pieces holds byte strings that repeat one another, every piece once.
//
// The spans of an agent's run repeat its whole conversation in every model call: a
// gigabyte of them is a few megabytes of text. A Store cuts what it is given where
// the content says so, so that equal stretches are cut alike wherever they begin,
// keeps each piece once, and gives back what it was given, byte for byte.
//
// It costs one pass over what is new and a comparison with what is not, and about
// four bytes for each kilobyte that repeats. Nothing is ever let go of but the
// whole Store.
package pieces

import (
	"bytes"
	"hash/maphash"
)

// A piece ends where the last bytes before it hash to a value with no bits of the
// mask: after 1 KiB in the mean behind the shortest.
const (
	shortest = 256
	longest  = 16 << 10
	mask     = 1<<63 | 1<<62 | 1<<61 | 1<<60 | 1<<59 | 1<<58 | 1<<57 | 1<<56 | 1<<55 | 1<<54
)

// Store holds byte strings. The zero Store is ready. It is not safe for concurrent
// use.
type Store struct {
	seed   maphash.Seed
	known  map[uint64]uint32
	pieces []piece
	size   int
}

type piece struct {
	data []byte
	// after is what came behind it the last time, plus one.
	after uint32
	// whole is set unless the piece ended with what it was cut from.
	whole bool
}

// Ref names a byte string in the Store that gave it.
type Ref []uint32

// Put keeps a copy of b.
func (s *Store) Put(b []byte) Ref {
	if s.known == nil {
		s.seed, s.known = maphash.MakeSeed(), map[uint64]uint32{}
	}
	ref := make(Ref, 0, len(b)/(shortest+1<<10)+1)
	for len(b) > 0 {
		id, n := s.piece(b, ref)
		if len(ref) > 0 {
			s.pieces[ref[len(ref)-1]].after = id + 1
		}
		ref = append(ref, id)
		b = b[n:]
	}
	return ref
}

// piece is the one that b begins with, behind those of ref, and its length.
func (s *Store) piece(b []byte, ref Ref) (id uint32, n int) {
	if len(ref) > 0 {
		if after := s.pieces[ref[len(ref)-1]].after; after > 0 {
			if p := &s.pieces[after-1]; p.whole && bytes.HasPrefix(b, p.data) {
				return after - 1, len(p.data)
			}
		}
	}
	n, whole := cut(b)
	hash := maphash.Bytes(s.seed, b[:n])
	if id, ok := s.known[hash]; ok && bytes.Equal(s.pieces[id].data, b[:n]) {
		return id, n
	}
	id = uint32(len(s.pieces))
	s.pieces = append(s.pieces, piece{data: bytes.Clone(b[:n]), whole: whole})
	s.known[hash] = id
	s.size += n
	return id, n
}

// cut is the length of the piece that b begins with, and whether the content or
// the longest length ended it.
func cut(b []byte) (n int, whole bool) {
	if len(b) <= shortest {
		return len(b), false
	}
	var hash uint64
	end := min(len(b), longest)
	for i := shortest - 64; i < end; i++ {
		hash = hash<<1 + gear[b[i]]
		if hash&mask == 0 && i >= shortest {
			return i + 1, true
		}
	}
	return end, end == longest
}

// Append appends the byte string that ref names to dst.
func (s *Store) Append(dst []byte, ref Ref) []byte {
	for _, id := range ref {
		dst = append(dst, s.pieces[id].data...)
	}
	return dst
}

// Size is how many bytes the pieces have.
func (s *Store) Size() int { return s.size }

// gear gives each byte a number of its own.
var gear = func() (out [256]uint64) {
	x := uint64(0x9e3779b97f4a7c15)
	for i := range out {
		// The generator splitmix64.
		x += 0x9e3779b97f4a7c15
		z := x
		z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
		z = (z ^ z>>27) * 0x94d049bb133111eb
		out[i] = z ^ z>>31
	}
	return out
}()
