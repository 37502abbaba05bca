package scrub

import (
	"hash/maphash"
	"strings"
	"sync/atomic"

	"github.com/tapedeck/tapedeck/internal/redact"
)

var seed = maphash.MakeSeed()

const (
	cleanBits = 12
	// maxClean bounds the values that are worth to be remembered: longer ones
	// seldom come again as a whole.
	maxClean = 256
)

// cleanValues remembers by keyed 64-bit hashes which values, under no name that
// means something, hold nothing to redact. Programs write the same short values
// again and again, and to know one costs a tenth of judging it. A new value takes
// the place of an old one.
type cleanValues [1 << cleanBits]atomic.Uint64

func (t *cleanValues) slot(hash uint64) *atomic.Uint64 { return &t[hash>>(64-cleanBits)] }

// Leaf redacts a string as [redact.Policy.Leaf] does.
func (s *Scrubber) Leaf(c redact.Context, v string, hits *redact.Hits) string {
	if v == "" || len(v) > maxClean || c != (redact.Context{}) {
		return s.policy.Leaf(c, v, hits)
	}
	hash := maphash.String(seed, v)
	slot := s.clean.slot(hash)
	if slot.Load() == hash && hash != 0 {
		return v
	}
	had := len(hits.List)
	out := s.policy.Leaf(c, v, hits)
	if out == v && len(hits.List) == had {
		slot.Store(hash)
	}
	return out
}

const (
	nameBits = 8
	maxName  = 128
)

// names remembers what names say that stand below no other, for one walk at a
// time.
type names [1 << nameBits]struct {
	name    string
	context redact.Context
}

// context is that of the member of a name which holds nothing to redact itself.
func (n *names) context(name string) (redact.Context, bool) {
	if e := &n[nameSlot(name)]; e.name == name {
		return e.context, true
	}
	return redact.Context{}, false
}

func (n *names) remember(name string, c redact.Context) {
	if len(name) > maxName {
		return
	}
	e := &n[nameSlot(name)]
	e.name, e.context = strings.Clone(name), c
}

func nameSlot(name string) uint64 { return maphash.String(seed, name) >> (64 - nameBits) }
