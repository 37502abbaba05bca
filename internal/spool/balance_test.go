package spool

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// threeSegments is a disk with three sealed segments of ten records each, and one
// that was begun. Each record has Spans 3 and Logs 1.
func threeSegments(t *testing.T) (*crashDisk, *Spool, []Record) {
	t.Helper()
	d := newCrashDisk()
	o := openDisk(t, d, Config{MaxBytes: 64 << 10, SegmentBytes: 4 << 10})
	var all []Record
	for range 31 {
		recs := []Record{{ID: ID{byte(len(all))}, Spans: 3, Logs: 1, Payload: make([]byte, 320)}}
		require.NoError(t, o.s.Append(recs))
		all = append(all, recs...)
	}
	require.Len(t, segmentNames(d), 4)
	return d, o.s, all
}

func segmentNames(d *crashDisk) (names []string) {
	all, _ := d.list()
	for n := range 100 {
		for _, name := range all {
			if name == fileName(kindRecords, uint64(n)) {
				names = append(names, name)
			}
		}
	}
	return names
}

// What is gone without a trace is counted by the numbers of what is there.
func TestWhatIsMissingIsCountedExactly(t *testing.T) {
	cfg := Config{MaxBytes: 64 << 10, SegmentBytes: 4 << 10}
	free := func(s *Spool, recs ...Record) {
		for _, r := range recs {
			s.Free(4, r.Pos)
		}
	}
	for name, c := range map[string]struct {
		before  func(*Spool, []Record)
		hurt    func(d *crashDisk, segments []string)
		missing int64
	}{
		"nothing": {hurt: func(*crashDisk, []string) {}},
		"the end of a sealed segment": {
			hurt:    func(d *crashDisk, s []string) { f := d.files[s[1]]; f.data = f.data[:dataStart+3*384] },
			missing: 7 * 4,
		},
		"a segment between two others": {hurt: func(d *crashDisk, s []string) { delete(d.files, s[1]) }, missing: 10 * 4},
		"the first":                    {hurt: func(d *crashDisk, s []string) { delete(d.files, s[0]) }, missing: 10 * 4},
		"the last":                     {hurt: func(d *crashDisk, s []string) { delete(d.files, s[3]) }, missing: 4},
		"all of them": {hurt: func(d *crashDisk, s []string) {
			for _, name := range s {
				delete(d.files, name)
			}
		}, missing: 31 * 4},
		"a segment whose header is gone": {hurt: func(d *crashDisk, s []string) { clear(d.files[s[2]].data[:dataStart]) }, missing: 40},
		"what was freed is not missing": {
			before:  func(s *Spool, recs []Record) { free(s, recs[11:18]...) },
			hurt:    func(d *crashDisk, s []string) { delete(d.files, s[1]) },
			missing: 3 * 4,
		},
		"a segment that went because all was freed": {
			before:  func(s *Spool, recs []Record) { free(s, recs[10:20]...) },
			hurt:    func(d *crashDisk, s []string) { delete(d.files, s[0]) },
			missing: 10 * 4,
		},
		"freed before the marks file was replaced": {
			before: func(s *Spool, recs []Record) {
				free(s, recs[10:15]...)
				s.marks.mu.Lock()
				_ = s.replaceMarks()
				s.marks.mu.Unlock()
				free(s, recs[15:17]...)
			},
			hurt:    func(d *crashDisk, s []string) { delete(d.files, s[1]) },
			missing: 3 * 4,
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, s, recs := threeSegments(t)
			segments := segmentNames(d)
			if c.before != nil {
				c.before(s, recs)
				s.tidy()
			}
			require.NoError(t, s.Close())
			left := segments[:0:0]
			for _, n := range segments {
				if d.files[n] != nil {
					left = append(left, n)
				}
			}
			if len(left) < len(segments) {
				segments = left
			}
			c.hurt(d, segments)
			o := openDisk(t, d, cfg)
			assert.Equal(t, c.missing, o.s.Stats().Damage.Missing)
			assert.Equal(t, c.missing, o.s.Stats().Damage.Lost())
			require.NoError(t, o.s.Close())
			assert.Zero(t, openDisk(t, d, cfg).s.Stats().Damage.Missing, "it is told once")
		})
	}
}

