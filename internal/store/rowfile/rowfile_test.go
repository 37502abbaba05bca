package rowfile_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store/rowfile"
	"github.com/tapedeck/tapedeck/tape"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

func at(d time.Duration) string { return noon.Add(d).Format(time.RFC3339Nano) }

// full sets every member by reflection, so that a member added later cannot be
// forgotten.
func full(t *testing.T) rowfile.Entry {
	t.Helper()
	e := rowfile.Entry{Fragment: "f", Part: true, Deleted: true}
	v := reflect.ValueOf(&e.Row).Elem()
	for i := range v.NumField() {
		f := v.Field(i)
		switch name := v.Type().Field(i).Name; f.Kind() {
		case reflect.String:
			f.SetString("value of " + name)
			if name == "Start" || name == "Decided" {
				f.SetString(at(time.Duration(i) * time.Microsecond))
			}
		case reflect.Int, reflect.Int64:
			f.SetInt(int64(100 + i))
		case reflect.Float64:
			f.SetFloat(float64(i) + 0.5)
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Slice:
			f.Set(reflect.ValueOf([]string{"a", "", "ü"}))
		case reflect.Pointer:
			of := reflect.New(f.Type().Elem())
			if of.Elem().Kind() == reflect.Bool {
				of.Elem().SetBool(true)
			} else {
				of.Elem().SetFloat(0.25)
			}
			f.Set(of)
		default:
			t.Fatalf("member %s has a kind the test cannot fill: %s", name, f.Kind())
		}
	}
	return e
}

func write(t testing.TB, entries ...rowfile.Entry) []byte {
	t.Helper()
	var b bytes.Buffer
	w := rowfile.NewWriter(&b)
	for i := range entries {
		require.NoError(t, w.Write(&entries[i]))
	}
	require.NoError(t, w.Close())
	return b.Bytes()
}

func open(t testing.TB, data []byte) *rowfile.File {
	t.Helper()
	f, err := rowfile.Open(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	return f
}

func read(t testing.TB, f *rowfile.File, positions []int64) []rowfile.Entry {
	t.Helper()
	var got []rowfile.Entry
	require.NoError(t, f.Rows(positions, func(_ int64, e *rowfile.Entry) error {
		got = append(got, *e)
		return nil
	}))
	return got
}

func many(n int) []rowfile.Entry {
	entries := make([]rowfile.Entry, n)
	for i := range entries {
		entries[i] = rowfile.Entry{Row: tape.Row{
			TraceID: fmt.Sprintf("%032x", i+1), Outcome: tape.OutcomeFailed, Service: "shop", Tools: []string{"search", "pay"}[:i%3],
			Steps: i, Kept: i%2 == 0, Decided: at(time.Duration(i) * time.Millisecond),
		}}
	}
	return entries
}

func TestEveryMemberSurvives(t *testing.T) {
	zero, infinite := 0.0, math.Inf(1)
	tests := map[string]struct{ in, want rowfile.Entry }{
		"every member":       {full(t), full(t)},
		"nothing but an id":  {rowfile.Entry{Row: tape.Row{TraceID: "a"}}, rowfile.Entry{Row: tape.Row{TraceID: "a"}}},
		"a cost known as 0":  {rowfile.Entry{Row: tape.Row{Cost: &zero}}, rowfile.Entry{Row: tape.Row{Cost: &zero}}},
		"a cost without end": {rowfile.Entry{Row: tape.Row{Cost: &infinite, DurationMS: math.NaN()}}, rowfile.Entry{}},
		"negative numbers":   {rowfile.Entry{Row: tape.Row{Bytes: -2, DurationMS: -1}}, rowfile.Entry{Row: tape.Row{Bytes: -2, DurationMS: -1}}},
		"no time":            {rowfile.Entry{Row: tape.Row{Start: "yesterday"}}, rowfile.Entry{}},
		"another time zone":  {rowfile.Entry{Row: tape.Row{Start: "2026-01-02T13:00:00+01:00"}}, rowfile.Entry{Row: tape.Row{Start: "2026-01-02T12:00:00Z"}}},
		"nanoseconds":        {rowfile.Entry{Row: tape.Row{Start: "2026-01-02T12:00:00.123456789Z"}}, rowfile.Entry{Row: tape.Row{Start: "2026-01-02T12:00:00.123456Z"}}},
		"invalid text":       {rowfile.Entry{Row: tape.Row{Service: "a\xff", Tools: []string{"\xff"}}}, rowfile.Entry{Row: tape.Row{Service: "a\uFFFD", Tools: []string{"\uFFFD"}}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, []rowfile.Entry{test.want}, read(t, open(t, write(t, test.in)), nil))
		})
	}
}

