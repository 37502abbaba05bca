package redact

import (
	"hash/maphash"
	"strings"
	"sync/atomic"
)

// nameCache remembers judged names. Programs use few names again and again, so
// a fixed table in which a new name replaces an old one is enough; it bounds
// what hostile names can cost in memory.
type nameCache struct {
	slots [1 << cacheBits]atomic.Pointer[judged]
}

const cacheBits = 12

type judged struct {
	name string
	typ  string
	ok   bool
}

var seed = maphash.MakeSeed()

func (c *nameCache) slot(name string) *atomic.Pointer[judged] {
	return &c.slots[maphash.String(seed, name)>>(64-cacheBits)]
}

// lookup returns the judgement on a name, by judge if it is not known yet.
func (m *keyMatcher) lookup(name string) (typ string, ok bool) {
	slot := m.cache.slot(name)
	if j := slot.Load(); j != nil && j.name == name {
		return j.typ, j.ok
	}
	words, dot := splitName(withoutPlaceholders(name))
	typ, ok = m.match(words, dot)
	if len(name) <= maxName {
		// The name may be part of a buffer that is used again.
		slot.Store(&judged{strings.Clone(name), typ, ok})
	}
	return typ, ok
}

// withoutPlaceholders takes placeholders out of a name: the types in them are
// not words of the name.
func withoutPlaceholders(name string) string {
	for i := 0; ; {
		j := strings.Index(name[i:], placeholderHead)
		if j < 0 {
			return name
		}
		i += j
		if n := placeholderLen(name[i:]); n > 0 {
			name = name[:i] + " " + name[i+n:]
		}
		i++
	}
}
