package spool

import (
	"fmt"
	"math"
	"sync"
)

// buffers hold batches on their way to or from a file. Larger ones than
// maxPooled are rare and left to the collector of garbage.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

const maxPooled = 4 << 20

func putBuffer(b *[]byte) {
	if cap(*b) <= maxPooled {
		*b = (*b)[:0]
		buffers.Put(b)
	}
}

// Append writes the records with one write and sets their Pos and LSN. Either
// all are in the spool when it returns, or none and an error tells why.
func (s *Spool) Append(recs []Record) error {
	if len(recs) == 0 {
		return nil
	}
	size, err := s.measure(recs)
	if err != nil {
		return err
	}
	buf := buffers.Get().(*[]byte)
	defer putBuffer(buf)
	if int64(cap(*buf)) < size {
		*buf = make([]byte, 0, size)
	}
	for i := range recs {
		*buf = appendRecord(*buf, &recs[i])
	}
	s.appending.Lock()
	defer s.appending.Unlock()
	g, err := s.reserve(kindRecords, &s.head, size)
	if err != nil {
		return err
	}
	lsn := s.lsn.Load()
	for i, rest := 0, *buf; i < len(recs); i++ {
		lsn += recs[i].items()
		recs[i].LSN = lsn
		sealHeader(rest, lsn, g.salt)
		rest = rest[recs[i].size():]
	}
	return s.commit(&s.head, *buf, recs)
}

func (r *Record) size() int64 { return recordSize(int64(len(r.Extra)) + int64(len(r.Payload))) }

func (s *Spool) measure(recs []Record) (int64, error) {
	var size int64
	for i := range recs {
		r := &recs[i]
		if len(r.Extra) > MaxExtra || int64(len(r.Payload)) > math.MaxUint32-MaxExtra {
			return 0, fmt.Errorf("%w: record %d of the batch has %d bytes of extra and %d of payload",
				ErrTooLarge, i, len(r.Extra), len(r.Payload))
		}
		size += r.size()
	}
	if most := s.cfg.MaxBytes - s.cfg.SegmentBytes - 2*dataStart; size > most {
		return 0, fmt.Errorf("%w: batch of %d bytes, at most %d can be held", ErrTooLarge, size, most)
	}
	return size, nil
}

// reserve finds or makes the segment in which the next size bytes of a stream
// go, and counts them. The caller holds the lock of the stream.
func (s *Spool) reserve(kind fileKind, stream **segment, size int64) (*segment, error) {
	s.mu.Lock()
	bound := s.limit()
	if kind == kindCopies {
		bound = s.cfg.MaxBytes
	}
	g := *stream
	fits := g != nil && g.size+size <= g.capacity
	if g != nil && g.liveRecords == 0 && g.pins == 0 && s.total+size > bound {
		// Nothing in it is needed, so making room begins here.
		s.seal(stream)
		fits = false
	}
	need := size
	if !fits {
		need += dataStart
	}
	switch {
	case s.closed:
		s.mu.Unlock()
		return nil, ErrClosed
	case s.total+need > bound:
		err := fmt.Errorf("%w: %d of %d bytes are held", ErrFull, s.total, bound)
		s.mu.Unlock()
		s.reap()
		return nil, err
	}
	s.total += need
	if fits {
		s.mu.Unlock()
		return g, nil
	}
	s.seal(stream)
	s.nextNumber++
	number := s.nextNumber
	s.held[number] = struct{}{}
	s.mu.Unlock()
	s.reap()
	g, err := s.begin(kind, number, max(s.cfg.SegmentBytes, dataStart+size))
	if err != nil {
		s.mu.Lock()
		s.total -= need
		delete(s.held, number)
		s.mu.Unlock()
		return nil, err
	}
	*stream = g
	return g, nil
}

