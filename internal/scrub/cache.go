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
	nameBits = 7
	nameWays = 4
	maxName  = 128
)

// names remembers what names say that stand below no other, for one walk at a
// time. A row has room for a few names, so that two that meet in one do not push
// each other out again and again.
type names [1 << nameBits]struct {
	ways [nameWays]name
	next uint8
}

type name struct {
	text    string
	context redact.Context
}

// context is that of the member of a name which holds nothing to redact itself.
func (n *names) context(text string) (redact.Context, bool) {
	row := &n[nameRow(text)]
	for i := range row.ways {
		if row.ways[i].text == text {
			return row.ways[i].context, true
		}
	}
	return redact.Context{}, false
}

func (n *names) remember(text string, c redact.Context) {
	if text == "" || len(text) > maxName {
		return
	}
	row := &n[nameRow(text)]
	row.ways[row.next%nameWays] = name{strings.Clone(text), c}
	row.next++
}

func nameRow(text string) uint64 { return maphash.String(seed, text) >> (64 - nameBits) }
