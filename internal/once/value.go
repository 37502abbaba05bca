package once

import (
	"encoding/binary"
	"hash/maphash"
	"unsafe"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/walk"
)

// minValue is the least length, in bytes, of a value that is looked at as text.
// With half of it, exports of real agents become 1.5 % smaller, and ordinary spans
// with a longer URL or query need a table.
const minValue = 256

// What a string begins with that stands for another.
const (
	mark       = 0xff
	markText   = 't'
	markCut    = 'c'
	markEscape = 'e'
)

// Text is what [scrub.Texts] asks for.
func (s *encoding) Text(at *walk.Path, c redact.Context, v string, hits *redact.Hits) string {
	if len(v) < minValue {
		return s.plain(at, c, v, hits)
	}
	// Under a secret name the value is gone. The notes of what was replaced are
	// read and written by the scrubber itself.
	if _, secret := c.Secret(); secret || at.Attribute() == attr.Redacted {
		return s.plain(at, c, v, hits)
	}
	s.known()
	if c == (redact.Context{}) {
		if ref, ok := s.pieces(at.Attribute(), v, hits); ok {
			return ref
		}
	}
	return s.whole(c, v, hits)
}

// plain redacts a value and escapes what could be taken for a reference.
func (s *encoding) plain(at *walk.Path, c redact.Context, v string, hits *redact.Hits) string {
	out := s.scrubber.Leaf(c, v, hits)
	if out == "" || out[0] != mark || at.Attribute() == attr.Redacted {
		return out
	}
	s.marked = true
	return string([]byte{mark, markEscape}) + out
}

// whole makes one text of a value.
func (s *encoding) whole(c redact.Context, v string, hits *redact.Hits) string {
	hash := maphash.String(wholeSeed, v)
	if c != (redact.Context{}) {
		hash ^= maphash.Comparable(wholeSeed, c)
	}
	n, ok := s.k.find(hash, len(v))
	if ok {
		hits.List = append(hits.List, s.k.hits[n]...)
		s.saved += int64(len(v))
	} else {
		had := len(hits.List)
		out := s.policy.Leaf(c, v, hits)
		n = s.add(hash, len(v), out, hits.List[had:])
	}
	begin := s.beginRef(markText)
	s.refs = binary.AppendUvarint(s.refs, uint64(n))
	return s.endRef(begin)
}

func (s *encoding) beginRef(kind byte) int {
	s.marked = true
	begin := len(s.refs)
	s.refs = append(s.refs, mark, kind)
	return begin
}

// endRef is the reference that begins there. References share one buffer, of
// which what was written once stays as it is.
func (s *encoding) endRef(begin int) string {
	return unsafe.String(&s.refs[begin], len(s.refs)-begin)
}