// begin makes a segment file and gives it a place among the positions.
func (s *Spool) begin(kind fileKind, number uint64, capacity int64) (*segment, error) {
	f, h, err := newFile(s.st, kind, number)
	if err != nil {
		return nil, err
	}
	g := &segment{fileHeader: h, name: fileName(kind, number), file: f, capacity: capacity, size: dataStart}
	s.mu.Lock()
	err = s.table.put(g, capacity)
	s.unlisted = true
	s.mu.Unlock()
	if err != nil {
		_ = f.Close() // it has nothing in it
		if rerr := s.st.remove(g.name); rerr != nil {
			err = fmt.Errorf("%w (and its file stays: %w)", err, rerr)
		}
		return nil, err
	}
	return g, nil
}

// commit writes a batch for which there is a reservation and makes its records
// known. On failure it leaves nothing that a restart could take for a record.
func (s *Spool) commit(stream **segment, buf []byte, recs []Record) error {
	g := *stream
	_, err := g.file.WriteAt(buf, g.size)
	undone := err != nil && g.file.Truncate(g.size) == nil
	if err != nil && !undone {
		// Whole records may stand there that nobody was told of, and once they are
		// void their numbers are nobody's.
		if g.kind == kindRecords {
			s.burn(recs[len(recs)-1].LSN)
		}
		for i, off := 0, g.size; i < len(recs) && void.put(g.file, off) == nil; i++ {
			off += recs[i].size()
		}
	}
	s.mu.Lock()
	off := g.size
	for i := range recs {
		c := cellOf(off)
		if err == nil {
			recs[i].Pos = g.position(off)
			g.starts.set(c)
			g.live.set(c)
		}
		off += recs[i].size()
	}
	switch {
	case err == nil:
		s.live += g.grow(int64(len(buf)), int64(len(recs)))
		if g.kind == kindRecords {
			s.count(recs)
		}
	case undone:
		s.total -= int64(len(buf))
	default:
		g.size += int64(len(buf))
		s.seal(stream)
	}
	kick := s.worthCompacting()
	s.mu.Unlock()
	if err != nil {
		s.reap()
		return fmt.Errorf("spool: %s: %w", g.name, noRoom(err))
	}
	if kick {
		s.worker.wake()
	}
	return nil
}

// seal ends a stream's segment and drops it if nothing in it is needed. The
// caller holds mu and calls reap afterwards.
func (s *Spool) seal(stream **segment) {
	g := *stream
	if g == nil {
		return
	}
	*stream = nil
	g.sealed = true
	s.dropEmpty(g)
}

// dropEmpty forgets a segment of which nothing is needed. The caller holds mu.
func (s *Spool) dropEmpty(g *segment) {
	if g.gone || !g.sealed || g.pins > 0 || g.liveRecords > 0 {
		return
	}
	g.gone = true
	s.table.remove(g)
	delete(s.held, g.number)
	s.total -= g.size
	if g.readers == 0 {
		s.doomed = append(s.doomed, g)
	}
}

// unpin lets segments go. The caller holds mu.
func (s *Spool) unpin(list []*segment) {
	for _, g := range list {
		g.pins--
		s.dropEmpty(g)
	}
}

// unread ends a use of the file outside the lock. The caller holds mu.
func (s *Spool) unread(g *segment) {
	if g.readers--; g.readers == 0 && g.gone {
		s.doomed = append(s.doomed, g)
	}
}

// reap removes the files of dropped segments. What cannot be removed is tried
// again the next time; a restart knows that nothing in it is needed.
func (s *Spool) reap() {
	s.mu.Lock()
	list := s.doomed
	s.doomed = nil
	s.mu.Unlock()
	if len(list) == 0 {
		return
	}
	for _, g := range list {
		_ = g.file.Close() // nothing in it is needed
		err := s.st.remove(g.name)
		s.mu.Lock()
		s.unlisted = true
		if err != nil {
			s.doomed = append(s.doomed, g)
		} else {
			s.unpin(g.keeps)
		}
		s.mu.Unlock()
	}
}
