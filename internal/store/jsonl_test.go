package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/dir"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

func TestTornAndForeignLinesCostOnlyThemselves(t *testing.T) {
	good := func(n int) string {
		return fmt.Sprintf(`{"trace_id":%q,"outcome":"failed","decided":"2026-01-02T12:30:00Z"}`+"\n", traceID(n))
	}
	reordered := fmt.Sprintf(`{ "outcome": "failed", "trace_id": %q, "later_member": [1], "decided": "2026-01-02T12:30:00Z" }`+"\n", traceID(2))
	tests := map[string]struct {
		text    string
		want    int
		damaged []string
	}{
		"whole":                {good(1) + reordered, 2, nil},
		"empty file":           {"", 0, nil},
		"torn last line":       {good(1) + good(2)[:60], 1, []string{"line 2 is cut"}},
		"torn inside the id":   {good(1) + good(2)[:20], 1, []string{"line 2 is cut"}},
		"last line lacks end":  {good(1) + strings.TrimSuffix(good(2), "\n"), 1, []string{"line 2 is cut"}},
		"junk in the middle":   {good(1) + "junk\n" + good(2), 2, []string{"line 2: damaged"}},
		"a row without an id":  {good(1) + "{}\n", 1, []string{"line 2: damaged"}},
		"a line without limit": {good(1) + strings.Repeat("x", 3<<20) + "\n" + good(2), 2, []string{"line 2: too large"}},
		"zero bytes":           {good(1) + strings.Repeat("\x00", 100), 1, []string{"line 2 is cut"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := storetest.NewMemory()
			s, damaged := open(t, b)
			const file = "index/date=2026-01-02/hour=12/other-1.jsonl"
			require.NoError(t, b.Put(t.Context(), file, []byte(test.text)))
			require.NoError(t, b.Put(t.Context(), "index/date=2026-01-02/hour=12/other-1.csv", []byte("x")))
			require.NoError(t, b.Put(t.Context(), "index/date=someday/hour=99/other-1.jsonl", []byte("x")))
			assert.Len(t, list(t, s, store.Query{}), test.want)
			require.Len(t, damaged.list, len(test.damaged))
			for i, want := range test.damaged {
				assert.Contains(t, damaged.list[i], file)
				assert.Contains(t, damaged.list[i], want)
			}
			_, err := s.Row(t.Context(), traceID(1))
			assert.Equal(t, test.want > 0, err == nil)
		})
	}
}

// tearing fails every second append half way.
type tearing struct {
	*dir.Backend
	n int
}

var errTorn = errors.New("disk full")

func (b *tearing) Append(ctx context.Context, name string, data []byte) error {
	if b.n++; b.n%2 == 0 {
		_ = b.Backend.Append(ctx, name, data[:len(data)/2])
		return errTorn
	}
	return b.Backend.Append(ctx, name, data)
}

func TestAFailedAppendDamagesNoLaterRow(t *testing.T) {
	d, err := dir.Open(t.TempDir())
	require.NoError(t, err)
	b := &tearing{Backend: d}
	s, damaged := open(t, b)
	for n := range 6 {
		err := s.AppendRows(t.Context(), rowsOf(traceID(n)))
		if err != nil {
			require.ErrorIs(t, err, errTorn)
			require.NoError(t, s.AppendRows(t.Context(), rowsOf(traceID(n))))
		}
	}
	assert.Len(t, list(t, s, store.Query{}), 6)
	assert.NotEmpty(t, damaged.list)
	for _, report := range damaged.list {
		assert.Contains(t, report, "is cut")
	}
}

func TestIndexFilesOfADirectoryGrowAndAreChanged(t *testing.T) {
	b, err := dir.Open(t.TempDir())
	require.NoError(t, err)
	s, _ := open(t, b)
	reason := strings.Repeat("r", 900<<10)
	for n := range 20 {
		require.NoError(t, s.AppendRows(t.Context(), []tape.Row{{TraceID: traceID(n), Outcome: "failed", FailureReason: reason}}))
	}
	files := storetest.List(t, b, "index/")
	assert.Len(t, files, 2, "rows share files up to a size")
	assert.Len(t, list(t, s, store.Query{}), 20)

	err = s.AppendRows(t.Context(), []tape.Row{{TraceID: idA, FailureReason: reason + reason}})
	require.ErrorIs(t, err, store.ErrTooLarge)
}

// slow is a backend whose appends take their time, as a disk does.
type slow struct {
	*dir.Backend
	appends atomic.Int64
}

func (b *slow) Append(ctx context.Context, name string, data []byte) error {
	b.appends.Add(1)
	time.Sleep(5 * time.Millisecond)
	return b.Backend.Append(ctx, name, data)
}

func TestRowsOfManyCallersAreWrittenTogether(t *testing.T) {
	d, err := dir.Open(t.TempDir())
	require.NoError(t, err)
	b := &slow{Backend: d}
	s, damaged := open(t, b)
	var wg sync.WaitGroup
	for n := range 100 {
		wg.Go(func() { assert.NoError(t, s.AppendRows(t.Context(), rowsOf(traceID(n)))) })
	}
	wg.Wait()
	assert.Len(t, list(t, s, store.Query{}), 100)
	assert.Empty(t, damaged.list)
	assert.Less(t, b.appends.Load(), int64(50))
}

func TestACallerThatGivesUpStopsNobodyElse(t *testing.T) {
	d, err := dir.Open(t.TempDir())
	require.NoError(t, err)
	s, _ := open(t, &slow{Backend: d})
	gone, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			if n%2 == 0 {
				_ = s.AppendRows(gone, rowsOf(traceID(n)))
				return
			}
			assert.NoError(t, s.AppendRows(t.Context(), rowsOf(traceID(n))))
		})
	}
	cancel()
	wg.Wait()
	for n := 1; n < 20; n += 2 {
		_, err := s.Row(t.Context(), traceID(n))
		assert.NoError(t, err)
	}
}

func FuzzIndexFile(f *testing.F) {
	f.Add([]byte(`{"trace_id":"0102030405060708090a0b0c0d0e0f10","outcome":"failed","kept":true,"decided":"2026-01-02T12:30:00Z"}` + "\n"))
	f.Add([]byte(`{"trace_id":"0102030405060708090a0b0c0d0e0f10","deleted":true,"decided":"2026-01-02T12:30:00Z"}` + "\n{"))
	f.Add([]byte("\n\n{}\n[]\nnull\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		b := storetest.NewMemory()
		s, _ := open(t, b)
		require.NoError(t, b.Put(t.Context(), "index/date=2026-01-02/hour=12/a-1.jsonl", data))
		page, err := s.Rows(t.Context(), store.Query{Limit: 2})
		require.NoError(t, err)
		assert.LessOrEqual(t, len(page.Rows), bytes.Count(data, []byte("\n")))
		for _, row := range page.Rows {
			_, err := s.Row(t.Context(), row.TraceID)
			require.NoError(t, err)
		}
	})
}
