package spool

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// model is what a spool must hold: the simplest thing that does the same. It
// drives one spool and, through kills, the next on the same disk.
type model struct {
	t    *testing.T
	rnd  *rand.Rand
	disk *crashDisk
	cfg  Config
	s    *Spool

	held  map[uint64]*held // by LSN
	at    map[Position]*held
	marks map[ID][]byte
	// what an interrupted call was about: either way is right after it.
	maybeFreed map[uint64]bool
	maybeMark  map[ID][]byte // nil for unmarked
	appending  []Record
	last       uint64

	// forgetful says that the disk loses power: what was not synced may or may
	// not be there. markHistory are the marks since the last sync.
	forgetful   bool
	markHistory map[ID][][]byte
}

type held struct {
	rec   Record
	freed bool
	// A sync came after the record, and after its end.
	synced, freedSynced bool
}

func newModel(t *testing.T, seed uint64) *model {
	m := &model{
		t: t, rnd: rand.New(rand.NewPCG(seed, 1)), disk: newCrashDisk(),
		held: map[uint64]*held{}, marks: map[ID][]byte{},
		maybeFreed: map[uint64]bool{}, maybeMark: map[ID][]byte{}, markHistory: map[ID][][]byte{},
	}
	m.cfg = Config{MaxBytes: 64 << 10, SegmentBytes: 4 << 10, CompactBytes: 16 << 10}
	return m
}

func (m *model) id() ID { return ID{byte(m.rnd.IntN(8)), 1} }

func (m *model) bytes(most int) []byte {
	b := make([]byte, m.rnd.IntN(most))
	for i := range b {
		b[i] = byte(m.rnd.Uint32())
	}
	return b
}

// open opens the spool and compares what it tells with what must be there. It
// answers an error only if the disk was stopped meanwhile.
func (m *model) open() error {
	m.at = map[Position]*held{}
	cfg := m.cfg
	marks := map[ID][]byte{}
	cfg.OnMark = func(id ID, mark []byte) { marks[id] = slices.Clone(mark) }
	found := map[uint64]bool{}
	before := uint64(0)
	cfg.OnRecord = func(r *Record) bool {
		require.Less(m.t, before, r.LSN, "records come in the order of their LSN, each once")
		before = r.LSN
		h := m.held[r.LSN]
		if h == nil {
			h = m.adopt(r)
		}
		require.NotNil(m.t, h, "record %d was never given to the spool", r.LSN)
		if m.forgetful {
			require.False(m.t, h.freedSynced, "record %d was freed", r.LSN)
		} else {
			require.False(m.t, h.freed && !m.maybeFreed[r.LSN], "record %d was freed", r.LSN)
		}
		require.Equal(m.t, h.rec.ID, r.ID)
		require.Equal(m.t, [6]int64{int64(h.rec.Kind), int64(h.rec.Flags), int64(h.rec.Spans), int64(h.rec.Logs), h.rec.Arrived, int64(len(h.rec.Extra))},
			[6]int64{int64(r.Kind), int64(r.Flags), int64(r.Spans), int64(r.Logs), r.Arrived, int64(len(r.Extra))})
		require.True(m.t, bytes.Equal(h.rec.Extra, r.Extra))
		require.NotContains(m.t, m.at, r.Pos)
		h.rec.Pos, h.freed = r.Pos, false
		m.at[r.Pos] = h
		found[r.LSN] = true
		return true
	}
	cfg.OnMove = m.onMove
	s, err := openOn(m.disk, cfg)
	if err != nil {
		require.ErrorIs(m.t, err, errKilled)
		return err
	}
	m.s = s
	if !m.forgetful {
		require.Zero(m.t, s.Stats().Damage.Missing, "nothing is missing after a kill")
	}
	for lsn, h := range m.held {
		if !found[lsn] {
			require.True(m.t, h.freed || m.maybeFreed[lsn] || m.forgetful && !h.synced, "record %d is missing", lsn)
			delete(m.held, lsn)
		}
	}
	if m.forgetful {
		m.last = before
		m.rememberMarks(marks)
	}
	for id, mark := range m.maybeMark {
		got, ok := marks[id]
		if ok == (mark != nil) && bytes.Equal(got, mark) {
			if ok {
				m.marks[id] = mark
			} else {
				delete(m.marks, id)
			}
		}
	}
	require.Equal(m.t, len(m.marks), len(marks))
	for id, mark := range m.marks {
		require.True(m.t, bytes.Equal(mark, marks[id]), "mark of %x", id)
	}
	clear(m.maybeFreed)
	clear(m.maybeMark)
	m.appending = nil
	return nil
}

