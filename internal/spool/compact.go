package spool

import (
	"errors"
	"fmt"
)

// copyBatch is how many bytes compaction copies with one write.
const copyBatch = 1 << 20

// Compact copies live records out of segments that are at least half dead, until
// no more than Config.CompactBytes are held or nothing is left to gain. The
// spool does this by itself in the background; a caller that was told ErrFull
// may call it to make room before it gives up runs. It must hold no lock that
// OnMove takes.
func (s *Spool) Compact() error {
	s.moving.Lock()
	defer s.moving.Unlock()
	if s.isClosed() {
		return ErrClosed
	}
	tried := map[*segment]bool{}
	for s.cfg.OnMove != nil {
		g := s.candidate(tried)
		if g == nil {
			break
		}
		tried[g] = true
		if err := s.evacuate(g); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.fruitless = s.garbage()
	s.mu.Unlock()
	return nil
}

// garbage is what is held of records that were freed. The caller holds mu.
func (s *Spool) garbage() int64 { return s.total - s.live }

// crowded tells whether it is time to compact: much is held, or segments that
// were never filled use up the positions. The caller holds mu.
func (s *Spool) crowded() bool {
	return s.total > s.cfg.CompactBytes || s.table.used > s.table.limit()/2
}

// worthCompacting tells whether the worker should be woken for it: not before
// there is more to gain than the last time it found nothing to do. The caller
// holds mu.
func (s *Spool) worthCompacting() bool {
	if s.cfg.OnMove == nil || !s.crowded() {
		return false
	}
	garbage := s.garbage()
	s.fruitless = min(s.fruitless, garbage)
	return garbage >= s.fruitless+s.cfg.SegmentBytes/2
}

// candidate picks the segment that gives most room for the least copying.
func (s *Spool) candidate(tried map[*segment]bool) *segment {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || !s.crowded() {
		return nil
	}
	var best *segment
	for g := range s.table.all {
		if !g.sealed || g.damaged || tried[g] || 2*g.liveBytes > g.size ||
			s.total+g.liveBytes+2*dataStart > s.cfg.MaxBytes {
			continue
		}
		if best == nil || float64(g.liveBytes)*float64(best.size) < float64(best.liveBytes)*float64(g.size) {
			best = g
		}
	}
	if best != nil {
		best.pins++
	}
	return best
}

// evacuate copies what lives in a segment and tells the caller, batch by batch.
func (s *Spool) evacuate(g *segment) error {
	m := mover{s: s, from: g}
	defer m.finish()
	buf := buffers.Get().(*[]byte)
	defer putBuffer(buf)
	cell := uint32(0)
	for {
		m.recs, m.old, *buf = m.recs[:0], m.old[:0], (*buf)[:0]
		next := m.gather(buf, cell)
		if len(m.recs) == 0 {
			return nil
		}
		cell = next
		if err := m.copy(*buf); err != nil {
			return err
		}
		m.tell()
	}
}

// mover carries the records of one segment elsewhere. Until it is done both the
// segment and those with the copies are pinned: after a kill now, the copies of
// which one place was freed are told from others by that place.
type mover struct {
	s    *Spool
	from *segment
	// recs are the records of one batch, and old where they lay.
	recs []Record
	old  []Position
	// moved are all that the caller agreed to.
	moved  []Position
	pinned []*segment
	// stuck says that a place could not be made void: the pins stay.
	stuck bool
}

// gather reads live records from a cell on, about copyBatch bytes of them, and
// tells where to go on.
func (m *mover) gather(buf *[]byte, cell uint32) (next uint32) {
	var h header
	var raw []byte
	for len(*buf) < copyBatch {
		m.s.mu.Lock()
		c, ok := m.from.live.next(cell)
		to := min(m.from.size, (int64(c)+1)*cellSize)
		if ok {
			_, to = m.from.extent(int64(c) * cellSize)
		}
		m.s.mu.Unlock()
		if !ok {
			break
		}
		from := int64(c) * cellSize
		if int64(cap(raw)) < to-from {
			raw = make([]byte, to-from, max(to-from, maxGap))
		}
		raw = raw[:to-from]
		if err := readFull(m.from.file, raw, from, m.from.name); err != nil {
			m.spoiled()
			return 0
		}
		at, ok := int64(0), false
		for ; at < cellSize && !ok; at += recordAlign {
			_, ok = h.load(raw[min(at, int64(len(raw))):], m.from.salt)
		}
		if !ok {
			m.spoiled()
			return 0
		}
		*buf = appendRecord(*buf, &h.Record)
		m.old = append(m.old, m.from.position(from+at-recordAlign))
		// Only their lengths are needed from here on, so they may alias raw.
		m.recs = append(m.recs, h.Record)
		cell = c + 1
	}
	return cell
}

// spoiled ends the moving of a segment that cannot be read; what was gathered
// stays where it is.
func (m *mover) spoiled() {
	m.recs = m.recs[:0]
	m.s.mu.Lock()
	m.from.damaged = true
	m.s.mu.Unlock()
}

// copy writes what was gathered.
func (m *mover) copy(buf []byte) error {
	g, err := m.s.reserve(kindCopies, &m.s.copies, int64(len(buf)))
	if err != nil {
		return err
	}
	if len(m.pinned) == 0 || m.pinned[len(m.pinned)-1] != g {
		m.s.mu.Lock()
		g.pins++
		m.s.mu.Unlock()
		m.pinned = append(m.pinned, g)
	}
	rest := buf
	for i := range m.recs {
		sealHeader(rest, m.recs[i].LSN, g.salt)
		rest = rest[m.recs[i].size():]
	}
	if err := m.s.commit(&m.s.copies, buf, m.recs); err != nil {
		return err
	}
	if m.s.cfg.SyncInterval == 0 {
		return nil
	}
	// Only then can the original go.
	if err := errors.Join(g.file.Sync(), m.s.syncNames()); err != nil {
		return fmt.Errorf("spool: %s: %w", g.name, err)
	}
	return nil
}

// tell asks the caller to take the new positions. Where it does not agree the
// copy becomes void.
func (m *mover) tell() {
	var refused []Position
	for i := range m.recs {
		if m.s.cfg.OnMove(m.recs[i].ID, m.old[i], m.recs[i].Pos) {
			m.moved = append(m.moved, m.old[i])
		} else {
			refused = append(refused, m.recs[i].Pos)
		}
	}
	m.avoid(refused)
}

// avoid makes places void, first in the files.
func (m *mover) avoid(positions []Position) {
	s := m.s
	var last *segment
	for _, p := range positions {
		s.mu.Lock()
		g := s.table.at(p)
		s.mu.Unlock()
		m.stuck = void.put(g.file, g.offset(p)) != nil || m.stuck
		if g != last && last != nil {
			m.sync(last)
		}
		last = g
	}
	if last != nil {
		m.sync(last)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	m.drop(positions)
}

func (m *mover) sync(g *segment) {
	if m.s.cfg.SyncInterval > 0 && g.file.Sync() != nil {
		m.stuck = true
	}
}

// drop takes places out of what lives. The caller holds mu.
func (m *mover) drop(positions []Position) {
	for _, p := range positions {
		g := m.s.table.at(p)
		c := cellOf(g.offset(p))
		if n := g.free(c); n > 0 {
			m.s.live -= n
			g.void.set(c)
		}
	}
}

// finish lets go of the old places: with the whole file if nothing else lives
// in it, and then the copies are pinned until the file is removed.
func (m *mover) finish() {
	s, g := m.s, m.from
	s.mu.Lock()
	s.stats.Moved += int64(len(m.moved))
	whole := g.liveRecords == int64(len(m.moved))
	if whole {
		m.drop(m.moved)
		g.keeps, m.pinned = append(g.keeps, m.pinned...), nil
	}
	s.mu.Unlock()
	if !whole {
		m.avoid(m.moved)
	}
	s.mu.Lock()
	if !m.stuck {
		s.unpin(append(m.pinned, g))
	}
	s.mu.Unlock()
	s.reap()
}
