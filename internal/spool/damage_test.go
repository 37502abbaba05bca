package spool

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// opened is what a spool tells when it is opened on a disk.
type opened struct {
	s     *Spool
	recs  map[uint64]Record
	marks map[ID]string
}

func openDisk(t *testing.T, d storage, cfg Config) opened {
	t.Helper()
	o := opened{recs: map[uint64]Record{}, marks: map[ID]string{}}
	cfg.OnMark = func(id ID, mark []byte) { o.marks[id] = string(mark) }
	cfg.OnRecord = func(r *Record) bool {
		c := *r
		c.Extra = slices.Clone(r.Extra)
		o.recs[r.LSN] = c
		return true
	}
	require.NoError(t, cfg.check())
	s, err := openOn(d, cfg)
	require.NoError(t, err)
	o.s = s
	return o
}

// readAll loads the payloads of what was found.
func (o *opened) readAll(t *testing.T) (lost int) {
	t.Helper()
	lsns := slices.Sorted(maps.Keys(o.recs))
	var positions []Position
	for _, lsn := range lsns {
		positions = append(positions, o.recs[lsn].Pos)
	}
	lost, err := o.s.Read(positions, func(i int, r *Record) error {
		c := o.recs[lsns[i]]
		c.Payload = slices.Clone(r.Payload)
		o.recs[lsns[i]] = c
		return nil
	})
	require.NoError(t, err)
	return lost
}

func sampleRecords() []Record {
	recs := make([]Record, 9)
	for i := range recs {
		recs[i] = Record{
			ID: ID{byte(i)}, Spans: uint32(i + 1), Logs: uint32(10 * i), Arrived: int64(i),
			Extra: bytes.Repeat([]byte{'e'}, i), Payload: bytes.Repeat([]byte{byte('a' + i)}, 7*i+3),
		}
	}
	return recs
}

const sampleSegment = "000000000002.segment"

func sampleDisk(t *testing.T) (*crashDisk, []Record) {
	t.Helper()
	d := newCrashDisk()
	o := openDisk(t, d, Config{})
	recs := sampleRecords()
	require.NoError(t, o.s.Append(recs))
	require.NoError(t, o.s.Close())
	require.Contains(t, d.files, sampleSegment)
	return d, recs
}

func (d *crashDisk) clone() *crashDisk {
	c := newCrashDisk()
	for name, f := range d.files {
		c.files[name] = &crashFile{d: c, name: name, data: slices.Clone(f.data)}
	}
	return c
}

func TestFlippingAnyByteOfASegmentLosesOneRecordAtMost(t *testing.T) {
	disk, recs := sampleDisk(t)
	for at := range disk.files[sampleSegment].data {
		d := disk.clone()
		d.files[sampleSegment].data[at] ^= 0x5a
		o := openDisk(t, d, Config{})
		require.Zero(t, o.readAll(t))
		var want Damage
		begin := int64(dataStart)
		for _, r := range recs {
			off, size := int64(at)-begin, headerSize+int64(len(r.Extra)+len(r.Payload))
			begin += r.size()
			got, ok := o.recs[r.LSN]
			if off < 0 || off >= size {
				require.True(t, ok, "byte %d, record %d", at, r.LSN)
				require.Equal(t, string(r.Payload), string(got.Payload))
				require.Equal(t, string(r.Extra), string(got.Extra))
				require.Equal(t, r.Spans, got.Spans)
				continue
			}
			require.False(t, ok, "byte %d, record %d", at, r.LSN)
			want.Regions, want.Bytes = 1, r.size()
			if off >= headerSize {
				want.Records, want.Spans, want.Logs = 1, int64(r.Spans), int64(r.Logs)
			} else {
				want.Missing = int64(r.items())
			}
		}
		require.Equal(t, want, o.s.Stats().Damage, "byte %d", at)
		again := openDisk(t, d, Config{}).s.Stats().Damage
		require.Zero(t, again.Lost(), "byte %d: told once", at)
	}
}

func TestCuttingASegmentAnywhereKeepsWhatStandsBefore(t *testing.T) {
	disk, recs := sampleDisk(t)
	for at := range disk.files[sampleSegment].data {
		d := disk.clone()
		d.files[sampleSegment].data = d.files[sampleSegment].data[:at]
		o := openDisk(t, d, Config{})
		require.Zero(t, o.readAll(t))
		begin, lost := int64(dataStart), int64(0)
		for _, r := range recs {
			end := begin + headerSize + int64(len(r.Extra)+len(r.Payload))
			begin += r.size()
			got, ok := o.recs[r.LSN]
			require.Equal(t, end <= int64(at), ok, "cut at %d, record %d", at, r.LSN)
			if ok {
				require.Equal(t, string(r.Payload), string(got.Payload))
			} else {
				lost += int64(r.items())
			}
		}
		damage := o.s.Stats().Damage
		require.Equal(t, lost, damage.Lost(), "cut at %d: all that is gone, of which one may have its header", at)
		// The spool can be written on, and the rest is found again.
		more := []Record{{Payload: []byte("more")}}
		require.NoError(t, o.s.Append(more))
		again := openDisk(t, d, Config{})
		require.Len(t, again.recs, len(o.recs)+1)
		require.Contains(t, again.recs, more[0].LSN)
	}
}

