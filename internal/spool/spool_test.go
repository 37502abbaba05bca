package spool

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// itemsOf is how many spans and log records there are in records.
func itemsOf(recs []Record) (n int) {
	for i := range recs {
		n += int(recs[i].items())
	}
	return n
}

// resum makes the checksums of a changed file header right.
func resum(b []byte) []byte {
	binary.LittleEndian.PutUint32(b[60:], crc32.Checksum(b[:60], castagnoli))
	copy(b[headerSize:], b[:headerSize])
	return b
}

func TestRecordsAndMarksComeBackFromADirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "spool")
	s, err := Open(Config{Directory: dir, SyncInterval: time.Millisecond})
	require.NoError(t, err)
	first := []Record{
		{ID: ID{1}, Kind: 3, Flags: 0x8001, Spans: 4, Logs: 5, Arrived: 6, Extra: []byte("extra"), Payload: []byte("payload")},
		{ID: ID{2}},
	}
	require.NoError(t, s.Append(first))
	second := []Record{{ID: ID{3}, Payload: bytes.Repeat([]byte("x"), 100_000)}}
	require.NoError(t, s.Append(second))
	require.NoError(t, s.Mark(ID{1}, []byte("old")))
	require.NoError(t, s.Mark(ID{1}, []byte("new")))
	require.NoError(t, s.Mark(ID{2}, nil))
	require.NoError(t, s.Mark(ID{3}, []byte("gone")))
	require.NoError(t, s.Unmark(ID{3}, ID{4}))
	s.Free(1, first[1].Pos)
	require.NoError(t, s.Close())

	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		info, err := e.Info()
		require.NoError(t, err)
		if runtime.GOOS != "windows" {
			assert.Equal(t, os.FileMode(0o600), info.Mode().Perm(), e.Name())
		}
	}

	var events []string
	s, err = Open(Config{
		Directory: dir,
		OnMark:    func(id ID, mark []byte) { events = append(events, fmt.Sprintf("mark %d %s", id[0], mark)) },
		OnRecord: func(r *Record) bool {
			events = append(events, fmt.Sprintf("record %d %d %x %d %d %d %s %v %d", r.ID[0], r.Kind, r.Flags, r.Spans, r.Logs, r.Arrived, r.Extra, r.Payload == nil, r.LSN))
			if r.ID == first[0].ID {
				first[0].Pos = r.Pos
			}
			return r.ID[0] != 3
		},
	})
	require.NoError(t, err)
	slices.Sort(events[:2])
	assert.Equal(t, []string{"mark 1 new", "mark 2 ", "record 1 3 8001 4 5 6 extra true 9", "record 3 0 0 0 0 0  true 11"}, events)
	assert.EqualValues(t, 1, s.Stats().Records, "the other was not wanted")
	lost, err := s.Read([]Position{first[0].Pos}, func(_ int, r *Record) error {
		assert.Equal(t, "payload", string(r.Payload))
		return nil
	})
	require.NoError(t, err)
	assert.Zero(t, lost)
	more := []Record{{}}
	require.NoError(t, s.Append(more))
	assert.EqualValues(t, 12, more[0].LSN)
	require.NoError(t, s.Close())
}

func TestOneDirectoryHasOneSpool(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(Config{Directory: dir})
	require.NoError(t, err)
	_, err = Open(Config{Directory: dir})
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, dir)
	require.NoError(t, s.Close())
	s, err = Open(Config{Directory: dir})
	require.NoError(t, err)
	require.NoError(t, s.Close())
}

func TestConfigOutOfBoundsIsRefused(t *testing.T) {
	for name, cfg := range map[string]Config{
		"MaxBytes":     {MaxBytes: 1000},
		"32":           {MaxBytes: 33 << 30},
		"SegmentBytes": {SegmentBytes: 100},
		"CompactBytes": {CompactBytes: -1},
		"SyncInterval": {SyncInterval: -1},
	} {
		_, err := Open(cfg)
		require.Error(t, err, name)
	}
	_, err := Open(Config{Directory: string([]byte{0})})
	require.Error(t, err)
}

func TestFullSpoolRefusesAndTakesAgainAfterFree(t *testing.T) {
	s, err := Open(Config{MaxBytes: 64 << 10, SegmentBytes: 4 << 10})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	var positions []Position
	for {
		recs := []Record{{Payload: make([]byte, 900)}}
		if err := s.Append(recs); err != nil {
			require.ErrorIs(t, err, ErrFull)
			break
		}
		positions = append(positions, recs[0].Pos)
	}
	st := s.Stats()
	assert.LessOrEqual(t, st.Bytes, st.Limit)
	assert.Greater(t, st.Bytes, st.Limit-2000)
	assert.EqualValues(t, len(positions), st.Records)
	err = s.Append([]Record{{Payload: make([]byte, 62<<10)}})
	require.ErrorIs(t, err, ErrTooLarge)
	err = s.Append([]Record{{Extra: make([]byte, MaxExtra+1)}})
	require.ErrorIs(t, err, ErrTooLarge)
	require.ErrorIs(t, s.Mark(ID{}, make([]byte, MaxExtra+1)), ErrTooLarge)

	s.Free(len(positions), positions...)
	s.Free(len(positions), positions...) // once more does no harm
	recs := []Record{{Payload: bytes.Repeat([]byte("z"), 50<<10)}, {Payload: []byte("small")}}
	require.NoError(t, s.Append(recs), "larger than a segment")
	lost, err := s.Read([]Position{recs[1].Pos, recs[0].Pos}, func(i int, r *Record) error {
		assert.True(t, bytes.Equal(recs[1-i].Payload, r.Payload))
		return nil
	})
	require.NoError(t, err)
	assert.Zero(t, lost)
	s.Free(2, recs[0].Pos, recs[1].Pos)
	assert.Zero(t, s.Stats().LiveBytes)
	assert.Zero(t, s.Stats().Records)
}

