package spool

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// markedDisk is a disk whose marks file has all that such a file can say: records that
// were freed before it was written and after, marks that were replaced, taken back, and
// taken back where there was no room.
func markedDisk(t *testing.T) (d *crashDisk, name string, whole opened) {
	t.Helper()
	d = newCrashDisk()
	o := openDisk(t, d, Config{})
	recs := sampleRecords()
	require.NoError(t, o.s.Append(recs))
	o.s.Free(itemsOf(recs[:2]), recs[0].Pos, recs[1].Pos)
	require.NoError(t, o.s.Mark(ID{1}, []byte("first")))
	require.NoError(t, o.s.Close())
	o = openDisk(t, d, Config{})
	for i := range byte(6) {
		require.NoError(t, o.s.Mark(ID{i}, []byte("old")))
		require.NoError(t, o.s.Mark(ID{i}, []byte("new mark")))
	}
	require.NoError(t, o.s.Unmark(ID{0}, ID{5}))
	o.s.Free(itemsOf(recs[3:5]), recs[3].Pos, recs[4].Pos)
	d.limited = true
	require.NoError(t, o.s.Unmark(ID{4}))
	d.limited = false
	require.NoError(t, o.s.Mark(ID{3}, []byte("newer mark")))
	require.NoError(t, o.s.Close())
	for n := range d.files {
		if strings.HasSuffix(n, marksSuffix) {
			name = n
		}
	}
	whole = openDisk(t, d.clone(), Config{})
	require.Len(t, whole.recs, 5)
	require.Equal(t, map[ID]string{{1}: "new mark", {2}: "new mark", {3}: "newer mark"}, whole.marks)
	require.Zero(t, whole.s.Stats().Damage)
	return d, name, whole
}

// entryBorders are the offsets at which the entries of a marks file begin and end, and
// the one behind which the file is complete.
func entryBorders(t *testing.T, d *crashDisk, name string) (borders []int, complete int) {
	t.Helper()
	f := d.files[name]
	h, err := readHeader(f, name)
	require.NoError(t, err)
	var c scanner
	c.use(f, int64(len(f.data)))
	require.Zero(t, c.scanEntries(h.salt, func(e *entry, off int64) {
		borders = append(borders, int(off))
		if e.kind == entrySegments {
			complete = int(off + e.size)
		}
	}))
	return append(borders, len(f.data)), complete
}

// The damaged file opens, no record that counts is lost, what was marked is at worst
// what it was before one entry, and whatever is lost is counted as damage.
func TestAMarksFileFlippedAtAnyByteCostsOneEntry(t *testing.T) {
	disk, name, whole := markedDisk(t)
	for at := range disk.files[name].data {
		d := disk.clone()
		d.files[name].data[at] ^= 0x5a
		o := openDisk(t, d, Config{})
		what := fmt.Sprintf("byte %d", at)
		st := o.s.Stats()
		require.Zero(t, o.readAll(t), what)
		require.Zero(t, st.Damage.Lost(), what)
		for lsn := range whole.recs {
			require.Contains(t, o.recs, lsn, what)
		}
		changed := 0
		for i := range byte(6) {
			if o.marks[ID{i}] != whole.marks[ID{i}] {
				changed++
			}
		}
		// One entry takes two marks back.
		require.LessOrEqual(t, changed, 2, what)
		if changed > 0 || len(o.recs) > len(whole.recs) {
			require.EqualValues(t, 1, st.Damage.Regions, what)
			require.Positive(t, st.Damage.Bytes, what)
		}
		if at%7 == 0 {
			writeOn(t, d, o)
		}
	}
}

func TestAMarksFileCutAnywhereStarts(t *testing.T) {
	disk, name, whole := markedDisk(t)
	borders, complete := entryBorders(t, disk, name)
	require.Positive(t, complete)
	for at := range disk.files[name].data {
		d := disk.clone()
		d.files[name].data = d.files[name].data[:at]
		o := openDisk(t, d, Config{})
		what := fmt.Sprintf("cut at %d", at)
		st := o.s.Stats()
		require.Zero(t, o.readAll(t), what)
		require.Zero(t, st.Damage.Lost(), what)
		for lsn := range whole.recs {
			require.Contains(t, o.recs, lsn, what)
		}
		for id, mark := range o.marks {
			require.Contains(t, []string{"first", "old", "new mark", "newer mark"}, mark, "%s: %x", what, id)
		}
		// Padding behind the last entry of what is left may be cut without a loss.
		border := slices.ContainsFunc(borders, func(b int) bool { return at <= b && at > b-entryAlign })
		if at < complete-entryAlign || !border {
			require.EqualValues(t, 1, st.Damage.Regions, what)
		}
		if at%7 == 0 {
			writeOn(t, d, o)
		}
	}
}

func TestAMarksFileThatIsGoneIsDamage(t *testing.T) {
	disk, name, whole := markedDisk(t)
	delete(disk.files, name)
	o := openDisk(t, disk, Config{})
	assert.EqualValues(t, 1, o.s.Stats().Damage.Regions)
	assert.Empty(t, o.marks)
	for lsn := range whole.recs {
		assert.Contains(t, o.recs, lsn)
	}
}

// writeOn uses a spool that was opened and opens it once more.
func writeOn(t *testing.T, d *crashDisk, o opened) {
	t.Helper()
	more := []Record{{Payload: []byte("more")}}
	require.NoError(t, o.s.Append(more))
	require.NoError(t, o.s.Mark(ID{9}, []byte("more")))
	require.NoError(t, o.s.Close())
	again := openDisk(t, d, Config{})
	require.Len(t, again.recs, len(o.recs)+1)
	want := maps.Clone(o.marks)
	want[ID{9}] = "more"
	require.Equal(t, want, again.marks)
	require.Zero(t, again.s.Stats().Damage.Missing)
}

// A kill while a mark is taken back where there is no room leaves the mark or none,
// never the one that it had replaced.
func TestAKillWhileAMarkIsTakenBackBringsNoOlderOneBack(t *testing.T) {
	for _, tear := range []float64{0, 0.3, 0.6, 0.9, 1} {
		d := newCrashDisk()
		o := openDisk(t, d, Config{})
		require.NoError(t, o.s.Mark(ID{1}, []byte("old")))
		require.NoError(t, o.s.Mark(ID{1}, []byte(strings.Repeat("new ", 20))))
		// The first write finds no room, the next is the last.
		d.limited, d.tear, d.killAt = true, tear, d.steps+3
		for range 3 {
			_ = o.s.Unmark(ID{1})
		}
		d.restart()
		d.limited = false
		marks := openDisk(t, d, Config{}).marks
		assert.NotEqual(t, "old", marks[ID{1}], "tear %v", tear)
	}
}