func TestEveryMemberHasAColumnOfItsJSONName(t *testing.T) {
	data := write(t, full(t))
	f, err := parquet.OpenFile(bytes.NewReader(data), int64(len(data)))
	require.NoError(t, err)
	var names []string
	for _, field := range f.Schema().Fields() {
		names = append(names, field.Name())
	}
	assert.Equal(t, "trace_id", names[0], "columns keep their order")
	var want []string
	for _, typ := range []reflect.Type{reflect.TypeFor[tape.Row](), reflect.TypeFor[rowfile.Entry]()} {
		for i := range typ.NumField() {
			if name, _, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ","); name != "" {
				want = append(want, name)
			}
		}
	}
	assert.ElementsMatch(t, want, names)
}

func TestTheSameEntriesGiveTheSameBytes(t *testing.T) {
	for _, n := range []int{0, 1, 1000} {
		first := write(t, many(n)...)
		write(t, full(t))
		assert.Equal(t, first, write(t, many(n)...))
	}
}

func TestPositionsPickRows(t *testing.T) {
	const total = 41_000 // three row groups
	entries := many(total)
	f := open(t, write(t, entries...))
	require.EqualValues(t, total, f.NumRows())
	for name, positions := range map[string][]int64{
		"none":       {},
		"the first":  {0},
		"the last":   {total - 1},
		"scattered":  {3, 19_999, 20_000, 20_001, 40_500},
		"neighbours": {17, 18, 19, 20, 30_000, 30_001},
	} {
		t.Run(name, func(t *testing.T) {
			var want []rowfile.Entry
			for _, p := range positions {
				want = append(want, entries[p])
			}
			i := 0
			require.NoError(t, f.Rows(positions, func(at int64, e *rowfile.Entry) error {
				assert.Equal(t, positions[i], at)
				assert.Equal(t, normal(want[i]), *e)
				i++
				return nil
			}))
			assert.Len(t, positions, i)
		})
	}
	require.ErrorIs(t, f.Rows([]int64{total}, nil), nil, "what is past the end is not there")
	n := 0
	require.NoError(t, f.Rows(nil, func(at int64, e *rowfile.Entry) error {
		require.EqualValues(t, n, at)
		require.Equal(t, entries[n].TraceID, e.TraceID)
		n++
		return nil
	}))
	assert.Equal(t, total, n)
}

// normal is an entry as it comes back: an empty list is no list.
func normal(e rowfile.Entry) rowfile.Entry {
	if len(e.Tools) == 0 {
		e.Tools = nil
	}
	return e
}

func TestKeysAndFilter(t *testing.T) {
	entries := many(25_000)
	entries[7].Deleted = true
	entries[8].Decided = ""
	f := open(t, write(t, entries...))
	keys, err := f.Keys()
	require.NoError(t, err)
	require.Len(t, keys, len(entries))
	for i, k := range keys {
		require.Equal(t, entries[i].TraceID, k.ID)
		require.Equal(t, entries[i].Kept, k.Kept)
		require.Equal(t, i == 7, k.Deleted)
		if i != 8 {
			require.Equal(t, noon.Add(time.Duration(i)*time.Millisecond).UnixMicro(), k.Micros)
		}
	}
	filter, err := f.Filter()
	require.NoError(t, err)
	wrong := 0
	for i := range entries {
		require.True(t, filter.Check(entries[i].TraceID))
		if filter.Check(fmt.Sprintf("%032x", 1_000_000+i)) {
			wrong++
		}
	}
	assert.Less(t, wrong, len(entries)/50)
	assert.Less(t, filter.Size(), 4*len(entries))
}

func TestAnErrorOfTheCallerStopsTheRead(t *testing.T) {
	f := open(t, write(t, many(100)...))
	enough := errors.New("enough")
	n := 0
	err := f.Rows(nil, func(int64, *rowfile.Entry) error { n++; return enough })
	require.ErrorIs(t, err, enough)
	require.NotErrorIs(t, err, rowfile.ErrFormat)
	assert.Equal(t, 1, n)
}

// breaking fails reads from an offset on.
type breaking struct {
	io.ReaderAt
	from int64
	err  error
}

func (b breaking) ReadAt(p []byte, off int64) (int, error) {
	if off < b.from {
		return 0, b.err
	}
	return b.ReaderAt.ReadAt(p, off)
}

func TestAnErrorOfTheSourceIsNoDamage(t *testing.T) {
	data := write(t, many(100)...)
	down := errors.New("out of reach")
	_, err := rowfile.Open(breaking{bytes.NewReader(data), math.MaxInt64, down}, int64(len(data)))
	require.ErrorIs(t, err, down)
	require.NotErrorIs(t, err, rowfile.ErrFormat)
}