func TestClosedSpoolSaysSo(t *testing.T) {
	s, err := Open(Config{})
	require.NoError(t, err)
	recs := []Record{{}}
	require.NoError(t, s.Append(recs))
	require.NoError(t, s.Append(nil))
	require.NoError(t, s.Close())
	require.ErrorIs(t, s.Close(), ErrClosed)
	require.ErrorIs(t, s.Append(recs), ErrClosed)
	_, err = s.Read([]Position{recs[0].Pos}, nil)
	require.ErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, s.Mark(ID{}, nil), ErrClosed)
	require.ErrorIs(t, s.Unmark(ID{}), ErrClosed)
	require.ErrorIs(t, s.Compact(), ErrClosed)
	require.ErrorIs(t, s.Sync(), ErrClosed)
	s.Free(1, recs[0].Pos)
}

func TestReadStopsAtTheErrorOfTheCaller(t *testing.T) {
	s, err := Open(Config{})
	require.NoError(t, err)
	defer func() { require.NoError(t, s.Close()) }()
	recs := make([]Record, 3)
	require.NoError(t, s.Append(recs))
	stop := errors.New("stop")
	calls := 0
	_, err = s.Read([]Position{recs[0].Pos, recs[1].Pos}, func(int, *Record) error { calls++; return stop })
	require.ErrorIs(t, err, stop)
	require.Equal(t, 1, calls)
}

// A run that lives long among many short ones keeps no more than its share.
func TestLongLivedRunPinsNoOldSegments(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		var mu sync.Mutex
		long := map[Position]uint64{}
		s, err := Open(Config{
			Directory: dir, MaxBytes: 1 << 20, SegmentBytes: 16 << 10, CompactBytes: 128 << 10,
			OnMove: func(_ ID, old, now Position) bool {
				mu.Lock()
				defer mu.Unlock()
				lsn, ok := long[old]
				if !ok {
					return false
				}
				delete(long, old)
				long[now] = lsn
				return true
			},
		})
		require.NoError(t, err)
		payload := bytes.Repeat([]byte("p"), 500)
		written := 0
		for i := range 4000 {
			recs := []Record{{ID: ID{1}, Payload: payload}, {ID: ID{1}, Payload: payload}, {ID: ID{2}, Payload: payload}}
			if i%20 != 0 {
				recs = recs[:2]
			}
			require.Eventually(t, func() bool {
				mu.Lock()
				defer mu.Unlock()
				err := s.Append(recs)
				if err == nil && len(recs) == 3 {
					long[recs[2].Pos] = recs[2].LSN
				}
				return err == nil
			}, 10*time.Second, time.Millisecond)
			s.Free(2, recs[0].Pos, recs[1].Pos)
			written += len(recs)
		}
		require.NoError(t, s.Compact())
		st := s.Stats()
		assert.EqualValues(t, 200, st.Records)
		assert.Less(t, st.Bytes, int64(400<<10), "of %d bytes written", written*576)
		assert.Positive(t, st.Moved)
		for p, lsn := range long {
			lost, err := s.Read([]Position{p}, func(_ int, r *Record) error {
				assert.Equal(t, lsn, r.LSN)
				assert.Equal(t, ID{2}, r.ID)
				return nil
			})
			require.NoError(t, err)
			require.Zero(t, lost)
		}
		require.NoError(t, s.Close())
	}
}

func TestManyRecordsThroughASmallSpoolLeaveNothingBehind(t *testing.T) {
	records := map[string]int{"": 100_000, t.TempDir(): 1_000_000}
	for dir, n := range records {
		if testing.Short() {
			n = 100_000
		}
		s, err := Open(Config{Directory: dir, MaxBytes: 4 << 20, SegmentBytes: 512 << 10, SyncInterval: time.Second})
		require.NoError(t, err)
		recs := make([]Record, 100)
		payload := make([]byte, 100)
		var positions []Position
		run := func(n int) {
			for i := range n / len(recs) {
				for j := range recs {
					recs[j] = Record{ID: ID{byte(i), byte(i >> 8), byte(j)}, Payload: payload}
				}
				require.NoError(t, s.Append(recs))
				require.NoError(t, s.Mark(recs[0].ID, payload))
				positions = positions[:0]
				for j := range recs {
					positions = append(positions, recs[j].Pos)
				}
				s.Free(len(positions), positions...)
				require.NoError(t, s.Unmark(recs[0].ID))
			}
		}
		run(n / 10)
		before := heap()
		run(n)
		assert.Less(t, heap(), before+256<<10)
		st := s.Stats()
		assert.Zero(t, st.Records)
		assert.Zero(t, st.Marks)
		assert.LessOrEqual(t, st.Segments, 1)
		assert.Less(t, st.Bytes, int64(3<<20))
		require.NoError(t, s.Close())
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
