package rowfile

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// ErrFormat says that something is no file of this format, or a damaged one.
var ErrFormat = errors.New("not an index file")

// Key is what tells which entries of a file matter.
type Key struct {
	// ID is the trace id in hex, as the file has it.
	ID string
	// Micros is the time of decision in microseconds since 1970, 0 when the file
	// has none.
	Micros              int64
	Kept, Part, Deleted bool
}

// File reads one file. It is safe for concurrent use when its source is.
type File struct {
	file *parquet.File
	// byLeaf has the column of each leaf of the file, nil for a foreign one.
	byLeaf []*column
	leaf   map[string]int
}

// Open reads the footer. The error is ErrFormat, or that of the source.
func Open(r io.ReaderAt, size int64) (f *File, err error) {
	src := &source{r: r, size: size}
	defer explain(&err)
	if err := checkFooter(src, size); err != nil {
		return nil, err
	}
	pf, err := parquet.OpenFile(src, size,
		parquet.SkipPageIndex(true),
		parquet.SkipBloomFilters(true),
		parquet.ReadBufferSize(readBuffer),
		parquet.OptimisticRead(false))
	if err != nil {
		return nil, err
	}
	if err := checkCodecs(pf); err != nil {
		return nil, err
	}
	f = &File{file: pf, leaf: map[string]int{}}
	for _, path := range pf.Schema().Columns() {
		leaf, _ := pf.Schema().Lookup(path...)
		c := columnByName[path[0]]
		if c != nil && !fits(leaf, c) {
			return nil, fmt.Errorf("column %s has another type", c.name)
		}
		f.byLeaf = append(f.byLeaf, c)
		if c != nil {
			f.leaf[c.name] = leaf.ColumnIndex
		}
	}
	if _, ok := f.leaf[traceIDColumn]; !ok {
		return nil, fmt.Errorf("column %s is missing", traceIDColumn)
	}
	return f, nil
}

// checkFooter keeps the library from making room for a footer longer than the
// file.
func checkFooter(r io.ReaderAt, size int64) error {
	var tail [8]byte
	if size < int64(len(tail)) {
		return fmt.Errorf("%d bytes", size)
	}
	if _, err := r.ReadAt(tail[:], size-int64(len(tail))); err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if n := int64(binary.LittleEndian.Uint32(tail[:4])); n > size-int64(len(tail)) {
		return fmt.Errorf("a footer of %d bytes in a file of %d", n, size)
	}
	return nil
}

// checkCodecs keeps out the codecs that unfold damaged pages without a bound. This
// package writes zstd.
func checkCodecs(pf *parquet.File) error {
	for _, group := range pf.Metadata().RowGroups {
		for i := range group.Columns {
			switch codec := group.Columns[i].MetaData.Codec; codec {
			case format.Zstd, format.Uncompressed:
			default:
				return fmt.Errorf("pages compressed with %v", codec)
			}
		}
	}
	return nil
}

// readBuffer serves the reads of one column.
const readBuffer = 8 << 10

// fits reports whether values of the file's column are what the column takes.
func fits(leaf parquet.LeafColumn, c *column) bool {
	want, ok := schema.Lookup(schemaPath(c)...)
	return ok && leaf.Node.Type().Kind() == want.Node.Type().Kind() &&
		leaf.MaxRepetitionLevel == want.MaxRepetitionLevel
}

func schemaPath(c *column) []string {
	if c.node.Leaf() {
		return []string{c.name}
	}
	return []string{c.name, "list", "element"}
}

// NumRows is how many entries the file has.
func (f *File) NumRows() int64 { return f.file.NumRows() }

// Rows shows the entries at the given positions, which must ascend; nil stands
// for all.
func (f *File) Rows(positions []int64, fn func(at int64, e *Entry) error) (err error) {
	defer explain(&err)
	var base int64
	for _, group := range f.file.RowGroups() {
		end := base + group.NumRows()
		var wanted []int64
		if positions != nil {
			n := 0
			for n < len(positions) && positions[n] < end {
				n++
			}
			wanted, positions = positions[:n], positions[n:]
			if n == 0 {
				base = end
				continue
			}
		}
		if err := f.groupRows(group, base, wanted, fn); err != nil {
			return err
		}
		base = end
	}
	return nil
}

func (f *File) groupRows(group parquet.RowGroup, base int64, wanted []int64, fn func(int64, *Entry) error) (err error) {
	rows := group.Rows()
	defer func() {
		if closeErr := rows.Close(); err == nil && closeErr != nil {
			err = closeErr
		}
	}()
	buffer := make([]parquet.Row, readBatch)
	var next int64
	for i := 0; ; {
		ask := len(buffer)
		if wanted != nil {
			if i == len(wanted) {
				return nil
			}
			if at := wanted[i] - base; at != next {
				if err := rows.SeekToRow(at); err != nil {
					return err
				}
				next = at
			}
			ask = 1
			for ask < len(buffer) && i+ask < len(wanted) && wanted[i+ask] == wanted[i]+int64(ask) {
				ask++
			}
		}
		n, err := rows.ReadRows(buffer[:ask])
		for j, row := range buffer[:n] {
			e := f.entry(row)
			if err := fn(base+next+int64(j), &e); err != nil {
				return stop{err}
			}
		}
		next += int64(n)
		i += n
		switch {
		case errors.Is(err, io.EOF) && (wanted == nil || i == len(wanted)):
			return nil
		case err != nil:
			return err
		case n == 0:
			return io.ErrNoProgress
		}
	}
}

const readBatch = 64

func (f *File) entry(row parquet.Row) Entry {
	var e Entry
	for _, v := range row {
		if i := v.Column(); !v.IsNull() && i >= 0 && i < len(f.byLeaf) && f.byLeaf[i] != nil {
			f.byLeaf[i].get(&e, v)
		}
	}
	return e
}

// stop carries an error of the caller past explain.
type stop struct{ error }

func (s stop) Unwrap() error { return s.error }
