package spool

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Open reads what the directory holds, tells it to the callbacks of cfg, and
// makes the spool ready for more.
func Open(cfg Config) (*Spool, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	var st storage = newMemory()
	if cfg.Directory != "" {
		d, err := openDirectory(cfg.Directory)
		if err != nil {
			return nil, err
		}
		st = d
	}
	s, err := openOn(st, cfg)
	if err != nil {
		return nil, errors.Join(err, st.close())
	}
	s.startWorker()
	return s, nil
}

// openOn opens a spool on a storage, with a configuration that was checked, and
// without its worker.
func openOn(st storage, cfg Config) (*Spool, error) {
	s := &Spool{
		cfg:   cfg,
		st:    st,
		table: table{slotBytes: cfg.SegmentBytes},
		held:  map[uint64]struct{}{},
	}
	r := recovery{s: s, hurt: map[uint64]hurt{}}
	if err := r.run(); err != nil {
		for g := range s.table.all {
			err = errors.Join(err, g.file.Close())
		}
		if s.marks.file != nil {
			err = errors.Join(err, s.marks.file.Close())
		}
		return nil, err
	}
	return s, nil
}

// recovery finds out what a directory holds. Nobody else uses the spool yet, so
// that no lock is held.
type recovery struct {
	s    *Spool
	scan scanner

	records, copies []*segment
	// freed is what the marks file says of each segment, by number.
	freed map[uint64][]uint32
	// listed are the segments that the marks file names, if it is complete; of
	// those below listedTo any other was deleted.
	listed   map[uint64]bool
	listedTo uint64
	// groups are the records found in copies, by LSN.
	groups []group
	buf    []byte
	// hurt are by LSN, as long as they are found nowhere else.
	hurt map[uint64]hurt
	// balance says how many spans and log records there must be; found are those
	// that there are, or of which it is known that they are lost.
	balance balance
	found   uint64
}

func (r *recovery) run() error {
	names, err := r.s.st.list()
	if err != nil {
		return fmt.Errorf("spool: %w", err)
	}
	slices.Sort(names)
	stale, err := r.openMarks(names)
	if err != nil {
		return err
	}
	if err := r.openSegments(names); err != nil {
		return err
	}
	if err := r.tellMarks(); err != nil {
		return err
	}
	r.scanCopies()
	for _, g := range r.records {
		r.scanSegment(g)
	}
	r.deliverBefore(maxLSN)
	r.countLost()
	return r.finish(stale)
}

// number reads the number out of a file's name.
func number(name, suffix string) (uint64, bool) {
	digits, ok := strings.CutSuffix(name, suffix)
	if !ok {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 62)
	return n, err == nil && n > 0
}

// openSegments opens the segment files and gives them their place. Files whose
// header cannot be read are set aside, as nothing in them can be told from
// chance.
func (r *recovery) openSegments(names []string) error {
	s := r.s
	for _, name := range names {
		n, ok := number(name, segmentSuffix)
		if !ok {
			continue
		}
		s.nextNumber = max(s.nextNumber, n)
		if n < r.listedTo && !r.listed[n] {
			if err := s.st.remove(name); err != nil {
				return fmt.Errorf("spool: %w", err)
			}
			continue
		}
		f, h, size, err := r.openFile(name, n)
		if err != nil {
			return err
		}
		if f == nil {
			continue
		}
		g := &segment{fileHeader: h, name: name, file: f, size: size, synced: size, capacity: size, sealed: true}
		if err := s.table.put(g, size); err != nil {
			return errors.Join(fmt.Errorf("%s: %w", name, err), f.Close())
		}
		s.held[n] = struct{}{}
		s.total += size
		if h.kind == kindCopies {
			r.copies = append(r.copies, g)
		} else {
			r.records = append(r.records, g)
		}
	}
	return nil
}

// openFile opens a file and reads its header; it answers no file if it is
// damaged there and was set aside. One too short to hold anything is removed:
// it was being made when the process ended.
func (r *recovery) openFile(name string, n uint64) (file, fileHeader, int64, error) {
	st := r.s.st
	fail := func(err error) (file, fileHeader, int64, error) { return nil, fileHeader{}, 0, err }
	f, err := st.open(name)
	if err != nil {
		return fail(fmt.Errorf("spool: %w", err))
	}
	size, err := f.size()
	if err != nil {
		return fail(errors.Join(fmt.Errorf("spool: %s: %w", name, err), f.Close()))
	}
	h, err := readHeader(f, name)
	if err == nil && (h.number != n || fileName(h.kind, h.number) != name) {
		err = fmt.Errorf("%w: %s is not the file that its header names", errNoHeader, name)
	}
	if err == nil {
		return f, h, size, nil
	}
	if cerr := f.Close(); cerr != nil || !errors.Is(err, errNoHeader) {
		return fail(errors.Join(err, cerr))
	}
	if size > 0 {
		r.s.stats.Damage.Regions++
		r.s.stats.Damage.Bytes += size
	}
	if size <= dataStart {
		err = st.remove(name)
	} else {
		err = st.rename(name, name+damagedSuffix)
	}
	if err != nil {
		err = fmt.Errorf("spool: %w", err)
	}
	return fail(err)
}

// countLost tells what should be there and is not.
func (r *recovery) countLost() {
	d := &r.s.stats.Damage
	for _, h := range r.hurt {
		d.lose(&h.Record)
		r.found += h.items()
	}
	d.Missing += r.balance.missing(r.s.lsn.Load(), r.found)
}

// forgetHurt makes records void that were counted as lost, so that no later start
// counts them again: now that a marks file is there which does not count on them.
func (r *recovery) forgetHurt() {
	for _, h := range r.hurt {
		// Where it fails they are told of once more.
		_ = void.put(h.in.file, h.off)
		h.in.dirty = true
	}
}

// finish writes the state that was found to a marks file of its own, without
// which the next kill would not see what this start has settled, and removes
// what is no longer needed.
func (r *recovery) finish(stale []string) error {
	s := r.s
	for _, g := range append(r.records, r.copies...) {
		g.recount()
		s.live += g.liveBytes
		s.dropEmpty(g)
	}
	if s.st.durable() {
		if err := s.replaceMarks(); err != nil {
			// On a full disk it has to wait until something was freed.
			if !errors.Is(err, ErrFull) || s.marks.file == nil {
				return err
			}
			s.marks.behind.Store(true)
		} else {
			r.forgetHurt()
		}
	}
	s.reap()
	for _, name := range stale {
		if err := s.st.remove(name); err != nil {
			return fmt.Errorf("spool: %w", err)
		}
	}
	return nil
}
