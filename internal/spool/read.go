package spool

import (
	"errors"
	"fmt"
	"io"
)

const (
	// maxRun is how much is read at once for records that lie close together.
	maxRun = 1 << 20
	// maxGap between two of them is read along: it costs less than a call.
	maxGap = 4 << 10
)

// Read loads records and hands them to fn one by one, in the order given; i is
// the index into positions. The record, its Extra and its Payload are only
// valid during the call. Records that are damaged or no longer there are left
// out and counted in lost. An error of fn ends the reading and is returned.
func (s *Spool) Read(positions []Position, fn func(i int, r *Record) error) (lost int, err error) {
	buf := buffers.Get().(*[]byte)
	defer putBuffer(buf)
	var h header
	for i := 0; i < len(positions); {
		n, l, err := s.readRun(positions[i:], buf, &h, func(j int, r *Record) error { return fn(i+j, r) })
		lost += l
		if err != nil {
			return lost, err
		}
		i += n
	}
	return lost, nil
}

// readRun reads the records at the beginning of positions that lie close
// together, and tells how many they were.
func (s *Spool) readRun(positions []Position, buf *[]byte, h *header, fn func(int, *Record) error) (n, lost int, err error) {
	g, n, from, to, err := s.findRun(positions)
	if err != nil {
		return 0, 0, err
	}
	if g == nil {
		return 1, 1, nil
	}
	defer s.release(g)
	b := grown(buf, to-from)
	if m, err := g.file.ReadAt(b, from); err != nil && !errors.Is(err, io.EOF) {
		if s.isClosed() {
			return n, 0, ErrClosed
		}
		// A bad spot on the disk costs the records that touch it: they are read
		// again one by one.
		if n > 1 {
			n = 1
			_, to = s.extentOf(g, positions[0])
			b = b[:to-from]
			m, _ = g.file.ReadAt(b, from)
		}
		b = b[:m]
	}
	for i, p := range positions[:n] {
		at := min(g.offset(p)-from, int64(len(b)))
		known, intact := h.load(b[at:], g.salt)
		if !intact {
			lost++
			s.countDamage(h, known, to-from-at)
			continue
		}
		h.Pos = p
		if err := fn(i, &h.Record); err != nil {
			return n, lost, err
		}
	}
	return n, lost, nil
}

// findRun looks up the segment of the first position and how many of the next
// ones can be read with it. The segment is kept from being removed.
func (s *Spool) findRun(positions []Position) (g *segment, n int, from, to int64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, 0, 0, 0, ErrClosed
	}
	g = s.find(positions[0])
	if g == nil {
		return nil, 1, 0, 0, nil
	}
	g.readers++
	from, to = g.extent(g.offset(positions[0]))
	for n = 1; n < len(positions); n++ {
		p := positions[n]
		if p <= positions[n-1] || s.find(p) != g {
			break
		}
		f, t := g.extent(g.offset(p))
		if f > to+maxGap || t-from > maxRun {
			break
		}
		to = t
	}
	return g, n, from, to, nil
}

// find is the segment of a live record, nil if there is none at p. The caller
// holds mu.
func (s *Spool) find(p Position) *segment {
	g := s.table.at(p)
	if g == nil || !g.live.has(cellOf(g.offset(p))) {
		return nil
	}
	return g
}

func (s *Spool) extentOf(g *segment, p Position) (from, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return g.extent(g.offset(p))
}

// release ends a use of the file of a segment outside the lock.
func (s *Spool) release(g *segment) {
	s.mu.Lock()
	s.unread(g)
	doomed := len(s.doomed) > 0
	s.mu.Unlock()
	if doomed {
		s.reap()
	}
}

func (s *Spool) isClosed() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.closed
}

func (s *Spool) countDamage(h *header, known bool, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.Damage.add(h, known, size)
}

// add counts a damaged stretch, and the record in it if its header is known.
func (d *Damage) add(h *header, known bool, size int64) {
	d.Regions++
	d.Bytes += size
	if known {
		d.lose(&h.Record)
	}
}

func (d *Damage) lose(r *Record) {
	d.Records++
	d.Spans += int64(r.Spans)
	d.Logs += int64(r.Logs)
}

// grown makes a pooled buffer n bytes long.
func grown(buf *[]byte, n int64) []byte {
	if int64(cap(*buf)) < n {
		*buf = make([]byte, n)
	}
	*buf = (*buf)[:n]
	return *buf
}

// readFull reads exactly len(b) bytes, for places that are known to exist.
func readFull(f file, b []byte, off int64, name string) error {
	n, err := f.ReadAt(b, off)
	if n == len(b) {
		return nil
	}
	return fmt.Errorf("spool: %s at %d: %w", name, off, err)
}
