package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/tapedeck/tapedeck/internal/lru"
	"github.com/tapedeck/tapedeck/internal/store/rowfile"
)

// OldRows is a file of the index of which rows are due to go.
type OldRows struct {
	Object
	// Hour is that in which the rows were decided.
	Hour time.Time
	// Rows are in the file, Old of them are due.
	Rows, Old int
	// Next is when the first of the others is due; zero is never.
	Next time.Time

	from Reader
}

// Due says when a row may go; the zero time is never.
type Due func(e *Entry) time.Time

// OldRows yields the Parquet files of hours that ended before a time, newest first,
// with the rows that are due by now. Files for which skip is true are not opened.
// Hours that still have a journal are left out.
func (s *Store) OldRows(ctx context.Context, before, now time.Time, due Due, skip func(name string) bool) iter.Seq2[OldRows, error] {
	return func(yield func(OldRows, error) bool) {
		for p, err := range s.index.partitions(ctx) {
			if err != nil {
				yield(OldRows{}, err)
				return
			}
			if p.hour.Add(time.Hour).After(before) || hasJournal(p) {
				continue
			}
			for i := range p.files {
				f := &p.files[i]
				if skip(f.Name) {
					continue
				}
				old := OldRows{Object: f.Object, Hour: p.hour, from: f.from}
				err := s.index.eachRow(ctx, &old, func(e *Entry) error {
					old.count(due(e), now)
					return nil
				})
				if isGone(err) {
					continue
				}
				if isDamaged(err) {
					s.damaged(f.Name, err)
					continue
				}
				if !yield(old, err) || err != nil {
					return
				}
			}
		}
	}
}

func hasJournal(p partition) bool {
	for i := range p.files {
		if !p.files[i].parquet() {
			return true
		}
	}
	return false
}

func (o *OldRows) count(due, now time.Time) {
	o.Rows++
	switch {
	case due.IsZero():
	case !due.After(now):
		o.Old++
	case o.Next.IsZero() || due.Before(o.Next):
		o.Next = due
	}
}

// DropRows takes the rows that are due out of a file: what stays is written to a new
// one, then the old one goes. It gives the name of the new one, "" when nothing
// stays.
func (s *Store) DropRows(ctx context.Context, old OldRows, now time.Time, due Due) (string, error) {
	var b bytes.Buffer
	w := rowfile.NewWriter(&b)
	left := 0
	err := s.index.eachRow(ctx, &old, func(e *Entry) error {
		if at := due(e); !at.IsZero() && !at.After(now) {
			return nil
		}
		left++
		return w.Write(e)
	})
	err = errors.Join(err, w.Close())
	if isGone(err) {
		// Another process was faster.
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("thin index %s: %w", old.Name, err)
	}
	name := ""
	if left > 0 {
		sum := sha256.Sum256(b.Bytes())
		name = mergedName(old.Hour, hex.EncodeToString(sum[:8]))
		if err := s.backend.Put(ctx, name, b.Bytes()); err != nil {
			return "", fmt.Errorf("thin index %s: %w", old.Name, err)
		}
	}
	if name == old.Name {
		return name, nil
	}
	return name, s.Remove(ctx, old.Object)
}

// eachRow reads a file a row at a time.
func (x *index) eachRow(ctx context.Context, f *OldRows, fn func(*Entry) error) error {
	file, err := rowfile.Open(&blockReader{ctx, f.from, f.Object, lru.New[block](2*blockSize, func(data []byte) int { return len(data) })}, f.Size)
	if err == nil {
		err = file.Rows(nil, func(_ int64, e *Entry) error { return fn(e) })
	}
	return damagedFile(err)
}
