package spool

import (
	"encoding/binary"
	"fmt"
)

// marksWriter writes a marks file anew. The caller holds the lock of marks, so
// that nothing is marked or freed meanwhile.
type marksWriter struct {
	s *Spool
	fileHeader
	name  string
	file  file
	size  int64
	buf   []byte
	index map[ID]markRef
	// heldAt is where it says how many are held.
	heldAt int64
}

// marksFlush is how much is gathered for one write.
const marksFlush = 256 << 10

func (w *marksWriter) write() (err error) {
	w.s.mu.Lock()
	w.s.nextNumber++
	number := w.s.nextNumber
	w.s.mu.Unlock()
	if err := w.s.take(dataStart); err != nil {
		return err
	}
	w.size = dataStart
	defer func() {
		if err != nil {
			w.abandon()
		}
	}()
	w.file, w.fileHeader, err = newFile(w.s.st, kindMarks, number)
	if err != nil {
		return err
	}
	w.name = fileName(kindMarks, number)
	if err := w.copyMarks(); err != nil {
		return err
	}
	if err := w.writeSegments(); err != nil {
		return err
	}
	if err := w.flush(0); err != nil {
		return err
	}
	if w.s.cfg.SyncInterval == 0 {
		return nil
	}
	if err := w.file.Sync(); err != nil {
		return fmt.Errorf("spool: %s: %w", w.name, err)
	}
	if err := w.s.st.sync(); err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	return nil
}

// abandon removes what was written. Should that fail, the file is incomplete
// and the next Open passes it over.
func (w *marksWriter) abandon() {
	if w.file != nil {
		_ = w.file.Close()
		_ = w.s.st.remove(w.name)
	}
	w.s.take(-w.size) //nolint:errcheck // giving back never fails
}

// copyMarks takes over the marks that hold out of the old file. One that became
// unreadable there is lost, and counted.
func (w *marksWriter) copyMarks() error {
	m := &w.s.marks
	w.index = make(map[ID]markRef, len(m.index))
	if len(m.index) == 0 {
		return nil
	}
	var c scanner
	c.use(m.file, m.size)
	var failed error
	var live int64
	damage := c.scanEntries(m.salt, func(e *entry, off int64) {
		if failed != nil || e.kind != entryMark || len(e.body) < idSize {
			return
		}
		id := ID(e.body)
		if ref, ok := m.index[id]; !ok || int64(ref.off)*entryAlign != off {
			return
		}
		w.index[id] = markRef{off: uint32((w.size + int64(len(w.buf))) / entryAlign), size: uint32(e.size / entryAlign)}
		live += e.size
		from := len(w.buf)
		w.buf = endEntry(append(beginEntry(w.buf), e.body...), from, entryMark, e.lsn, w.salt)
		failed = w.flush(marksFlush)
	})
	if failed != nil {
		return failed
	}
	m.live = live
	w.s.mu.Lock()
	w.s.stats.Damage.Regions += max(0, damage.Regions-m.known.Regions)
	w.s.stats.Damage.Bytes += max(0, damage.Bytes-m.known.Bytes)
	w.s.mu.Unlock()
	m.known = damage
	return nil
}

// writeSegments says what is dead in each segment, and last which there are. A
// segment begun after the list was drawn up has a number beyond it.
func (w *marksWriter) writeSegments() error {
	s := w.s
	s.mu.Lock()
	items, lsn := s.holding()
	list := binary.LittleEndian.AppendUint64(nil, s.nextNumber+1)
	if len(s.held) <= maxNumbers {
		for number := range s.held {
			list = binary.LittleEndian.AppendUint64(list, number)
		}
	} else {
		list = binary.LittleEndian.AppendUint64(nil, 0)
	}
	var segments []*segment
	for g := range s.table.all {
		segments = append(segments, g)
	}
	s.mu.Unlock()
	var cells []uint32
	for _, g := range segments {
		s.mu.Lock()
		cells = g.freed(cells[:0])
		s.mu.Unlock()
		w.buf = appendCells(w.buf, g.number, cells, lsn, w.salt)
		if err := w.flush(marksFlush); err != nil {
			return err
		}
	}
	w.heldAt = w.size + int64(len(w.buf))
	w.buf = appendItems(w.buf, entryHeld, items, lsn, w.salt)
	from := len(w.buf)
	w.buf = endEntry(append(beginEntry(w.buf), list...), from, entrySegments, lsn, w.salt)
	return nil
}

// flush writes what was gathered if it is at least some size.
func (w *marksWriter) flush(least int) error {
	n := int64(len(w.buf))
	if n < int64(least) || n == 0 {
		return nil
	}
	if w.size+n > maxMarksFile {
		return fmt.Errorf("%w: %s", ErrFull, w.name)
	}
	if err := w.s.take(n); err != nil {
		return err
	}
	if _, err := w.file.WriteAt(w.buf, w.size); err != nil {
		w.s.take(-n) //nolint:errcheck // giving back never fails
		return fmt.Errorf("spool: %s: %w", w.name, noRoom(err))
	}
	w.size += n
	w.buf = w.buf[:0]
	return nil
}
