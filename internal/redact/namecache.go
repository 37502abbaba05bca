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

// judged is what a name says about its value.
type judged struct {
	name   string
	typ    string
	secret bool
	// schema: the members of the value are those of a JSON schema; see Context.
	schema bool
	// id: the value is an identifier.
	id bool
	// opaque: the value is no text if it is base64.
	opaque bool
}

var seed = maphash.MakeSeed()

func hashName(name string) uint64 { return maphash.String(seed, name) >> (64 - cacheBits) }

// judge looks a name up, or judges it if it is not known yet.
func (m *keyMatcher) judge(name string) judged {
	slot := &m.names.slots[hashName(name)]
	if j := slot.Load(); j != nil && j.name == name {
		return *j
	}
	j := judged{name: name, schema: schemaMaps[name], id: isIDName(name), opaque: isOpaqueName(name)}
	j.typ, j.secret = m.match(splitName(withoutPlaceholders(name)))
	if len(name) <= maxName {
		// The name may be part of a buffer that is used again.
		j.name = strings.Clone(name)
		slot.Store(&j)
	}
	return j
}

// cleanNames remembers names that hold no secret themselves.
type cleanNames struct {
	slots [1 << cacheBits]atomic.Pointer[string]
}

func (c *cleanNames) has(name string) bool {
	known := c.slots[hashName(name)].Load()
	return known != nil && *known == name
}

func (c *cleanNames) add(name string) {
	if len(name) <= maxName {
		own := strings.Clone(name)
		c.slots[hashName(name)].Store(&own)
	}
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