// A count that cannot be right is none.
func TestNothingIsMissingWhereNobodyCanKnow(t *testing.T) {
	cfg := Config{MaxBytes: 64 << 10, SegmentBytes: 4 << 10}
	for name, spoil := range map[string]func(*crashDisk, *Spool, []Record){
		"freed twice":        func(_ *crashDisk, s *Spool, r []Record) { s.Free(4, r[0].Pos); s.Free(4, r[0].Pos) },
		"more than is held":  func(_ *crashDisk, s *Spool, r []Record) { s.Free(1000, r[0].Pos) },
		"less than nothing":  func(_ *crashDisk, s *Spool, r []Record) { s.Free(-1, r[0].Pos) },
		"freed without room": func(d *crashDisk, s *Spool, r []Record) { d.limited = true; s.Free(4, r[0].Pos); d.limited = false },
		"a damaged mark": func(d *crashDisk, s *Spool, _ []Record) {
			_ = s.Mark(ID{1}, []byte("mark"))
			for name, f := range d.files {
				if strings.HasSuffix(name, marksSuffix) {
					f.data[len(f.data)-20]++
				}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			d, s, recs := threeSegments(t)
			spoil(d, s, recs)
			require.NoError(t, s.Close())
			delete(d.files, segmentNames(d)[1])
			assert.Zero(t, openDisk(t, d, cfg).s.Stats().Damage.Missing)
		})
	}
}

// An append that fails and cannot be undone leaves records that are none.
func TestAnAppendThatCouldNotBeUndoneIsNotMissing(t *testing.T) {
	d, s, _ := threeSegments(t)
	d.limited, d.room, d.noTruncate = true, 500, true
	require.ErrorIs(t, s.Append([]Record{{Spans: 9, Payload: make([]byte, 300)}, {Spans: 9, Payload: make([]byte, 300)}}), ErrFull)
	d.limited = false
	require.NoError(t, s.Append([]Record{{Spans: 2}}))
	require.NoError(t, s.Close())
	o := openDisk(t, d, Config{MaxBytes: 64 << 10, SegmentBytes: 4 << 10})
	assert.Len(t, o.recs, 32)
	assert.Zero(t, o.s.Stats().Damage.Lost())
}

// Whatever was written, freed and moved, and whichever files are hurt then: exactly
// what is not found any more is counted.
func TestWhatIsMissingAfterRandomOperations(t *testing.T) {
	lost := 0
	for seed := range 4 * *seeds {
		m := newModel(t, seed)
		require.NoError(t, m.open())
		for range 150 {
			m.do()
		}
		require.NoError(t, m.s.Close())
		names := segmentNames(m.disk)
		if len(names) == 0 {
			continue
		}
		name := names[m.rnd.IntN(len(names))]
		f := m.disk.files[name]
		what := fmt.Sprintf("seed %d: %s", seed, name)
		switch m.rnd.IntN(4) {
		case 0:
			delete(m.disk.files, name)
		case 1:
			clear(f.data[:dataStart])
		case 2:
			f.data = f.data[:m.rnd.IntN(len(f.data))]
		default:
			at := m.rnd.IntN(len(f.data))
			clear(f.data[at:min(len(f.data), at+m.rnd.IntN(2000))])
		}
		found := map[uint64]bool{}
		cfg := m.cfg
		cfg.OnRecord = func(r *Record) bool { found[r.LSN] = true; return true }
		s, err := openOn(m.disk, cfg)
		require.NoError(t, err)
		var want int64
		for lsn, h := range m.held {
			if !h.freed && !found[lsn] {
				want += int64(h.rec.Spans) + int64(h.rec.Logs)
			}
		}
		damage := s.Stats().Damage
		require.Equal(t, want, damage.Lost(), "%s: %+v", what, damage)
		if want > 0 {
			lost++
		}
	}
	require.Positive(t, lost)
}
