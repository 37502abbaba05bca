package spool

// cellSize is the grain of the bitmaps: no record is smaller.
const cellSize = 64

// segment is one file of records. What may change is guarded by Spool.mu.
type segment struct {
	fileHeader
	name string
	file file
	// base is the first position of the segment, slots how many of the table it
	// takes from there.
	base  Position
	slots int
	// capacity is where the segment ends for Append.
	capacity int64

	// Up to synced is safe from a loss of power, unless something was written
	// over since: then the segment is dirty.
	size, synced int64
	dirty        bool
	// starts has the cell of every record, live of those that count, and void of
	// those that no marks file may call freed.
	starts, live, void bitmap
	liveRecords        int64
	liveBytes          int64

	// sealed segments get no more records; pinned ones stay though all of
	// their records are freed.
	sealed bool
	pins   int
	// keeps are pinned until the file of this segment is removed.
	keeps []*segment
	// readers use the file outside the lock; the last one lets it go if gone.
	readers int
	gone    bool
	// damaged segments are not compacted: the caller could not be told that
	// the position of an unreadable record is no longer valid.
	damaged bool
}

func cellOf(off int64) uint32 { return uint32(off / cellSize) }

func (g *segment) offset(p Position) int64 { return int64(p-g.base) * recordAlign }

func (g *segment) position(off int64) Position { return g.base + Position(off/recordAlign) }

// length is the distance from a record to the next or to the end, in cells. It
// is the same whenever it is asked, so that the sum over all records stays true.
func (g *segment) length(cell uint32) int64 {
	next, ok := g.starts.next(cell + 1)
	if !ok {
		next = cellOf(g.size)
	}
	return int64(next-cell) * cellSize
}

// extent is where the bytes of a record lie, and perhaps some of the next.
func (g *segment) extent(off int64) (from, to int64) {
	next, ok := g.starts.next(cellOf(off) + 1)
	if !ok {
		return off, g.size
	}
	return off, min(g.size, int64(next+1)*cellSize)
}

// grow takes in the records of a batch that was written at the end, and tells
// by how much the live bytes grew.
func (g *segment) grow(size, records int64) int64 {
	n := int64(cellOf(g.size+size)-cellOf(g.size)) * cellSize
	g.liveBytes += n
	g.liveRecords += records
	g.size += size
	return n
}

// free takes a live record out and tells its length, zero if it is none.
func (g *segment) free(cell uint32) int64 {
	if !g.live.has(cell) {
		return 0
	}
	n := g.length(cell)
	g.live.unset(cell)
	g.liveRecords--
	g.liveBytes -= n
	return n
}

// freed appends the cells of the records that were freed.
func (g *segment) freed(cells []uint32) []uint32 {
	for c, ok := g.starts.next(0); ok; c, ok = g.starts.next(c + 1) {
		if !g.live.has(c) && !g.void.has(c) {
			cells = append(cells, c)
		}
	}
	return cells
}

// recount sets the sums after the bitmaps were filled in no order.
func (g *segment) recount() {
	g.liveRecords, g.liveBytes = 0, 0
	for c, ok := g.live.next(0); ok; c, ok = g.live.next(c + 1) {
		g.liveRecords++
		g.liveBytes += g.length(c)
	}
}
