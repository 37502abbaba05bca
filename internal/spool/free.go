package spool

import "slices"

// place is where a record lies.
type place struct {
	in  *segment
	off int64
}

// Free says that the records are no longer needed, now and after a restart. items is
// how many spans and log records they are together, by which a restart knows what is
// missing. Positions that name no record are ignored, and where there are any nothing
// is known to be missing until the spool is opened anew.
func (s *Spool) Free(items int, positions ...Position) {
	if len(positions) == 0 {
		return
	}
	m := &s.marks
	m.mu.Lock()
	m.positions = append(m.positions[:0], positions...)
	slices.Sort(m.positions)
	m.buf, m.freed = m.buf[:0], m.freed[:0]
	if m.file != nil {
		// Before the cells: of a call that was interrupted rather more is there.
		m.buf = appendItems(m.buf, entryReleased, uint64(max(items, 0)), s.lsn.Load(), m.salt)
	}
	s.mu.Lock()
	emptied := s.takeOut()
	if len(m.freed) == 0 {
		m.buf = m.buf[:0]
	}
	if right := items > 0 && len(m.freed) == len(positions); !s.closed {
		s.discount(uint64(max(items, 0)), right)
	}
	miscounted := s.miscounted
	s.mu.Unlock()
	if miscounted {
		m.uncount(s.lsn.Load())
	}
	lagging := false
	if m.file != nil && (m.behind.Load() || s.writeMarks() != nil) {
		m.uncount(s.lsn.Load())
		for _, p := range m.freed {
			lagging = dead.put(p.in.file, p.off) != nil || lagging
		}
		s.mu.Lock()
		for _, p := range m.freed {
			p.in.dirty = true
		}
		s.mu.Unlock()
	}
	if lagging {
		m.behind.Store(true)
	}
	clear(m.freed)
	m.trim()
	due := m.file != nil && s.marksDue()
	m.mu.Unlock()
	if due {
		s.worker.wake()
	}
	s.settle(emptied)
}

// trim lets go of what an unusually large call has left.
func (m *marks) trim() {
	const most = 64 << 10
	if cap(m.positions) > most {
		m.positions, m.cells, m.freed, m.buf = nil, nil, nil, nil
	}
}

// takeOut frees what the positions of marks name and encodes the entries that
// say so. It answers the segments in which nothing lives any more. The caller
// holds both locks.
func (s *Spool) takeOut() (emptied []*segment) {
	m := &s.marks
	for i := 0; i < len(m.positions) && !s.closed; {
		g := s.table.at(m.positions[i])
		m.cells = m.cells[:0]
		for ; i < len(m.positions) && s.table.at(m.positions[i]) == g; i++ {
			if g == nil {
				continue
			}
			off := g.offset(m.positions[i])
			n := g.free(cellOf(off))
			if n == 0 {
				continue
			}
			s.live -= n
			m.cells = append(m.cells, cellOf(off))
			m.freed = append(m.freed, place{g, off})
		}
		if len(m.cells) == 0 {
			continue
		}
		if m.file != nil {
			m.buf = appendCells(m.buf, g.number, m.cells, s.lsn.Load(), m.salt)
		}
		if g.liveRecords == 0 {
			emptied = append(emptied, g)
		}
	}
	return emptied
}

// settle drops segments that were emptied, and wakes the worker for those that
// only it may seal, or if there is something to compact.
func (s *Spool) settle(emptied []*segment) {
	s.mu.Lock()
	wake := s.worthCompacting()
	for _, g := range emptied {
		s.dropEmpty(g)
		wake = wake || !g.sealed && g.size >= s.cfg.SegmentBytes/4
	}
	s.mu.Unlock()
	s.reap()
	if wake {
		s.worker.wake()
	}
}
