package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/tapedeck/tapedeck/internal/lru"
	"github.com/tapedeck/tapedeck/internal/store/rowfile"
)

const (
	// blockSize is what is read of an index file at once: all of a small one, and
	// of others the end with footer and filter.
	blockSize = 256 << 10
	// maxBlocks and maxFilters bound what is remembered of index files, in bytes.
	maxBlocks  = 16 << 20
	maxFilters = 16 << 20
)

// block names a part of an index file.
type block struct {
	name  string
	index int64
}

// blockReader reads an object in blocks that are remembered.
type blockReader struct {
	ctx    context.Context
	from   Reader
	object Object
	blocks *lru.Cache[block, []byte]
}

// ReadAt implements io.ReaderAt.
func (r *blockReader) ReadAt(p []byte, off int64) (int, error) {
	n := 0
	for n < len(p) {
		at := off + int64(n)
		if at >= r.object.Size {
			return n, io.EOF
		}
		data, err := r.block(at / blockSize)
		if err != nil {
			return n, err
		}
		within := at % blockSize
		if within >= int64(len(data)) {
			return n, io.ErrUnexpectedEOF
		}
		n += copy(p[n:], data[within:])
	}
	return n, nil
}

func (r *blockReader) block(i int64) ([]byte, error) {
	id := block{r.object.Name, i}
	if data, ok := r.blocks.Get(id); ok {
		return data, nil
	}
	from := i * blockSize
	data, err := r.from.GetRange(r.ctx, r.object.Name, from, min(blockSize, r.object.Size-from))
	if err != nil {
		return nil, err
	}
	r.blocks.Put(id, data)
	return data, nil
}

// parquetSegment reads a Parquet file.
type parquetSegment struct {
	x    *index
	name string
	file *rowfile.File
}

func (x *index) openParquet(ctx context.Context, f *indexFile) (segment, error) {
	file, err := rowfile.Open(&blockReader{ctx, f.from, f.Object, x.blocks}, f.Size)
	if err != nil {
		return nil, damagedFile(err)
	}
	return &parquetSegment{x, f.Name, file}, nil
}

func (s *parquetSegment) keys() ([]key, error) {
	found, err := s.file.Keys()
	if err != nil {
		return nil, s.tell(err)
	}
	keys := make([]key, len(found))
	for i, k := range found {
		keys[i] = key{k.ID, k.Micros, k.Kept, k.Part, k.Deleted}
	}
	return keys, nil
}

func (s *parquetSegment) match(conditions []rowfile.Condition) ([]bool, error) {
	if len(conditions) == 0 {
		return nil, nil
	}
	matches, err := s.file.Match(conditions)
	return matches, s.tell(err)
}

func (s *parquetSegment) find(id string) ([]int64, bool, error) {
	positions, kept, err := s.file.Find(id)
	return positions, kept, s.tell(err)
}

func (s *parquetSegment) rows(positions []int64, fn func(int64, *Entry) error) error {
	return s.tell(s.file.Rows(positions, fn))
}

// tell reports damage, which costs the file alone, and passes on other errors.
func (s *parquetSegment) tell(err error) error {
	if err = damagedFile(err); isDamaged(err) {
		s.x.damaged(s.name, err)
		return nil
	}
	return err
}

func (s *parquetSegment) lacks(id string) bool {
	filter, ok := s.x.filters.Get(s.name)
	if !ok {
		var err error
		if filter, err = s.file.Filter(); err != nil {
			return false
		}
		s.x.filters.Put(s.name, filter)
	}
	return filter != nil && !filter.Check(id)
}

// journalSegment is a journal, all of which is in memory.
type journalSegment struct{ entries []Entry }

func (s *journalSegment) keys() ([]key, error) {
	keys := make([]key, len(s.entries))
	for i := range s.entries {
		e := &s.entries[i]
		keys[i] = key{e.TraceID, parseTime(e.Decided).UnixMicro(), e.Kept, e.Part, e.Deleted}
	}
	return keys, nil
}

// match leaves it to whoever has the rows, which are in memory.
func (s *journalSegment) match([]rowfile.Condition) ([]bool, error) { return nil, nil }

func (s *journalSegment) find(id string) (positions []int64, kept bool, err error) {
	kept = true
	for i := range s.entries {
		if s.entries[i].TraceID == id {
			positions = append(positions, int64(i))
			kept = kept && s.entries[i].Kept
		}
	}
	return positions, kept, nil
}

func (s *journalSegment) rows(positions []int64, fn func(int64, *Entry) error) error {
	for _, at := range positions {
		if err := fn(at, &s.entries[at]); err != nil {
			return err
		}
	}
	return nil
}

func (s *journalSegment) lacks(id string) bool {
	return !slices.ContainsFunc(s.entries, func(e Entry) bool { return e.TraceID == id })
}

func isGone(err error) bool    { return errors.Is(err, ErrNotFound) }
func isDamaged(err error) bool { return errors.Is(err, ErrDamaged) }

// damagedFile gives an error about the format the sentinel of the store.
func damagedFile(err error) error {
	if errors.Is(err, rowfile.ErrFormat) {
		return fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return err
}
