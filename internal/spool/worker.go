package spool

import (
	"errors"
	"time"
)

// worker is the goroutine that a spool owns. It syncs, compacts, and does what
// must not be done under the locks of a caller.
type worker struct {
	kick, stop, done chan struct{}
}

func (w *worker) wake() {
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

func (s *Spool) startWorker() {
	s.worker = worker{kick: make(chan struct{}, 1), stop: make(chan struct{}), done: make(chan struct{})}
	go s.work()
}

func (s *Spool) stopWorker() {
	if s.worker.stop == nil {
		return
	}
	close(s.worker.stop)
	<-s.worker.done
}

func (s *Spool) work() {
	defer close(s.worker.done)
	var tick <-chan time.Time
	if s.cfg.SyncInterval > 0 {
		t := time.NewTicker(s.cfg.SyncInterval)
		defer t.Stop()
		tick = t.C
	}
	for {
		synced := false
		select {
		case <-s.worker.stop:
			return
		case <-s.worker.kick:
		case <-tick:
			synced = true
		}
		// What fails here is counted where it fails, and is tried again.
		if synced {
			_ = s.Sync()
		}
		s.tidy()
		_ = s.Compact()
	}
}

// tidy drops segments still written to in which nothing is needed, and replaces
// a marks file that is behind.
func (s *Spool) tidy() {
	s.moving.Lock()
	s.sealEmpty(&s.copies)
	s.moving.Unlock()
	s.appending.Lock()
	s.sealEmpty(&s.head)
	s.appending.Unlock()
	s.reap()
	m := &s.marks
	m.mu.Lock()
	defer m.mu.Unlock()
	_ = s.marksReady()
}

func (s *Spool) sealEmpty(stream **segment) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := *stream; g != nil && g.liveRecords == 0 && g.size >= s.cfg.SegmentBytes/4 {
		s.seal(stream)
	}
}

// Sync makes all that was written so far survive a loss of power.
func (s *Spool) Sync() error {
	if s.isClosed() {
		return ErrClosed
	}
	return s.sync()
}

func (s *Spool) sync() error {
	err := errors.Join(s.syncSegments(), s.syncMarks(), s.syncNames())
	if err != nil {
		s.mu.Lock()
		s.stats.SyncErrors++
		s.mu.Unlock()
	}
	return err
}

func (s *Spool) syncSegments() error {
	type job struct {
		g    *segment
		size int64
	}
	var jobs []job
	s.mu.Lock()
	for g := range s.table.all {
		if g.size > g.synced || g.dirty {
			g.readers++
			g.dirty = false
			jobs = append(jobs, job{g, g.size})
		}
	}
	s.mu.Unlock()
	var errs []error
	for _, j := range jobs {
		err := j.g.file.Sync()
		if err != nil {
			errs = append(errs, err)
		}
		s.mu.Lock()
		if err == nil {
			j.g.synced = j.size
		} else {
			j.g.dirty = true
		}
		s.unread(j.g)
		s.mu.Unlock()
	}
	s.reap()
	return errors.Join(errs...)
}

// syncMarks does not hold the lock while the disk works. Should the file be
// replaced meanwhile, the new one was synced before.
func (s *Spool) syncMarks() error {
	m := &s.marks
	m.mu.Lock()
	f, size, number := m.file, m.size, m.number
	clean := f == nil || size == m.synced
	m.mu.Unlock()
	if clean {
		return nil
	}
	err := f.Sync()
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.number != number {
		return nil
	}
	if err == nil {
		m.synced = size
	}
	return err
}

func (s *Spool) syncNames() error {
	s.mu.Lock()
	dirty := s.unlisted
	s.unlisted = false
	s.mu.Unlock()
	if !dirty {
		return nil
	}
	err := s.st.sync()
	if err != nil {
		s.mu.Lock()
		s.unlisted = true
		s.mu.Unlock()
	}
	return err
}

// Close syncs and releases everything. A directory can be opened again. It must
// not be called with a lock held that OnMove takes.
func (s *Spool) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return ErrClosed
	}
	s.closed = true
	s.mu.Unlock()
	s.stopWorker()
	// Whoever had begun is let finish.
	s.moving.Lock()
	defer s.moving.Unlock()
	s.appending.Lock()
	defer s.appending.Unlock()
	s.tellLast()
	var err error
	if s.cfg.SyncInterval > 0 {
		err = s.sync()
	}
	s.reap()
	return errors.Join(err, s.closeFiles())
}

func (s *Spool) closeFiles() error {
	m := &s.marks
	m.mu.Lock()
	defer m.mu.Unlock()
	var errs []error
	if m.file != nil {
		errs = append(errs, m.file.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for g := range s.table.all {
		errs = append(errs, g.file.Close())
	}
	s.table = table{slotBytes: s.table.slotBytes}
	return errors.Join(append(errs, s.st.close())...)
}
