package spool

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFullDiskIsRetryableAndLeavesNoTornRecord(t *testing.T) {
	for _, noTruncate := range []bool{false, true} {
		disk := newCrashDisk()
		o := openDisk(t, disk, Config{})
		first := []Record{{Payload: []byte("first")}}
		require.NoError(t, o.s.Append(first))
		before := o.s.Stats()
		disk.limited, disk.room, disk.noTruncate = true, 700, noTruncate
		batch := make([]Record, 5)
		for i := range batch {
			batch[i] = Record{Payload: make([]byte, 200)}
		}
		err := o.s.Append(batch)
		require.ErrorIs(t, err, ErrFull)
		require.ErrorIs(t, err, syscall.ENOSPC)
		assert.Equal(t, before.Records, o.s.Stats().Records)
		assert.Equal(t, before.LiveBytes, o.s.Stats().LiveBytes)
		if !noTruncate {
			assert.Equal(t, before, o.s.Stats())
		}
		disk.limited = false
		require.NoError(t, o.s.Append(batch), "the same batch once there is room")
		again := openDisk(t, disk, Config{})
		assert.Len(t, again.recs, 6)
		assert.Zero(t, again.readAll(t))
	}
}

func TestNoRoomForANewSegmentIsRetryable(t *testing.T) {
	disk := newCrashDisk()
	o := openDisk(t, disk, Config{})
	disk.limited = true
	require.ErrorIs(t, o.s.Append([]Record{{}}), ErrFull)
	require.ErrorIs(t, o.s.Mark(ID{}, nil), ErrFull)
	disk.limited = false
	require.NoError(t, o.s.Append([]Record{{}}))
	require.NoError(t, o.s.Mark(ID{1}, nil))
	assert.Len(t, disk.files, 2)
	again := openDisk(t, disk, Config{})
	assert.Len(t, again.recs, 1)
	assert.Len(t, again.marks, 1)
}

func TestFreeOnAFullDiskSurvivesARestart(t *testing.T) {
	disk := newCrashDisk()
	o := openDisk(t, disk, Config{})
	recs := make([]Record, 4)
	require.NoError(t, o.s.Append(recs))
	disk.limited = true
	o.s.Free(2, recs[1].Pos, recs[2].Pos)
	again := openDisk(t, disk, Config{})
	assert.Len(t, again.recs, 2)
	assert.Zero(t, again.s.Stats().Damage)
}

func TestFailingSyncIsCountedAndTriedAgain(t *testing.T) {
	disk := newCrashDisk()
	cfg := Config{SyncInterval: time.Millisecond}
	o := openDisk(t, disk, cfg)
	require.NoError(t, o.s.Append([]Record{{}}))
	require.NoError(t, o.s.Mark(ID{}, nil))
	disk.failingSync = true
	require.Error(t, o.s.Sync())
	assert.EqualValues(t, 1, o.s.Stats().SyncErrors)
	disk.failingSync = false
	require.NoError(t, o.s.Sync())
	disk.losePower(rand.New(rand.NewPCG(1, 1)))
	again := openDisk(t, disk, cfg)
	assert.Len(t, again.recs, 1)
	assert.Len(t, again.marks, 1)
}

func TestMarksFileStaysBounded(t *testing.T) {
	disk := newCrashDisk()
	o := openDisk(t, disk, Config{MaxBytes: 1 << 20})
	mark := make([]byte, 1000)
	for i := range 5000 {
		require.NoError(t, o.s.Mark(ID{byte(i % 7)}, mark))
	}
	assert.Less(t, o.s.Stats().Bytes, int64(200<<10))
	assert.EqualValues(t, 7, o.s.Stats().Marks)
	// Unmarking very many at once takes more than one entry.
	require.NoError(t, o.s.Unmark(append(make([]ID, 5000), ID{1}, ID{2})...))
	assert.EqualValues(t, 4, o.s.Stats().Marks)
	assert.Len(t, openDisk(t, disk, Config{}).marks, 4)
}

func TestIncompleteMarksFileIsPassedOver(t *testing.T) {
	disk := newCrashDisk()
	o := openDisk(t, disk, Config{})
	require.NoError(t, o.s.Mark(ID{1}, []byte("kept")))
	f, _, err := newFile(disk, kindMarks, 9)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	o = openDisk(t, disk, Config{})
	assert.Equal(t, map[ID]string{{1}: "kept"}, o.marks)
	assert.Len(t, disk.files, 1)
	assert.Contains(t, disk.files, "000000000010.marks")
}

// keeper is an index as a caller has one.
type keeper struct {
	mu sync.Mutex
	at map[Position]*kept
}

type kept struct {
	pos  Position
	busy bool
}

func (k *keeper) onMove(_ ID, old, now Position) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	h := k.at[old]
	if h == nil || h.busy {
		return false
	}
	delete(k.at, old)
	k.at[now] = h
	h.pos = now
	return true
}

