package once

import (
	"encoding/binary"
	"strings"
	"unsafe"
)

// ops reads what a cut value is made of.
type ops struct {
	rest string
	bad  bool
}

func (o *ops) bytes() []byte { return unsafe.Slice(unsafe.StringData(o.rest), len(o.rest)) }

func (o *ops) uvarint() uint64 {
	n, size := binary.Uvarint(o.bytes())
	return n &^ o.skip(size)
}

func (o *ops) varint() int64 {
	n, size := binary.Varint(o.bytes())
	return n &^ int64(o.skip(size))
}

// skip passes a number that was size bytes long, and is all ones if there was
// none.
func (o *ops) skip(size int) uint64 {
	if size <= 0 {
		o.bad, o.rest = true, ""
		return ^uint64(0)
	}
	o.rest = o.rest[size:]
	return 0
}

func (o *ops) take(n uint64) string {
	if n > uint64(len(o.rest)) {
		o.bad, o.rest = true, ""
		return ""
	}
	out := o.rest[:n]
	o.rest = o.rest[n:]
	return out
}

// each calls piece for all that a cut value is made of, in order, until piece
// says no. It is false if the value is not well formed.
func (r *restorer) each(value string, piece func(s string, known bool) bool) bool {
	o := ops{rest: value}
	for o.rest != "" {
		op := o.uvarint()
		if op&1 == 0 {
			if literal := o.take(op >> 1); o.bad || !piece(literal, true) {
				return !o.bad
			}
			continue
		}
		between := o.take(o.uvarint())
		number := uint64(0)
		for n := range op >> 1 {
			number += uint64(o.varint())
			if o.bad {
				return false
			}
			text, known := r.text(number)
			if n > 0 && !piece(between, true) || !piece(text, known) {
				return true
			}
		}
	}
	return !o.bad
}

// join puts a cut value together, up to the first text that is not known. It
// goes over the value twice, so that the memory is had at once.
func (r *restorer) join(value string) (string, bool) {
	size, lost := 0, false
	ok := r.each(value, func(s string, known bool) bool {
		size += len(s)
		lost = !known
		return known && size <= r.left
	})
	if !ok || size > r.left {
		return "", false
	}
	r.left -= size
	var b strings.Builder
	if lost {
		size += len(Hole)
	}
	b.Grow(size)
	r.each(value, func(s string, known bool) bool {
		b.WriteString(s)
		return known
	})
	if lost {
		b.WriteString(r.hole())
	}
	return b.String(), true
}
