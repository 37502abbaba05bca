package once

import (
	"hash/maphash"
	"math/rand/v2"
	"unsafe"

	"github.com/tapedeck/tapedeck/internal/redact"
)

// Table knows the texts of one run. Its zero value is empty, ready and one
// pointer in size. It must not be used by two calls at a time.
type Table struct{ k *known }

// Size is about how many bytes of memory the table holds.
func (t *Table) Size() int {
	if t.k == nil {
		return 0
	}
	return t.k.size()
}

// Forget empties the table.
func (t *Table) Forget() { t.k = nil }

// open gives what is known, starting over where that is more than limit bytes.
func (t *Table) open(limit int) *known {
	if t.k == nil || t.k.size() > limit {
		t.k = &known{number: rand.Uint64()}
	}
	return t.k
}

// known is the content of a table. Texts are numbered from 0 as they come.
type known struct {
	// number tells the texts of this table from those of all others.
	number uint64
	texts  []text
	// slots is a hash table with open addressing: numbers of texts plus 1.
	slots []uint32
	// hits holds what was replaced in texts, for the few that have any.
	hits      map[uint32][]redact.Hit
	hitsBytes int
	// heads has, for each array of each attribute, the text it began with last.
	heads map[uint64]uint32
}

// text is what is known of one text as it came in.
type text struct {
	hash uint64
	size uint32
	// next is the text that followed last, plus 1.
	next uint32
	hits bool
}

// The seeds keep apart what is redacted in different ways: a piece of JSON, and
// a whole value.
var pieceSeed, wholeSeed = maphash.MakeSeed(), maphash.MakeSeed()

const (
	minSlots = 16
	// perHead is about what an entry of a Go map of this kind takes.
	perHead = 32
	perHits = 64
)

func (k *known) size() int {
	return int(unsafe.Sizeof(*k)) + cap(k.texts)*int(unsafe.Sizeof(text{})) + cap(k.slots)*4 +
		len(k.heads)*perHead + len(k.hits)*perHits + k.hitsBytes
}

// find gives the number of a text.
func (k *known) find(hash uint64, size int) (uint32, bool) {
	if len(k.slots) == 0 {
		return 0, false
	}
	mask := uint64(len(k.slots) - 1)
	for i := hash & mask; k.slots[i] != 0; i = (i + 1) & mask {
		n := k.slots[i] - 1
		if t := &k.texts[n]; t.hash == hash && int(t.size) == size {
			return n, true
		}
	}
	return 0, false
}

// add takes note of a new text and gives its number.
func (k *known) add(hash uint64, size int, hits []redact.Hit) uint32 {
	if 4*(len(k.texts)+1) > 3*len(k.slots) {
		k.grow()
	}
	n := uint32(len(k.texts))
	k.texts = append(k.texts, text{hash: hash, size: uint32(size), hits: len(hits) > 0})
	k.put(n)
	if len(hits) > 0 {
		if k.hits == nil {
			k.hits = map[uint32][]redact.Hit{}
		}
		k.hits[n] = append([]redact.Hit(nil), hits...)
		for _, h := range hits {
			k.hitsBytes += int(unsafe.Sizeof(h)) + len(h.Path)
		}
	}
	return n
}

func (k *known) put(n uint32) {
	mask := uint64(len(k.slots) - 1)
	i := k.texts[n].hash & mask
	for k.slots[i] != 0 {
		i = (i + 1) & mask
	}
	k.slots[i] = n + 1
}

func (k *known) grow() {
	k.slots = make([]uint32, max(minSlots, 2*len(k.slots)))
	for n := range k.texts {
		k.put(uint32(n))
	}
}

// head is the text, plus 1, with which the nth array of an attribute began.
func (k *known) head(attribute uint64, n int) uint32 { return k.heads[headKey(attribute, n)] }

func (k *known) setHead(attribute uint64, n int, first uint32) {
	if k.heads == nil {
		k.heads = map[uint64]uint32{}
	}
	k.heads[headKey(attribute, n)] = first
}

func headKey(attribute uint64, n int) uint64 { return attribute + uint64(n)*0x9e3779b97f4a7c15 }