// with calls f for the positions of records, which do not move meanwhile.
func (k *keeper) with(hs []*kept, f func([]Position)) {
	positions := make([]Position, len(hs))
	k.mu.Lock()
	for i, h := range hs {
		h.busy = true
		positions[i] = h.pos
	}
	k.mu.Unlock()
	f(positions)
	k.mu.Lock()
	for _, h := range hs {
		h.busy = false
	}
	k.mu.Unlock()
}

// Readers, writers, compaction and syncs at the same time.
func TestConcurrentUse(t *testing.T) {
	k := keeper{at: map[Position]*kept{}}
	s, err := Open(Config{
		Directory: t.TempDir(), MaxBytes: 2 << 20, SegmentBytes: 32 << 10, CompactBytes: 64 << 10,
		SyncInterval: time.Millisecond, OnMove: k.onMove,
	})
	require.NoError(t, err)
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(uint64(w), 2))
			for round := range 60 {
				id := ID{byte(w), byte(round)}
				recs := make([]Record, 1+rnd.IntN(20))
				for i := range recs {
					recs[i] = Record{ID: id, Arrived: int64(i), Payload: make([]byte, rnd.IntN(900))}
				}
				hs := make([]*kept, len(recs))
				k.mu.Lock()
				err := s.Append(recs)
				for i := range recs {
					hs[i] = &kept{pos: recs[i].Pos}
					k.at[recs[i].Pos] = hs[i]
				}
				k.mu.Unlock()
				assert.NoError(t, err)
				assert.NoError(t, s.Mark(id, []byte("m")))
				time.Sleep(time.Duration(rnd.IntN(3)) * time.Millisecond)
				k.with(hs, func(positions []Position) {
					lost, err := s.Read(positions, func(i int, r *Record) error {
						assert.Equal(t, id, r.ID)
						assert.EqualValues(t, i, r.Arrived)
						return nil
					})
					assert.NoError(t, err)
					assert.Zero(t, lost)
				})
				k.mu.Lock()
				for i, h := range hs {
					if i%7 > 0 {
						delete(k.at, h.pos)
						s.Free(1, h.pos)
					}
				}
				k.mu.Unlock()
				assert.NoError(t, s.Unmark(id))
				_ = s.Stats()
			}
		})
	}
	wg.Wait()
	assert.Positive(t, s.Stats().Moved)
	k.mu.Lock()
	want := int64(len(k.at))
	k.mu.Unlock()
	// Compaction that is under way counts records twice.
	assert.Eventually(t, func() bool { return s.Stats().Records == want }, 5*time.Second, time.Millisecond)
	require.NoError(t, s.Close())
}

// childDir tells the process that the last test starts where to write.
const childDir = "SPOOL_CHILD_DIR"

func TestChildAppendsUntilItIsKilled(*testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		return
	}
	s, err := Open(Config{Directory: dir, MaxBytes: 256 << 20, SegmentBytes: 64 << 10})
	if err != nil {
		fmt.Println("error", err)
		return
	}
	for {
		recs := make([]Record, 10)
		for i := range recs {
			recs[i].Payload = make([]byte, 300)
		}
		if err := s.Append(recs); err != nil {
			fmt.Println("error", err)
			return
		}
		var freed []Position
		for i := range recs {
			if i != 4 {
				freed = append(freed, recs[i].Pos)
			}
		}
		s.Free(len(freed), freed...)
		fmt.Println(recs[4].LSN)
	}
}

func TestKilledProcessLosesNothing(t *testing.T) {
	dir := t.TempDir()
	kept := map[string]bool{}
	for range 3 {
		cmd := exec.Command(os.Args[0], "-test.run=^TestChildAppendsUntilItIsKilled$")
		cmd.Env = append(os.Environ(), childDir+"="+dir)
		out, err := cmd.StdoutPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		lines := bufio.NewScanner(out)
		for n := 0; n < 300 && lines.Scan(); n++ {
			require.False(t, strings.HasPrefix(lines.Text(), "error"), lines.Text())
			kept[lines.Text()] = true
		}
		require.NoError(t, cmd.Process.Kill())
		for lines.Scan() {
			kept[lines.Text()] = true
		}
		_ = cmd.Wait() // it was killed
		found := map[string]bool{}
		var drop []Position
		s, err := Open(Config{Directory: dir, OnRecord: func(r *Record) bool {
			found[fmt.Sprint(r.LSN)] = true
			drop = append(drop, r.Pos)
			return true
		}})
		require.NoError(t, err)
		for lsn := range kept {
			require.Contains(t, found, lsn)
		}
		// At most one batch was under way.
		require.LessOrEqual(t, len(found), len(kept)+10)
		s.Free(len(drop), drop...)
		clear(kept)
		require.NoError(t, s.Close())
	}
}
