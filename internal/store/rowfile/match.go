package rowfile

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/parquet-go/parquet-go"
)

// Condition holds for an entry when any of the columns has any of the values. The
// columns are texts.
type Condition struct {
	Columns []string
	Values  []string
}

// maxMatched bounds the rows of a file as its footer counts them, which may be anybody's.
const maxMatched = 1 << 24

// Match says of each entry, by its position, whether all conditions hold. It reads the
// columns of the conditions, and of a row group whose least and greatest values shut
// all values out not even those.
func (f *File) Match(conditions []Condition) (matches []bool, err error) {
	defer explain(&err)
	for g, group := range f.file.RowGroups() {
		n := group.NumRows()
		if n < 0 || n > maxMatched-int64(len(matches)) {
			return nil, fmt.Errorf("a row group of %d rows", n)
		}
		rows := make([]bool, n)
		for i := range rows {
			rows[i] = true
		}
		for _, c := range conditions {
			if err := f.match(g, group, c, rows); err != nil {
				return nil, err
			}
		}
		matches = append(matches, rows...)
	}
	return matches, nil
}

// match takes away the rows of a group for which the condition does not hold.
func (f *File) match(g int, group parquet.RowGroup, c Condition, rows []bool) error {
	holds := make([]bool, len(rows))
	values := make([][]byte, len(c.Values))
	for i, v := range c.Values {
		values[i] = []byte(v)
	}
	for _, name := range c.Columns {
		if f.shutsOut(g, name, values) {
			continue
		}
		err := f.column(group, name, func(i int, v parquet.Value) {
			if i < len(holds) && !holds[i] {
				// What is NULL is an empty text.
				text := v.ByteArray()
				holds[i] = slices.ContainsFunc(values, func(want []byte) bool { return bytes.Equal(want, text) })
			}
		})
		if err != nil {
			return err
		}
	}
	for i := range rows {
		rows[i] = rows[i] && holds[i]
	}
	return nil
}

// shutsOut reports that no value of a column of a row group can be among the values,
// by the statistics in the footer.
func (f *File) shutsOut(g int, name string, values [][]byte) bool {
	leaf, ok := f.leaf[name]
	if !ok {
		return !slices.ContainsFunc(values, func(v []byte) bool { return len(v) == 0 })
	}
	stats := &f.file.Metadata().RowGroups[g].Columns[leaf].MetaData.Statistics
	if len(stats.MinValue) == 0 || len(stats.MaxValue) == 0 {
		return false
	}
	return !slices.ContainsFunc(values, func(v []byte) bool {
		return len(v) == 0 || bytes.Compare(v, stats.MinValue) >= 0 && bytes.Compare(v, stats.MaxValue) <= 0
	})
}
