package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tapedeck/tapedeck/tape"
)

// Row is the row of a run. The error is ErrNotFound when there is none or it was
// deleted. What is read of an hour that has nothing of the run is a filter a file,
// which is remembered.
func (s *Store) Row(ctx context.Context, traceID string) (tape.Row, error) {
	id, err := ParseTraceID(traceID)
	if err != nil {
		return tape.Row{}, err
	}
	entries, err := s.index.lookup(ctx, id, time.Time{})
	if err != nil {
		return tape.Row{}, err
	}
	if row, ok := mergeEntries(entries); ok {
		return row, nil
	}
	return tape.Row{}, fmt.Errorf("row of %s: %w", id, ErrNotFound)
}

// Decided is when a run that may have been decided up to a day ago was: the time
// under which more that is stored of it belongs into the index. It is the present
// when the index knows no row of it.
func (s *Store) Decided(ctx context.Context, traceID string) (time.Time, error) {
	id, err := ParseTraceID(traceID)
	if err != nil {
		return time.Time{}, err
	}
	now := s.now()
	entries, err := s.index.lookup(ctx, id, now.Add(-decidedReach))
	if err != nil {
		return time.Time{}, err
	}
	row, ok := mergeEntries(slices.DeleteFunc(entries, func(e Entry) bool { return e.Part }))
	if at := parseTime(row.Decided); ok && !at.IsZero() {
		return at, nil
	}
	return now, nil
}

// decidedReach bounds what is read to find the row of a late span.
const decidedReach = 24 * time.Hour

// lookup reads the entries of one run from the newest hour that has any and those
// within reach of it, back to the hour of since.
func (x *index) lookup(ctx context.Context, id string, since time.Time) ([]Entry, error) {
	var found []Entry
	var first time.Time
	for p, err := range x.partitions(ctx) {
		if err != nil {
			return nil, err
		}
		if !first.IsZero() && first.Sub(p.hour) > reach || p.hour.Add(time.Hour).Before(since) {
			break
		}
		// The hours of a day are listed together, so they are looked into together.
		if len(p.day) > 1 {
			if err := x.warm(ctx, p.day); err != nil {
				return nil, err
			}
		}
		entries, err := x.entriesOf(ctx, p, id)
		if err != nil {
			return nil, err
		}
		if len(entries) > 0 && first.IsZero() {
			first = p.hour
		}
		found = append(found, entries...)
	}
	return found, nil
}

func (x *index) entriesOf(ctx context.Context, p partition, id string) (found []Entry, err error) {
	err = x.readIf(ctx, p, func(f *indexFile) bool { return x.mayHold(ctx, f, id) }, func(segments []segment) error {
		found = nil
		for _, s := range segments {
			if s.lacks(id) {
				continue
			}
			positions, _, err := s.find(id)
			if err != nil {
				return err
			}
			if len(positions) == 0 {
				// The filter erred.
				continue
			}
			err = s.rows(positions, func(_ int64, e *Entry) error {
				found = append(found, *e)
				return nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return found, err
}

// mayHold asks what is remembered of a file, so that it need not be opened.
func (x *index) mayHold(ctx context.Context, f *indexFile, id string) bool {
	if !f.parquet() {
		return x.journals.mayHold(ctx, f, id)
	}
	filter, ok := x.filters.Get(f.Name)
	return !ok || filter == nil || filter.Check(id)
}

// warmers is how many filters are fetched at a time: a bucket answers each in
// milliseconds, but any number of them at once.
const warmers = 8

// warm fetches the filters of files.
func (x *index) warm(ctx context.Context, files []indexFile) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(warmers)
	for i := range files {
		f := &files[i]
		if _, ok := x.filters.Get(f.Name); ok || !f.parquet() {
			continue
		}
		g.Go(func() error {
			s, err := x.openParquet(ctx, f)
			if isGone(err) || isDamaged(err) {
				// Whoever reads the file will say so.
				return nil
			}
			if err == nil {
				s.lacks("")
			}
			return err
		})
	}
	return g.Wait()
}
