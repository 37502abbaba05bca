package spool

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
)

// marks is the file of marks and of what was freed. A spool whose storage
// nobody will read again has none.
type marks struct {
	mu sync.Mutex
	fileHeader
	name         string
	file         file
	size, synced int64
	// index has the place of every mark that holds; live is what those take.
	index map[ID]markRef
	live  int64
	// rest is what the file took beside marks when it was new. It is replaced
	// by a new one once it is twice what that would be, but not before a size
	// that puts off another try after one that failed.
	rest, notBefore int64
	// heldAt is where the file says how many are held, 0 when it does not.
	heldAt int64
	// known is the damage to the file that was counted.
	known Damage
	// behind says that something could not be written, so that only a new file,
	// written out of what is in memory, tells all.
	behind atomic.Bool

	buf       []byte
	positions []Position
	cells     []uint32
	freed     []place
}

// markRef is the place of a mark, in units of entryAlign.
type markRef struct{ off, size uint32 }

// maxMarksFile is where the offsets of markRef end.
const maxMarksFile = int64(entryAlign) << 32

// Mark keeps a few bytes about a run, in place of those kept before, until
// Unmark. They are given to Config.OnMark after a restart.
func (s *Spool) Mark(id ID, mark []byte) error {
	if len(mark) > MaxExtra {
		return fmt.Errorf("%w: mark of %d bytes", ErrTooLarge, len(mark))
	}
	m := &s.marks
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := s.marksReady(); err != nil || m.file == nil {
		return err
	}
	m.buf = append(append(beginEntry(m.buf[:0]), id[:]...), mark...)
	m.buf = endEntry(m.buf, 0, entryMark, s.lsn.Load(), m.salt)
	off := m.size
	if err := s.writeMarks(); err != nil {
		return err
	}
	m.live += int64(len(m.buf)) - int64(m.index[id].size)*entryAlign
	m.index[id] = markRef{off: uint32(off / entryAlign), size: uint32(len(m.buf) / entryAlign)}
	s.tellMarks()
	return nil
}

// Unmark forgets the marks of runs. It needs no room: a mark that stayed would say
// of what comes in later what was true before.
func (s *Spool) Unmark(ids ...ID) error {
	m := &s.marks
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := s.marksReady(); err != nil || m.file == nil {
		return err
	}
	m.buf = m.buf[:0]
	for part := range slices.Chunk(ids, MaxExtra/idSize) {
		from := len(m.buf)
		m.buf = beginEntry(m.buf)
		for i := range part {
			m.buf = append(m.buf, part[i][:]...)
		}
		m.buf = endEntry(m.buf, from, entryUnmark, s.lsn.Load(), m.salt)
	}
	if err := s.writeMarks(); err != nil {
		if over := s.unmarkInPlace(ids); over != nil {
			return errors.Join(err, over)
		}
	}
	for _, id := range ids {
		m.live -= int64(m.index[id].size) * entryAlign
		delete(m.index, id)
	}
	s.tellMarks()
	return nil
}

// unmarkInPlace writes over the marks themselves: each then forgets its run, as a mark
// that it had replaced stands before it.
func (s *Spool) unmarkInPlace(ids []ID) error {
	m := &s.marks
	for _, id := range ids {
		ref, ok := m.index[id]
		if !ok {
			continue
		}
		off := int64(ref.off) * entryAlign
		if _, err := m.file.WriteAt([]byte(takenBack), off); err != nil {
			return fmt.Errorf("spool: %s: %w", m.name, noRoom(err))
		}
		// What was synced before has changed.
		m.synced = min(m.synced, off)
	}
	return nil
}

// marksReady prepares a write to the marks file: what is behind must be made
// good first, so that a later entry never tells without an earlier one.
func (s *Spool) marksReady() error {
	if s.isClosed() {
		return ErrClosed
	}
	m := &s.marks
	if m.file == nil {
		return nil
	}
	if m.behind.Load() {
		return s.replaceMarks()
	}
	// A failure is no reason to refuse what the old file still takes.
	if s.marksDue() && s.replaceMarks() != nil {
		m.notBefore = m.size + s.marksGrain()
	}
	return nil
}

func (s *Spool) marksDue() bool {
	m := &s.marks
	return m.size >= max(2*(m.live+m.rest)+s.marksGrain(), m.notBefore)
}

// marksGrain is what a marks file may grow by however little it holds.
func (s *Spool) marksGrain() int64 { return min(1<<20, s.cfg.SegmentBytes/2) }

// writeMarks appends what is in buf, or nothing at all.
func (s *Spool) writeMarks() error {
	m := &s.marks
	n := int64(len(m.buf))
	if m.size+n > maxMarksFile {
		return fmt.Errorf("%w: %s", ErrFull, m.name)
	}
	if err := s.take(n); err != nil {
		return err
	}
	if _, err := m.file.WriteAt(m.buf, m.size); err != nil {
		s.take(-n) //nolint:errcheck // giving back never fails
		s.countMarkError()
		if m.file.Truncate(m.size) != nil {
			// Whole entries may stand there of a call that is about to fail.
			// Writing over them needs no room, and what is not there no writing.
			_, _ = m.file.WriteAt(make([]byte, n), m.size)
			m.behind.Store(true)
		}
		return fmt.Errorf("spool: %s: %w", m.name, noRoom(err))
	}
	m.size += n
	return nil
}

// take counts bytes that are about to be written, or gives them back.
func (s *Spool) take(n int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n > 0 && s.total+n > s.cfg.MaxBytes {
		return fmt.Errorf("%w: %d of %d bytes are held", ErrFull, s.total, s.cfg.MaxBytes)
	}
	s.total += n
	return nil
}

func (s *Spool) countMarkError() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.MarkErrors++
}

func (s *Spool) tellMarks() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.markLive = s.marks.live
	s.stats.Marks = int64(len(s.marks.index))
}

// replaceMarks writes a new marks file out of the marks that hold and the state
// of all segments, and removes the old one.
func (s *Spool) replaceMarks() error {
	m := &s.marks
	// Whatever falls behind from now on may be too late for the new file.
	behind := m.behind.Swap(false)
	w := marksWriter{s: s}
	err := w.write()
	if err != nil {
		if behind {
			m.behind.Store(true)
		}
		s.countMarkError()
		return err
	}
	old, oldName, oldSize := m.file, m.name, m.size
	m.fileHeader, m.name, m.file, m.size, m.synced = w.fileHeader, w.name, w.file, w.size, 0
	m.index, m.heldAt, m.known = w.index, w.heldAt, Damage{}
	m.rest, m.notBefore = m.size-m.live, 0
	s.take(-oldSize) //nolint:errcheck // giving back never fails
	s.tellMarks()
	if old != nil {
		// Should the old file stay, the next Open prefers the newer one.
		_ = old.Close()
		_ = s.st.remove(oldName)
	}
	return nil
}
