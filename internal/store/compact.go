package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"slices"
	"time"

	"github.com/tapedeck/tapedeck/internal/store/rowfile"
)

const (
	// settled is how long after its end an hour is left alone: by then its rows are
	// written.
	settled = 15 * time.Minute
	// compactReach is how far back hours are looked for that can be compacted.
	compactReach = 48 * time.Hour
	// maxMergedRows bounds the file that others are merged into.
	maxMergedRows = 250_000
)

// Compact merges the files of each finished hour into one. Any number of
// processes may do so at a time: the merged file is named after its content,
// inputs are deleted only once it is there, and readers take rows that they find
// twice for one.
func (s *Store) Compact(ctx context.Context) error {
	var errs []error
	now := s.now()
	for p, err := range s.index.partitions(ctx) {
		if err != nil {
			return errors.Join(append(errs, err)...)
		}
		if p.hour.Before(now.Add(-compactReach)) {
			break
		}
		if p.hour.Add(time.Hour + settled).After(now) {
			continue
		}
		if err := s.index.compact(ctx, p); err != nil && !isGone(err) {
			errs = append(errs, fmt.Errorf("compact index of %s: %w", p.hour.Format(time.RFC3339), err))
		}
	}
	return errors.Join(errs...)
}

// input is a file to be merged.
type input struct {
	name string
	file *rowfile.File
}

func (x *index) compact(ctx context.Context, p partition) error {
	inputs, err := x.inputs(ctx, p)
	if err != nil || len(inputs) < 2 {
		return err
	}
	var b bytes.Buffer
	w := rowfile.NewWriter(&b)
	err = merge(inputs, w.Write)
	if err = errors.Join(err, w.Close()); err != nil {
		return err
	}
	sum := sha256.Sum256(b.Bytes())
	merged := mergedName(p.hour, hex.EncodeToString(sum[:8]))
	if err := x.backend.Put(ctx, merged, b.Bytes()); err != nil {
		return err
	}
	for _, in := range inputs {
		if in.name == merged {
			continue
		}
		if err := x.backend.Delete(ctx, in.name); err != nil {
			return err
		}
	}
	return nil
}

// inputs opens the Parquet files of an hour, the small ones first and as many as
// fit in one. A damaged file is left as it is.
func (x *index) inputs(ctx context.Context, p partition) ([]input, error) {
	files := slices.DeleteFunc(slices.Clone(p.files), func(f indexFile) bool { return !f.parquet() })
	if len(files) < 2 {
		return nil, nil
	}
	slices.SortFunc(files, func(a, b indexFile) int {
		if a.Size != b.Size {
			return int(a.Size - b.Size)
		}
		return oldestFirst(a, b)
	})
	var inputs []input
	var rows int64
	for i := range files {
		f := &files[i]
		file, err := rowfile.Open(&blockReader{ctx, f.from, f.Object, x.blocks}, f.Size)
		if err = damagedFile(err); isDamaged(err) {
			x.damaged(f.Name, err)
			continue
		}
		if err != nil {
			return nil, err
		}
		if rows += file.NumRows(); rows > maxMergedRows {
			break
		}
		inputs = append(inputs, input{f.Name, file})
	}
	return inputs, nil
}

// merge writes the entries of all inputs in their order, each once. It holds one
// entry and the page buffers of each input.
func merge(inputs []input, write func(*Entry) error) error {
	type head struct {
		next func() (*Entry, error, bool)
		e    *Entry
	}
	var heads []*head
	for _, in := range inputs {
		next, stop := iter.Pull2(entriesIn(in.file))
		defer stop()
		heads = append(heads, &head{next: next})
	}
	advance := func(h *head) error {
		e, err, ok := h.next()
		if !ok {
			e = nil
		}
		h.e = e
		return err
	}
	for _, h := range heads {
		if err := advance(h); err != nil {
			return err
		}
	}
	// written are those that compare equal to the next.
	var written []Entry
	for {
		var least *head
		for _, h := range heads {
			if h.e != nil && (least == nil || rowfile.Compare(h.e, least.e) < 0) {
				least = h
			}
		}
		if least == nil {
			return nil
		}
		if len(written) > 0 && rowfile.Compare(&written[0], least.e) != 0 {
			written = written[:0]
		}
		if !slices.ContainsFunc(written, func(e Entry) bool { return reflect.DeepEqual(e, *least.e) }) {
			if err := write(least.e); err != nil {
				return err
			}
			written = append(written, *least.e)
		}
		if err := advance(least); err != nil {
			return err
		}
	}
}

var errStopped = errors.New("stopped")

// entriesIn yields the entries of a file, and last an error when there is one.
func entriesIn(f *rowfile.File) iter.Seq2[*Entry, error] {
	return func(yield func(*Entry, error) bool) {
		err := f.Rows(nil, func(_ int64, e *Entry) error {
			if !yield(e, nil) {
				return errStopped
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStopped) {
			yield(nil, err)
		}
	}
}
