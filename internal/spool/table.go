package spool

import "fmt"

// addressSpace is how many bytes positions can tell apart.
const addressSpace = int64(recordAlign) << 32

// table gives segments their place among the positions: each takes as many
// slots of one segment's size as it needs, next to each other.
type table struct {
	slotBytes int64
	slots     []*segment
	used      int
	cursor    int
}

func (t *table) limit() int { return int(addressSpace / t.slotBytes) }

// at finds the segment that a position lies in, nil when there is none.
func (t *table) at(p Position) *segment {
	i := int64(p) * recordAlign / t.slotBytes
	if i >= int64(len(t.slots)) {
		return nil
	}
	return t.slots[i]
}

// put places a segment of some size. Slots are taken in turn, so that a
// position is not soon given out again.
func (t *table) put(g *segment, size int64) error {
	n := int((size + t.slotBytes - 1) / t.slotBytes)
	at, ok := t.find(n, t.cursor, len(t.slots))
	if !ok {
		at, ok = t.find(n, 0, len(t.slots))
	}
	if !ok {
		if len(t.slots)+n > t.limit() {
			return fmt.Errorf("%w: no %d of %d positions left in a row", ErrFull, n, t.limit())
		}
		at = len(t.slots)
		t.slots = append(t.slots, make([]*segment, n)...)
	}
	for i := at; i < at+n; i++ {
		t.slots[i] = g
	}
	g.base, g.slots = Position(int64(at)*t.slotBytes/recordAlign), n
	t.used += n
	t.cursor = at + n
	return nil
}

func (t *table) find(n, from, to int) (int, bool) {
	run := 0
	for i := from; i < to; i++ {
		if t.slots[i] != nil {
			run = 0
			continue
		}
		if run++; run == n {
			return i - n + 1, true
		}
	}
	return 0, false
}

func (t *table) remove(g *segment) {
	at := int(int64(g.base) * recordAlign / t.slotBytes)
	clear(t.slots[at : at+g.slots])
	t.used -= g.slots
}

// all are the segments, each once.
func (t *table) all(yield func(*segment) bool) {
	for i := 0; i < len(t.slots); {
		g := t.slots[i]
		if g == nil {
			i++
			continue
		}
		if !yield(g) {
			return
		}
		i += g.slots
	}
}
