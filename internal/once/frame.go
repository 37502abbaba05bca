package once

import (
	"encoding/binary"
	"hash/maphash"
	"strings"
	"unsafe"

	"github.com/tapedeck/tapedeck/internal/redact"
)

// standIn is the JSON string that stands in a frame where texts were. No text
// that is UTF-8 holds it, and no rule finds anything in it.
const standIn = "\"\xff\xfe\xff\""

// pieces makes a reference to the texts that a JSON value is made of. It is not
// ok, and hits are as before, where the value is better taken as a whole.
func (s *encoding) pieces(attribute, v string, hits *redact.Hits) (string, bool) {
	if !structured(v) {
		return "", false
	}
	c := &s.cut
	c.forget()
	c.enc, c.v, c.hits, c.attribute = s, v, hits, maphash.String(wholeSeed, attribute)
	had := len(hits.List)
	ref, ok := "", c.find() && c.worth()
	if ok {
		ref, ok = c.ref()
	}
	if ok {
		s.saved += c.saved
	} else {
		hits.List = hits.List[:had]
	}
	return ref, ok
}

// worth reports whether most of the value is in its texts.
func (c *cutter) worth() bool {
	size := 0
	for _, p := range c.pieces {
		size += p.to - p.from
	}
	return 2*size > len(c.v)
}

// run is a number of pieces with the same text between each two.
type run struct {
	pieces  []piece
	between string
}

// next takes the first run off some pieces.
func (c *cutter) nextRun(pieces []piece) (run, []piece) {
	r := run{}
	n := 1
	for ; n < len(pieces); n++ {
		between := c.v[pieces[n-1].to:pieces[n].from]
		if n == 1 {
			if !isSeparator(between) {
				break
			}
			r.between = between
		} else if between != r.between {
			break
		}
	}
	r.pieces = pieces[:n]
	return r, pieces[n:]
}

// isSeparator reports whether s is what may stand between elements.
func isSeparator(s string) bool {
	i := space(s, 0)
	return i < len(s) && s[i] == ',' && space(s, i+1) == len(s)
}

// ref makes the reference: the frame, redacted, with the texts where they were.
func (c *cutter) ref() (string, bool) {
	c.frame = c.frame[:0]
	done, runs := 0, 0
	for rest := c.pieces; len(rest) > 0; runs++ {
		var r run
		r, rest = c.nextRun(rest)
		c.frame = append(append(c.frame, c.v[done:r.pieces[0].from]...), standIn...)
		done = r.pieces[len(r.pieces)-1].to
	}
	c.frame = append(c.frame, c.v[done:]...)
	frame := unsafe.String(unsafe.SliceData(c.frame), len(c.frame))
	if strings.Count(frame, standIn) != runs {
		return "", false
	}
	had := len(c.hits.List)
	redacted, ok := c.enc.policy.Document(frame, c.hits)
	if !ok || strings.Count(redacted, standIn) != runs {
		return "", false
	}
	if len(c.hits.List) > had {
		// With a stand-in for many, paths count elements wrongly.
		c.hits.List = c.hits.List[:had]
		if !c.frameHits() {
			return "", false
		}
	}
	return c.write(redacted), true
}

// frameHits finds what is replaced in the frame, with the right paths.
func (c *cutter) frameHits() bool {
	c.framed = c.framed[:0]
	done := 0
	for _, p := range c.pieces {
		c.framed = append(append(c.framed, c.v[done:p.from]...), standIn...)
		done = p.to
	}
	c.framed = append(c.framed, c.v[done:]...)
	_, ok := c.enc.policy.Document(string(c.framed), c.hits)
	return ok
}

// write writes the reference.
func (c *cutter) write(frame string) string {
	s := c.enc
	begin := s.beginRef(markCut)
	for rest := c.pieces; ; {
		literal, after, more := strings.Cut(frame, standIn)
		frame = after
		if literal != "" {
			s.refs = binary.AppendUvarint(s.refs, uint64(len(literal))<<1)
			s.refs = append(s.refs, literal...)
		}
		if !more {
			return s.endRef(begin)
		}
		var r run
		r, rest = c.nextRun(rest)
		s.refs = binary.AppendUvarint(s.refs, uint64(len(r.pieces))<<1|1)
		s.refs = binary.AppendUvarint(s.refs, uint64(len(r.between)))
		s.refs = append(s.refs, r.between...)
		last := int64(0)
		for _, p := range r.pieces {
			s.refs = binary.AppendVarint(s.refs, int64(p.n)-last)
			last = int64(p.n)
		}
	}
}
