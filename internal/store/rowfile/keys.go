package rowfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/bloom"
)

// Keys reads the keys of all entries, in the order of their positions.
func (f *File) Keys() (keys []Key, err error) {
	defer explain(&err)
	for _, group := range f.file.RowGroups() {
		from := len(keys)
		// The ids of a group share one text.
		var text []byte
		var ends []int
		err := f.column(group, traceIDColumn, func(_ int, v parquet.Value) {
			text = append(text, v.ByteArray()...)
			ends = append(ends, len(text))
		})
		if err != nil {
			return nil, err
		}
		keys = slices.Grow(keys, len(ends))
		ids, begin := string(text), 0
		for _, end := range ends {
			keys = append(keys, Key{ID: ids[begin:end]})
			begin = end
		}
		rows := keys[from:]
		for name, set := range keyMembers {
			err := f.column(group, name, func(i int, v parquet.Value) {
				if i < len(rows) && !v.IsNull() {
					set(&rows[i], v)
				}
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return keys, nil
}

// Find gives the positions of the entries of a run, and whether all of them are of
// what was kept. It reads the column of the ids, and where there are any that of what
// was kept.
func (f *File) Find(id string) (positions []int64, kept bool, err error) {
	defer explain(&err)
	var base int64
	kept = true
	for _, group := range f.file.RowGroups() {
		err := f.column(group, traceIDColumn, func(i int, v parquet.Value) {
			if string(v.ByteArray()) == id {
				positions = append(positions, base+int64(i))
			}
		})
		if err != nil {
			return nil, false, err
		}
		if n := len(positions); n > 0 && positions[n-1] >= base {
			err := f.column(group, keptColumn, func(i int, v parquet.Value) {
				if slices.Contains(positions, base+int64(i)) {
					kept = kept && v.Boolean()
				}
			})
			if err != nil {
				return nil, false, err
			}
		}
		base += group.NumRows()
	}
	return positions, kept, nil
}

var keyMembers = map[string]func(*Key, parquet.Value){
	decidedColumn: func(k *Key, v parquet.Value) { k.Micros = v.Int64() },
	keptColumn:    func(k *Key, v parquet.Value) { k.Kept = v.Boolean() },
	partColumn:    func(k *Key, v parquet.Value) { k.Part = v.Boolean() },
	deletedColumn: func(k *Key, v parquet.Value) { k.Deleted = v.Boolean() },
}

// column shows the values of one column of a row group, none when the file lacks
// it. A value is good only within the call.
func (f *File) column(group parquet.RowGroup, name string, fn func(i int, v parquet.Value)) (err error) {
	leaf, ok := f.leaf[name]
	if !ok {
		return nil
	}
	pages := group.ColumnChunks()[leaf].Pages()
	defer func() {
		if closeErr := pages.Close(); err == nil && closeErr != nil {
			err = closeErr
		}
	}()
	var buffer [128]parquet.Value
	for i := 0; ; {
		page, err := pages.ReadPage()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		values := page.Values()
		for {
			n, err := values.ReadValues(buffer[:])
			for _, v := range buffer[:n] {
				fn(i, v)
				i++
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return err
			}
			if n == 0 {
				return io.ErrNoProgress
			}
		}
		parquet.Release(page)
	}
}

// Filter tells which trace ids a file cannot hold.
type Filter struct {
	groups [][]byte
}

// Filter reads the bloom filters of the trace ids, nil when the file has none.
func (f *File) Filter() (filter *Filter, err error) {
	defer explain(&err)
	filter = &Filter{}
	for _, group := range f.file.RowGroups() {
		b := group.ColumnChunks()[f.leaf[traceIDColumn]].BloomFilter()
		if b == nil {
			return nil, nil
		}
		size := b.Size()
		if size <= 0 || size%bloom.BlockSize != 0 || size > f.file.Size() {
			return nil, fmt.Errorf("a bloom filter of %d bytes", size)
		}
		bits := make([]byte, size)
		if _, err := b.ReadAt(bits, 0); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
		filter.groups = append(filter.groups, bits)
	}
	return filter, nil
}

// Size is the memory of the filter in bytes.
func (f *Filter) Size() int {
	if f == nil {
		return 0
	}
	n := 0
	for _, bits := range f.groups {
		n += len(bits)
	}
	return n
}

// Check reports false when the file does not hold the trace id for certain.
func (f *Filter) Check(id string) bool {
	hash := bloom.XXH64{}.Sum64([]byte(id))
	for _, bits := range f.groups {
		if ok, err := bloom.CheckSplitBlock(bytes.NewReader(bits), int64(len(bits)), hash); ok || err != nil {
			return true
		}
	}
	return false
}