func TestFilesOfOtherVersions(t *testing.T) {
	type later struct {
		TraceID string    `parquet:"trace_id"`
		Outcome string    `parquet:"outcome"`
		Mood    string    `parquet:"mood"`
		Decided time.Time `parquet:"decided,timestamp(microsecond)"`
		Steps   int64     `parquet:"steps"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[later](&b)
	_, err := w.Write([]later{{"a", "failed", "good", noon, 3}})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	f := open(t, b.Bytes())
	assert.Equal(t, []rowfile.Entry{{Row: tape.Row{TraceID: "a", Outcome: "failed", Decided: at(0), Steps: 3}}}, read(t, f, nil))
	keys, err := f.Keys()
	require.NoError(t, err)
	assert.Equal(t, []rowfile.Key{{ID: "a", Micros: noon.UnixMicro()}}, keys)
	filter, err := f.Filter()
	require.NoError(t, err)
	assert.Nil(t, filter)
}

func TestWhatIsNoIndexFile(t *testing.T) {
	type foreign struct {
		TraceID int64 `parquet:"trace_id"`
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[foreign](&b)
	_, err := w.Write([]foreign{{1}})
	require.NoError(t, err)
	require.NoError(t, w.Close())
	var other bytes.Buffer
	lz4 := parquet.NewGenericWriter[struct {
		TraceID string `parquet:"trace_id,lz4"`
	}](&other)
	_, err = lz4.Write([]struct {
		TraceID string `parquet:"trace_id,lz4"`
	}{{"a"}})
	require.NoError(t, err)
	require.NoError(t, lz4.Close())
	good := write(t, many(10)...)
	huge := bytes.Clone(good)
	copy(huge[len(huge)-8:], "\xff\xff\xff\xff")
	for name, data := range map[string][]byte{
		"empty":              nil,
		"short":              []byte("PAR1"),
		"text":               []byte(strings.Repeat("hello ", 100)),
		"cut":                good[:len(good)/2],
		"a footer too long":  huge,
		"another type of id": b.Bytes(),
		"an unbounded codec": other.Bytes(),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := rowfile.Open(bytes.NewReader(data), int64(len(data)))
			require.ErrorIs(t, err, rowfile.ErrFormat)
		})
	}
}

// all reads everything a file has; only ErrFormat may go wrong.
func all(t testing.TB, data []byte) {
	f, err := rowfile.Open(bytes.NewReader(data), int64(len(data)))
	if err == nil {
		_, err = f.Keys()
		require.True(t, err == nil || errors.Is(err, rowfile.ErrFormat), "%v", err)
		_, err = f.Filter()
		require.True(t, err == nil || errors.Is(err, rowfile.ErrFormat), "%v", err)
		_, err = f.Match([]rowfile.Condition{{Columns: []string{"class", "failure_class"}, Values: []string{"failures"}}})
		require.True(t, err == nil || errors.Is(err, rowfile.ErrFormat), "%v", err)
		_, _, err = f.Find(fmt.Sprintf("%032x", 1))
		require.True(t, err == nil || errors.Is(err, rowfile.ErrFormat), "%v", err)
		err = f.Rows(nil, func(int64, *rowfile.Entry) error { return nil })
	}
	require.True(t, err == nil || errors.Is(err, rowfile.ErrFormat), "%v", err)
}

func TestDamageIsAnErrorAtWorst(t *testing.T) {
	good := write(t, many(20)...)
	for i := 0; i < len(good); i += 23 {
		bad := bytes.Clone(good)
		bad[i] ^= 0x41
		all(t, bad)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(write(f, many(5)...))
	f.Add(write(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 16<<10 {
			return
		}
		all(t, data)
	})
}

func TestEntriesAreSortedByDecision(t *testing.T) {
	entries := []rowfile.Entry{
		{Row: tape.Row{TraceID: "b", Decided: at(0)}},
		{Row: tape.Row{TraceID: "a", Decided: at(0)}, Fragment: "2"},
		{Row: tape.Row{TraceID: "a", Decided: at(0)}, Fragment: "1"},
		{Row: tape.Row{TraceID: "c", Decided: "2026-01-02T12:59:59+01:00"}},
	}
	rowfile.Sort(entries)
	var got []string
	for i, e := range entries {
		got = append(got, e.TraceID+e.Fragment)
		if i > 0 {
			assert.LessOrEqual(t, rowfile.Compare(&entries[i-1], &entries[i]), 0)
		}
	}
	assert.Equal(t, []string{"c", "a1", "a2", "b"}, got)
}

func BenchmarkWrite10000(b *testing.B) {
	entries := many(10_000)
	b.ReportAllocs()
	for b.Loop() {
		w := rowfile.NewWriter(io.Discard)
		for i := range entries {
			if err := w.Write(&entries[i]); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkWrite1(b *testing.B) {
	e := many(1)[0]
	b.ReportAllocs()
	for b.Loop() {
		w := rowfile.NewWriter(io.Discard)
		if err := errors.Join(w.Write(&e), w.Close()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRead(b *testing.B) {
	data := write(b, many(10_000)...)
	b.Run("keys of 10000", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			f := open(b, data)
			if _, err := f.Keys(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("filter", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := open(b, data).Filter(); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("last 50 rows", func(b *testing.B) {
		positions := make([]int64, 50)
		for i := range positions {
			positions[i] = int64(10_000 - 50 + i)
		}
		b.ReportAllocs()
		for b.Loop() {
			if got := read(b, open(b, data), positions); len(got) != 50 {
				b.Fatal(len(got))
			}
		}
	})
}