// rememberMarks takes over the marks after a loss of power: each must be one of
// those since the last sync.
func (m *model) rememberMarks(marks map[ID][]byte) {
	for i := range byte(8) {
		id := ID{i, 1}
		mark, ok := marks[id]
		require.True(m.t, slices.ContainsFunc(m.markHistory[id], func(b []byte) bool {
			return ok == (b != nil) && bytes.Equal(b, mark)
		}) || !ok && m.markHistory[id] == nil, "mark of %x", id)
	}
	m.marks = marks
}

func (m *model) remember(id ID, mark []byte) {
	if mark != nil {
		mark = append([]byte{}, mark...)
	}
	m.markHistory[id] = append(m.markHistory[id], mark)
}

// sync makes all survive a loss of power.
func (m *model) sync() error {
	if err := m.s.Sync(); err != nil {
		return err
	}
	for _, h := range m.held {
		h.synced, h.freedSynced = true, h.freed
	}
	for i := range byte(8) {
		id := ID{i, 1}
		m.markHistory[id] = nil
		if mark, ok := m.marks[id]; ok {
			m.remember(id, mark)
		} else {
			m.remember(id, nil)
		}
	}
	return nil
}

// adopt takes in a record of the batch whose Append did not return.
func (m *model) adopt(r *Record) *held {
	for i := range m.appending {
		if a := &m.appending[i]; a.Arrived == r.Arrived {
			h := &held{rec: *a}
			m.held[r.LSN] = h
			return h
		}
	}
	return nil
}

func (m *model) onMove(id ID, old, now Position) bool {
	if m.rnd.IntN(6) == 0 {
		m.free(m.some(5)) // perhaps some of those that are being moved
	}
	h := m.at[old]
	if h == nil || m.rnd.IntN(4) == 0 {
		return false
	}
	require.Equal(m.t, h.rec.ID, id)
	require.NotContains(m.t, m.at, now)
	delete(m.at, old)
	m.at[now] = h
	h.rec.Pos = now
	if m.rnd.IntN(5) == 0 {
		m.free([]*held{h})
	}
	return true
}

func (m *model) free(hs []*held) {
	var positions []Position
	items := 0
	for _, h := range hs {
		positions = append(positions, h.rec.Pos)
		items += int(h.rec.items())
		h.freed = true
		m.maybeFreed[h.rec.LSN] = true
		delete(m.at, h.rec.Pos)
	}
	m.s.Free(items, positions...)
	if m.dead() {
		return
	}
	for _, h := range hs {
		delete(m.maybeFreed, h.rec.LSN)
	}
}

func (m *model) dead() bool {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	return m.disk.dead
}

// check compares the counts and the file sizes.
func (m *model) check() {
	st := m.s.Stats()
	live := 0
	for _, h := range m.held {
		if !h.freed {
			live++
		}
	}
	require.EqualValues(m.t, live, st.Records)
	require.EqualValues(m.t, len(m.marks), st.Marks)
	var size, liveBytes int64
	for _, f := range m.disk.files {
		size += int64(len(f.data))
	}
	require.Equal(m.t, size, st.Bytes)
	for g := range m.s.table.all {
		was := g.liveBytes
		liveBytes += was
		g.recount()
		require.Equal(m.t, was, g.liveBytes)
	}
	require.Equal(m.t, liveBytes, st.LiveBytes)
	var items uint64
	for _, h := range m.held {
		if !h.freed {
			items += h.rec.items()
		}
	}
	require.False(m.t, m.s.miscounted)
	require.Equal(m.t, items, m.s.items)
}
