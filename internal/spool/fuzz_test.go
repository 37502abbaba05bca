package spool

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzOpen opens a spool over arbitrary files. With seal, the checksums that
// guard the headers of the files are made right, so that more is reached.
func FuzzOpen(f *testing.F) {
	disk := newCrashDisk()
	cfg := Config{}
	if err := cfg.check(); err != nil {
		f.Fatal(err)
	}
	s, err := openOn(disk, cfg)
	if err != nil {
		f.Fatal(err)
	}
	recs := sampleRecords()
	if err := s.Append(recs); err != nil {
		f.Fatal(err)
	}
	s.Free(itemsOf(recs[2:4]), recs[2].Pos, recs[3].Pos)
	if err := s.Mark(ID{1}, []byte("mark")); err != nil {
		f.Fatal(err)
	}
	f.Add(disk.files[sampleSegment].data, disk.files["000000000001.marks"].data, false)
	f.Add([]byte{}, []byte{}, true)
	f.Fuzz(func(t *testing.T, segment, marks []byte, seal bool) {
		if seal {
			for _, b := range [][]byte{segment, marks} {
				if len(b) >= dataStart {
					copy(b, fileMagic)
					b[8], b[9], b[10], b[11] = fileVersion, 0, 0, 0
					resum(b)
				}
			}
		}
		d := newCrashDisk()
		for name, b := range map[string][]byte{sampleSegment: segment, "000000000001.marks": marks, "000000000003.segment": segment} {
			d.files[name] = &crashFile{d: d, name: name, data: append([]byte(nil), b...)}
		}
		cfg := Config{}
		require.NoError(t, cfg.check())
		var positions []Position
		cfg.OnRecord = func(r *Record) bool { positions = append(positions, r.Pos); return true }
		s, err := openOn(d, cfg)
		if err != nil {
			require.ErrorIs(t, err, ErrVersion)
			return
		}
		lost, err := s.Read(positions, func(int, *Record) error { return nil })
		require.NoError(t, err)
		require.Zero(t, lost)
		more := []Record{{Payload: []byte("more")}}
		require.NoError(t, s.Append(more))
		require.NoError(t, s.Mark(ID{9}, nil))
		s.Free(1+len(positions), append(positions, more[0].Pos)...)
		require.Zero(t, s.Stats().Records)
		require.NoError(t, s.Close())
	})
}

func FuzzCells(f *testing.F) {
	f.Add(appendCells(nil, 7, []uint32{2, 9, 1 << 20}, 1, 0)[entryHeader:])
	f.Fuzz(func(t *testing.T, body []byte) {
		before := int64(-1)
		eachCell(body, func(_ uint64, c uint32) {
			require.LessOrEqual(t, uint64(c), maxCell)
			require.GreaterOrEqual(t, int64(c), before)
			before = int64(c)
		})
	})
}
