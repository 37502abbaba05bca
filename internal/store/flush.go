package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tapedeck/tapedeck/internal/store/rowfile"
)

// add stores entries durably: in the journal where there is one, else in a Parquet
// file at once.
func (x *index) add(ctx context.Context, entries []Entry) error {
	// What this process adds, it sees at once.
	defer x.recently.forget()
	if x.journal != nil {
		return x.journal.add(ctx, entries)
	}
	byHour := map[time.Time][]Entry{}
	for _, e := range entries {
		hour := hourOf(parseTime(e.Decided))
		byHour[hour] = append(byHour[hour], e)
	}
	for hour, list := range byHour {
		x.naming.Lock()
		stem := stemOf(journalName(hour, x.writer, x.names.next(x.now())))
		x.naming.Unlock()
		if _, err := x.putRows(ctx, hour, stem, list); err != nil {
			return err
		}
	}
	return nil
}

// putRows writes entries as a Parquet file and gives its name.
func (x *index) putRows(ctx context.Context, hour time.Time, stem string, entries []Entry) (string, error) {
	rowfile.Sort(entries)
	var b bytes.Buffer
	w := rowfile.NewWriter(&b)
	var err error
	for i := range entries {
		if err = w.Write(&entries[i]); err != nil {
			break
		}
	}
	if err = errors.Join(err, w.Close()); err != nil {
		return "", fmt.Errorf("index of %s: %w", hour.Format(time.RFC3339), err)
	}
	name := snapshotName(hour, stem, len(entries))
	return name, x.backend.Put(ctx, name, b.Bytes())
}

// Flush writes the rows that are only in the journal of this store to Parquet
// files, where every reader of the store finds them. It is harmless at any time;
// with finish set it also closes the journals, as before an end of the process. It
// does so for tenants too.
func (s *Store) Flush(ctx context.Context, finish bool) error {
	var err error
	if s.index.journal != nil {
		err = s.index.flush(ctx, finish)
	}
	if s == s.tenants.root {
		err = errors.Join(err, s.tenants.each(func(t *Store, last bool) error { return t.Flush(ctx, finish || last) }))
	}
	return err
}

// job is a journal to be written to a Parquet file.
type job struct {
	*journalFile
	// size and rows are what it had when the job was made.
	size int64
	rows int
	// last: it takes no more rows and goes when they are written.
	last bool
}

func (x *index) flush(ctx context.Context, finish bool) error {
	x.flushing.Lock()
	defer x.flushing.Unlock()
	var errs []error
	for _, j := range x.journal.jobs(finish) {
		if err := x.flushOne(ctx, &j); err != nil {
			errs = append(errs, fmt.Errorf("write rows of %s: %w", j.name, err))
			if j.last {
				x.journal.again(j.journalFile)
			}
		}
	}
	return errors.Join(errs...)
}

// jobs are the journals with rows that are in no Parquet file, and those left.
func (j *journal) jobs(finish bool) []job {
	j.writing.Lock()
	defer j.writing.Unlock()
	for hour, file := range j.open {
		if finish || j.over(file) {
			j.leave(hour)
		}
	}
	var jobs []job
	for _, file := range j.left {
		jobs = append(jobs, job{file, file.size, file.rows, true})
	}
	j.left = nil
	for _, file := range j.open {
		if file.rows > file.shown {
			jobs = append(jobs, job{file, file.size, file.rows, false})
		}
	}
	return jobs
}

// again puts back a journal that could not be written.
func (j *journal) again(file *journalFile) {
	j.writing.Lock()
	defer j.writing.Unlock()
	j.left = append(j.left, file)
}

func (x *index) flushOne(ctx context.Context, j *job) error {
	if j.rows > j.shown {
		entries, err := x.readJournal(ctx, x.journal.to, j.name, j.size)
		if err != nil && !isGone(err) {
			return err
		}
		if len(entries) > 0 {
			hour, _ := hourOfFile(j.name)
			name, err := x.putRows(ctx, hour, stemOf(j.name), entries)
			if err != nil {
				return err
			}
			old := j.snapshot
			j.snapshot, j.shown = name, j.rows
			if old != "" && old != name {
				if err := x.backend.Delete(ctx, old); err != nil {
					return err
				}
			}
		}
	}
	if j.last {
		return x.journal.to.Delete(ctx, j.name)
	}
	return nil
}

// flushLeft writes journals whose writer is gone to Parquet files.
func (x *index) flushLeft(ctx context.Context) error {
	var errs []error
	for object, err := range x.journal.to.List(ctx, indexFolder) {
		if err != nil {
			return errors.Join(append(errs, fmt.Errorf("list journals: %w", err))...)
		}
		lease, ok := leaseOf(object.Name)
		if !ok || parquetName(object.Name) || x.journal.own(object.Name) || x.now().Before(lease) {
			continue
		}
		entries, err := x.readJournal(ctx, x.journal.to, object.Name, object.Size)
		if err == nil && len(entries) == 0 && object.Size > 0 {
			// Nothing of it can be read, and nothing is lost by leaving it.
			continue
		}
		if err == nil && len(entries) > 0 {
			hour, _ := hourOfFile(object.Name)
			_, err = x.putRows(ctx, hour, stemOf(object.Name), entries)
		}
		if err == nil {
			err = x.journal.to.Delete(ctx, object.Name)
		}
		if err != nil && !isGone(err) {
			errs = append(errs, fmt.Errorf("write rows of %s: %w", object.Name, err))
		}
	}
	return errors.Join(errs...)
}

// locks of the index that are held during writes.
type indexLocks struct {
	flushing sync.Mutex
	naming   sync.Mutex
}