func TestRecordsBehindAMissingPieceAreFound(t *testing.T) {
	disk, recs := sampleDisk(t)
	f := disk.files[sampleSegment]
	// From the middle of the third record into the fourth.
	from := dataStart + recs[0].size() + recs[1].size() + 80
	f.data = slices.Delete(f.data, int(from), int(from)+96)
	o := openDisk(t, disk, Config{})
	assert.Len(t, o.recs, len(recs)-2)
	assert.EqualValues(t, 1, o.s.Stats().Damage.Records, "the header of the fourth is gone")
	assert.EqualValues(t, recs[2].Spans, o.s.Stats().Damage.Spans)
	assert.EqualValues(t, recs[3].items(), o.s.Stats().Damage.Missing)
}

func TestFlippingAnyByteOfTheMarksLosesOneAtMost(t *testing.T) {
	disk := newCrashDisk()
	o := openDisk(t, disk, Config{})
	for i := range byte(6) {
		require.NoError(t, o.s.Mark(ID{i}, []byte("first")))
	}
	require.NoError(t, o.s.Close())
	const name = "000000000001.marks"
	for at := range disk.files[name].data {
		for _, cut := range []bool{false, true} {
			d := disk.clone()
			if cut {
				d.files[name].data = d.files[name].data[:at]
			} else {
				d.files[name].data[at] ^= 0x5a
			}
			o := openDisk(t, d, Config{})
			if !cut {
				require.GreaterOrEqual(t, len(o.marks), 5, "byte %d", at)
			}
			for id, mark := range o.marks {
				require.Equal(t, "first", mark)
				require.Less(t, id[0], byte(6))
			}
		}
	}
}

func TestSegmentWithoutAnyHeaderIsSetAside(t *testing.T) {
	disk, recs := sampleDisk(t)
	data := disk.files[sampleSegment].data
	data[3]++
	data[headerSize+3]++
	size := int64(len(data))
	o := openDisk(t, disk, Config{})
	assert.Empty(t, o.recs)
	assert.Equal(t, Damage{Regions: 1, Bytes: size, Missing: int64(itemsOf(recs))}, o.s.Stats().Damage)
	assert.Contains(t, disk.files, sampleSegment+damagedSuffix)
	assert.NotContains(t, disk.files, sampleSegment)
}

func TestUnknownVersionIsRefusedByNameAndKept(t *testing.T) {
	for _, name := range []string{sampleSegment, "000000000001.marks"} {
		disk, _ := sampleDisk(t)
		h := fileHeader{number: 2}
		b := h.encode()
		b[8] = 2
		b = resum(b)
		copy(disk.files[name].data, b)
		before := slices.Clone(disk.files[name].data)
		cfg := Config{}
		require.NoError(t, cfg.check())
		_, err := openOn(disk, cfg)
		require.ErrorIs(t, err, ErrVersion)
		require.ErrorContains(t, err, name+" has version 2")
		require.Equal(t, before, disk.files[name].data)
	}
}

// Bytes in a payload that look like a record are never taken for one.
func TestPayloadThatLooksLikeARecordIsNotOne(t *testing.T) {
	disk, recs := sampleDisk(t)
	inner := slices.Clone(disk.files[sampleSegment].data[dataStart:])
	o := openDisk(t, disk, Config{})
	evil := []Record{{Payload: inner}, {Payload: []byte("next")}}
	require.NoError(t, o.s.Append(evil))
	require.NoError(t, o.s.Close())
	for name, f := range disk.files {
		if i := bytes.Index(f.data, inner); i > dataStart {
			f.data[i-headerSize+20]++ // the header of the record around it
			require.NotEqual(t, sampleSegment, name)
		}
	}
	o = openDisk(t, disk, Config{})
	require.Len(t, o.recs, len(recs)+1)
	require.Contains(t, o.recs, evil[1].LSN)
}

func TestBadSpotOfTheDiskCostsWhatTouchesIt(t *testing.T) {
	disk := newCrashDisk()
	o := openDisk(t, disk, Config{})
	recs := make([]Record, 100)
	for i := range recs {
		recs[i] = Record{Spans: 2, Payload: bytes.Repeat([]byte{byte(i)}, 1000)}
	}
	require.NoError(t, o.s.Append(recs))
	disk.badName = sampleSegment
	disk.badFrom, disk.badTo = 20_000, 20_001
	for _, r := range recs {
		o.recs[r.LSN] = r
	}
	require.Equal(t, 1, o.readAll(t))
	require.NoError(t, o.s.Close())
	o = openDisk(t, disk, Config{})
	// A page of the disk is given up at the start.
	assert.GreaterOrEqual(t, len(o.recs), 94)
	assert.Less(t, len(o.recs), 100)
}

func TestDamageFoundWhileReadingIsCounted(t *testing.T) {
	disk, recs := sampleDisk(t)
	o := openDisk(t, disk, Config{})
	disk.files[sampleSegment].data[dataStart+recs[0].size()+headerSize]++
	require.Equal(t, 1, o.readAll(t))
	d := o.s.Stats().Damage
	assert.EqualValues(t, recs[1].Spans, d.Spans)
	assert.EqualValues(t, 1, d.Records)
	lost, err := o.s.Read([]Position{0, 1 << 31, recs[0].Pos + 1}, func(int, *Record) error { return os.ErrInvalid })
	require.NoError(t, err)
	assert.Equal(t, 3, lost, "positions of nothing")
}
