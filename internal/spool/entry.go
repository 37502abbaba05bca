package spool

import (
	"encoding/binary"
	"hash/crc32"
)

// entryKind is what an entry of a marks file says.
type entryKind uint32

const (
	entryMark entryKind = iota + 1
	entryUnmark
	entryFreed
	entrySegments
	entryHeld
	entryReleased
)

const (
	entryMagic = "tMrk"
	// takenBack is written over the magic of a mark: it then unmarks its run. Four
	// bytes are there or not after a kill, and need no room.
	takenBack   = "tUnm"
	entryHeader = 24
	entryAlign  = 8
	idSize      = 16
	// maxEntryBody is the largest body that is written, and so that is believed.
	maxEntryBody = MaxExtra + idSize
	// maxCells are so few that an entry of them never exceeds maxEntryBody.
	maxCells = 12 << 10
	// maxNumbers is the same for entrySegments. More segments than that are not
	// named: a zero stands for them all.
	maxNumbers = 8 << 10
)

func entrySize(body int64) int64 { return alignUp(entryHeader+body, entryAlign) }

// beginEntry makes room for the header of an entry whose body is then appended.
func beginEntry(buf []byte) []byte { return append(buf, make([]byte, entryHeader)...) }

// endEntry completes the entry that begins at from.
func endEntry(buf []byte, from int, kind entryKind, lsn uint64, salt uint32) []byte {
	e := buf[from:]
	copy(e, entryMagic)
	binary.LittleEndian.PutUint32(e[8:], uint32(len(e)-entryHeader))
	binary.LittleEndian.PutUint32(e[12:], uint32(kind))
	binary.LittleEndian.PutUint64(e[16:], lsn)
	binary.LittleEndian.PutUint32(e[4:], crc32.Update(salt, castagnoli, e[8:]))
	return append(buf, padding[:entrySize(int64(len(e)-entryHeader))-int64(len(e))]...)
}

// appendCells encodes entries that name the cells of a segment, in ascending
// order.
func appendCells(buf []byte, number uint64, cells []uint32, lsn uint64, salt uint32) []byte {
	for len(cells) > 0 {
		part := cells[:min(len(cells), maxCells)]
		cells = cells[len(part):]
		from := len(buf)
		buf = binary.LittleEndian.AppendUint64(beginEntry(buf), number)
		before := uint32(0)
		for _, c := range part {
			buf = binary.AppendUvarint(buf, uint64(c-before))
			before = c
		}
		buf = endEntry(buf, from, entryFreed, lsn, salt)
	}
	return buf
}

// eachCell reads the body of such an entry.
func eachCell(body []byte, fn func(number uint64, cell uint32)) {
	if len(body) < 8 {
		return
	}
	number := binary.LittleEndian.Uint64(body)
	cell := uint64(0)
	for rest := body[8:]; len(rest) > 0; {
		d, n := binary.Uvarint(rest)
		if n <= 0 || d > maxCell-cell {
			return
		}
		cell += d
		rest = rest[n:]
		fn(number, uint32(cell))
	}
}

// maxCell bounds what a cell of a hostile file makes a bitmap grow to.
const maxCell = uint64(maxMaxBytes / cellSize)

// entry is one that was read.
type entry struct {
	kind entryKind
	lsn  uint64
	body []byte
	size int64
}

// readEntry reads the entry at off; it answers false unless it is intact.
func (c *scanner) readEntry(off int64, salt uint32) (entry, bool) {
	h := c.bytes(off, entryHeader)
	if len(h) < entryHeader || string(h[:4]) != entryMagic && string(h[:4]) != takenBack {
		return entry{}, false
	}
	body := int64(binary.LittleEndian.Uint32(h[8:]))
	if body > maxEntryBody {
		return entry{}, false
	}
	b := c.bytes(off, entryHeader+body)
	if int64(len(b)) < entryHeader+body ||
		binary.LittleEndian.Uint32(b[4:]) != crc32.Update(salt, castagnoli, b[8:]) {
		return entry{}, false
	}
	e := entry{
		kind: entryKind(binary.LittleEndian.Uint32(b[12:])),
		lsn:  binary.LittleEndian.Uint64(b[16:]),
		body: b[entryHeader:],
		size: entrySize(body),
	}
	if string(b[:4]) == takenBack {
		if e.kind != entryMark || body < idSize {
			return entry{}, false
		}
		e.kind, e.body = entryUnmark, e.body[:idSize]
	}
	return e, e.lsn < maxLSN
}

// scanEntries hands every intact entry to fn and counts the rest as damage.
func (c *scanner) scanEntries(salt uint32, fn func(e *entry, off int64)) (d Damage) {
	bad := int64(-1)
	off := int64(dataStart)
	for off < c.size {
		e, ok := c.readEntry(off, salt)
		if !ok {
			if bad < 0 {
				bad = off
			}
			off += entryAlign
			continue
		}
		d.close(&bad, off)
		fn(&e, off)
		off += e.size
	}
	d.close(&bad, c.size)
	return d
}

// close ends a damaged stretch that began at *bad, if there is one.
func (d *Damage) close(bad *int64, at int64) {
	if *bad >= 0 {
		d.Regions++
		d.Bytes += at - *bad
		*bad = -1
	}
}
