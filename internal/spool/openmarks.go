package spool

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// openMarks reads the marks file that holds, and answers the names of the
// others, which are to be removed.
func (r *recovery) openMarks(names []string) (stale []string, err error) {
	var best *marksReader
	for i := len(names) - 1; i >= 0; i-- {
		n, ok := number(names[i], marksSuffix)
		if !ok {
			continue
		}
		r.s.nextNumber = max(r.s.nextNumber, n)
		// Once a complete one was found, older ones need not be understood.
		if best != nil && best.complete {
			stale = append(stale, names[i])
			continue
		}
		m, err := r.readMarks(names[i], n)
		if err != nil {
			return nil, closing(best, err)
		}
		if m == nil {
			continue
		}
		if best == nil {
			best = m
			continue
		}
		// Of files that are not complete the newest is best: in all that was
		// ever the only one, completeness was lost to damage.
		worse := m
		if m.complete {
			best, worse = m, best
		}
		stale = append(stale, worse.name)
		if err := worse.file.Close(); err != nil {
			return nil, closing(best, fmt.Errorf("spool: %s: %w", worse.name, err))
		}
	}
	s := r.s
	if (best == nil || !best.complete && best.damage.Regions == 0) && s.stats.Damage.Regions == 0 && slices.ContainsFunc(names, isSegment) {
		// There is a complete one before there is any segment.
		s.stats.Damage.Regions++
	}
	if best == nil {
		return stale, nil
	}
	r.freed = best.freed
	if best.complete {
		r.listed, r.listedTo = best.listed, best.listedTo
	}
	s.nextNumber = max(s.nextNumber, best.highest)
	s.lsn.Store(best.lsn)
	s.stats.Damage.Regions += best.damage.Regions
	s.stats.Damage.Bytes += best.damage.Bytes
	s.marks.fileHeader, s.marks.name, s.marks.file = best.fileHeader, best.name, best.file
	s.marks.size, s.marks.index, s.marks.live = best.size, best.index, best.live
	s.total += best.size
	s.marks.heldAt, s.marks.known = best.balance.at, best.damage
	if best.complete && best.damage.Regions == 0 {
		r.balance = best.balance
	}
	s.tellMarks()
	return stale, nil
}

func isSegment(name string) bool {
	_, ok := number(name, segmentSuffix)
	return ok
}

func closing(m *marksReader, err error) error {
	if m != nil {
		_ = m.file.Close() // the error that ends the opening is the one to tell
	}
	return err
}

// marksReader takes in what a marks file says.
type marksReader struct {
	fileHeader
	name  string
	file  file
	size  int64
	index map[ID]markRef
	live  int64

	// freed are the cells that entries name, by the number of the segment.
	freed    map[uint64][]uint32
	complete bool
	listed   map[uint64]bool
	listedTo uint64
	// highest is the highest number, lsn the highest LSN that the file tells.
	highest, lsn uint64
	damage       Damage
	balance      balance
}

func (r *recovery) readMarks(name string, n uint64) (*marksReader, error) {
	f, h, size, err := r.openFile(name, n)
	if err != nil || f == nil {
		return nil, err
	}
	// Later entries go behind the last one, on the border where they belong.
	m := &marksReader{
		fileHeader: h, name: name, file: f, size: alignUp(min(size, maxMarksFile), entryAlign),
		index: map[ID]markRef{}, freed: map[uint64][]uint32{},
	}
	r.scan.use(f, min(size, maxMarksFile))
	m.damage = r.scan.scanEntries(h.salt, m.take)
	return m, nil
}

func (m *marksReader) take(e *entry, off int64) {
	m.lsn = max(m.lsn, e.lsn)
	switch e.kind {
	case entryMark:
		if len(e.body) < idSize {
			return
		}
		id := ID(e.body)
		m.live += e.size - int64(m.index[id].size)*entryAlign
		m.index[id] = markRef{off: uint32(off / entryAlign), size: uint32(e.size / entryAlign)}
	case entryUnmark:
		for b := e.body; len(b) >= idSize; b = b[idSize:] {
			m.live -= int64(m.index[ID(b)].size) * entryAlign
			delete(m.index, ID(b))
		}
	case entryFreed:
		eachCell(e.body, func(number uint64, cell uint32) {
			m.freed[number] = append(m.freed[number], cell)
		})
	case entrySegments:
		m.segments(e.body)
	case entryHeld:
		m.balance.begin(e, off)
	case entryReleased:
		m.balance.free(e)
	}
}

// segments reads the list that completes a file. It allows for the numbers that
// the entry itself could not know.
func (m *marksReader) segments(body []byte) {
	if len(body) < 8 {
		return
	}
	m.complete = true
	m.listedTo = binary.LittleEndian.Uint64(body)
	if m.listedTo < maxLSN {
		m.highest = max(m.highest, m.listedTo)
	}
	m.listed = map[uint64]bool{}
	for b := body[8:]; len(b) >= 8; b = b[8:] {
		n := binary.LittleEndian.Uint64(b)
		if n == 0 {
			m.listedTo = 0
			return
		}
		m.listed[n] = true
	}
}

// tellMarks hands the marks that hold to the caller.
func (r *recovery) tellMarks() error {
	m := &r.s.marks
	if m.file == nil || r.s.cfg.OnMark == nil || len(m.index) == 0 {
		return nil
	}
	r.scan.use(m.file, m.size)
	r.scan.scanEntries(m.salt, func(e *entry, off int64) {
		if e.kind != entryMark || len(e.body) < idSize {
			return
		}
		id := ID(e.body)
		if ref, ok := m.index[id]; ok && int64(ref.off)*entryAlign == off {
			r.s.cfg.OnMark(id, e.body[idSize:])
		}
	})
	return nil
}
