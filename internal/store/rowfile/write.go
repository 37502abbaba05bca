package rowfile

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"
)

const (
	// rowGroup is how many rows are read or passed over as one.
	rowGroup = 20_000
	// filterBits for each trace id make a filter err once in 300 times.
	filterBits = 12
	// formatKey names the version of this format in the footer.
	formatKey, formatVersion = "tapedeck.index", "1"
)

// codec keeps encoders, which are large, for the next file.
var codec = &zstd.Codec{Level: zstd.SpeedDefault}

// newWriter makes a writer for each file: one that is used again forgets what the
// footer says beside the schema.
func newWriter(w io.Writer) *parquet.GenericWriter[any] {
	return parquet.NewGenericWriter[any](w, schema,
		parquet.Compression(codec),
		parquet.MaxRowsPerRowGroup(rowGroup),
		parquet.BloomFilters(parquet.SplitBlockFilter(filterBits, traceIDColumn)),
		parquet.SortingWriterConfig(parquet.SortingColumns(parquet.Ascending(decidedColumn), parquet.Ascending(traceIDColumn))),
		// No build in it: the bytes of a file come from its entries alone.
		parquet.CreatedBy("tapedeck", formatVersion, "index"),
		parquet.KeyValueMetadata(formatKey, formatVersion),
	)
}

// Writer writes one file. Entries must come in the order of [Compare].
type Writer struct {
	w    *parquet.GenericWriter[any]
	rows []parquet.Row
	n    int
}

// NewWriter starts a file. Close it also after an error.
func NewWriter(w io.Writer) *Writer {
	return &Writer{w: newWriter(w)}
}

// batch is how many rows are handed to the columns together.
const batch = 256

// Write adds an entry.
func (w *Writer) Write(e *Entry) error {
	if w.n == len(w.rows) {
		w.rows = append(w.rows, make(parquet.Row, 0, len(columns)+8))
	}
	row := w.rows[w.n][:0]
	for i := range columns {
		row = columns[i].put(row, i, e)
	}
	w.rows[w.n] = row
	if w.n++; w.n < batch {
		return nil
	}
	return w.hand()
}

func (w *Writer) hand() error {
	_, err := w.w.WriteRows(w.rows[:w.n])
	w.n = 0
	if err != nil {
		return fmt.Errorf("write rows: %w", err)
	}
	return nil
}

// Close writes what is left and the footer.
func (w *Writer) Close() error {
	err := w.hand()
	if closeErr := w.w.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("write footer: %w", closeErr)
	}
	return err
}

// Sort puts entries in the order of a file.
func Sort(entries []Entry) {
	type keyed struct {
		at time.Time
		e  Entry
	}
	list := make([]keyed, len(entries))
	for i, e := range entries {
		list[i] = keyed{timeOf(e.Decided), e}
	}
	slices.SortStableFunc(list, func(a, b keyed) int { return compare(a.at, b.at, &a.e, &b.e) })
	for i := range list {
		entries[i] = list[i].e
	}
}

// Compare orders entries by decision, then by trace id, then by what tells two
// entries of one run apart.
func Compare(a, b *Entry) int {
	return compare(timeOf(a.Decided), timeOf(b.Decided), a, b)
}

func compare(atA, atB time.Time, a, b *Entry) int {
	if n := atA.Compare(atB); n != 0 {
		return n
	}
	if n := strings.Compare(a.TraceID, b.TraceID); n != 0 {
		return n
	}
	return strings.Compare(a.Fragment, b.Fragment)
}

func timeOf(s string) time.Time {
	t, _ := time.Parse(time.RFC3339Nano, s)
	return t
}
