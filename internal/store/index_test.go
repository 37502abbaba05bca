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

// clock is a time that tests move.
type clock struct{ offset atomic.Int64 }

func (c *clock) now() time.Time      { return noon.Add(time.Duration(c.offset.Load())) }
func (c *clock) set(d time.Duration) { c.offset.Store(int64(d)) }
func (c *clock) opt(o *store.Options) {
	o.Now = c.now
	o.Writer = ""
}

func journalIn(j store.JournalBackend) func(*store.Options) {
	return func(o *store.Options) { o.Journal = j }
}

func openDir(t testing.TB, root string) *dir.Backend {
	t.Helper()
	b, err := dir.Open(root)
	require.NoError(t, err)
	return b
}

// files counts the objects of an index by suffix.
func files(t *testing.T, b store.Reader, suffix string) int {
	t.Helper()
	n := 0
	for _, o := range storetest.List(t, b, "index/") {
		if strings.HasSuffix(o.Name, suffix) {
			n++
		}
	}
	return n
}

// maintain runs the upkeep until the condition holds.
func maintain(t *testing.T, s *store.Store, until func() bool) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		s.Maintain(ctx, time.Millisecond, func(err error) { t.Log(err) })
	})
	assert.Eventually(t, until, 10*time.Second, time.Millisecond)
	stop()
	wg.Wait()
}

func TestRowsWaitInTheDirectoryAndGoToParquetFiles(t *testing.T) {
	b := openDir(t, t.TempDir())
	c := &clock{}
	s, damaged := open(t, b, c.opt)
	add := func(n int) {
		require.NoError(t, s.AppendRows(t.Context(), []tape.Row{{TraceID: traceID(n), Outcome: "failed", Trigger: "idle", Spans: 2, Decided: at(0)}}))
	}
	check := func(want int) {
		t.Helper()
		other, _ := open(t, b, c.opt)
		for _, reader := range []*store.Store{s, other} {
			rows := list(t, reader, store.Query{})
			require.Len(t, rows, want)
			for _, row := range rows {
				assert.Equal(t, 2, row.Spans, "a row that is in two files counts once")
			}
		}
	}
	add(1)
	assert.Equal(t, 0, files(t, b, ".parquet"))
	check(1)
	require.NoError(t, s.Flush(t.Context(), false))
	assert.Equal(t, 1, files(t, b, ".parquet"))
	assert.Equal(t, 1, files(t, b, ".jsonl"))
	check(1)
	add(2)
	check(2)
	require.NoError(t, s.Flush(t.Context(), false))
	require.NoError(t, s.Flush(t.Context(), false), "nothing to do")
	assert.Equal(t, 1, files(t, b, ".parquet"), "the file with fewer rows is gone")
	check(2)
	require.NoError(t, s.Flush(t.Context(), true))
	assert.Equal(t, 1, files(t, b, ".parquet"))
	assert.Equal(t, 0, files(t, b, ".jsonl"))
	check(2)
	add(3)
	c.set(6 * time.Minute)
	require.NoError(t, s.Flush(t.Context(), false))
	assert.Equal(t, 2, files(t, b, ".parquet"))
	assert.Equal(t, 0, files(t, b, ".jsonl"), "a journal is not kept for longer than minutes")
	check(3)
	assert.Empty(t, damaged.list)
}

func TestAnOrdinaryRunCostsOnePut(t *testing.T) {
	b := storetest.NewMemory()
	var puts []string
	b.Fail = func(op, name string) error {
		if op == "put" {
			puts = append(puts, name)
		}
		return nil
	}
	s, _ := open(t, b, journalIn(openDir(t, t.TempDir())))
	for n := range 20 {
		_, err := s.PutFragment(t.Context(), "failures", traceID(n), spans(t, traceID(n), "root"))
		require.NoError(t, err)
		require.NoError(t, s.AppendRows(t.Context(), rowsOf(traceID(n))))
	}
	assert.Len(t, puts, 20)
	assert.Len(t, list(t, s, store.Query{}), 20)
	require.NoError(t, s.Flush(t.Context(), false))
	assert.Len(t, puts, 21, "and all rows of an interval one more")
	bucket, _ := open(t, b)
	assert.Len(t, list(t, bucket, store.Query{}), 20)
}

func TestTheRowsOfAKilledProcessGetToTheBucket(t *testing.T) {
	b, root := storetest.NewMemory(), t.TempDir()
	c := &clock{}
	killed, _ := open(t, b, c.opt, journalIn(openDir(t, root)))
	require.NoError(t, killed.AppendRows(t.Context(), rowsOf(idA)))
	// Its last append was torn.
	journal := storetest.List(t, openDir(t, root), "index/")
	require.Len(t, journal, 1)
	require.NoError(t, openDir(t, root).Append(t.Context(), journal[0].Name, []byte(`{"trace_id":"`)))

	next, damaged := open(t, b, c.opt, journalIn(openDir(t, root)))
	bucket, _ := open(t, b, c.opt)
	assert.Len(t, list(t, next, store.Query{}), 1, "who has the journal sees them at once")
	assert.Empty(t, list(t, bucket, store.Query{}))

	c.set(time.Minute)
	require.NoError(t, next.AppendRows(t.Context(), rowsOf(idB)))
	maintain(t, next, func() bool { return files(t, b, ".parquet") == 1 })
	assert.Equal(t, []string{idB}, ids(list(t, bucket, store.Query{})), "the process may still live")

	c.set(20 * time.Minute)
	again, _ := open(t, b, c.opt, journalIn(openDir(t, root)))
	maintain(t, again, func() bool { return files(t, openDir(t, root), ".jsonl") == 0 })
	assert.ElementsMatch(t, []string{idA, idB}, ids(list(t, bucket, store.Query{})))
	assert.Contains(t, damaged.list[0], "is cut")
}

func TestABucketThatIsAwayLosesNoRow(t *testing.T) {
	b, j := storetest.NewMemory(), openDir(t, t.TempDir())
	c := &clock{}
	s, _ := open(t, b, c.opt, journalIn(j))
	down := errors.New("out of reach")
	b.Fail = func(op, _ string) error {
		if op == "put" {
			return down
		}
		return nil
	}
	for n := range 3 {
		c.set(time.Duration(n) * 10 * time.Minute)
		require.NoError(t, s.AppendRows(t.Context(), rowsOf(traceID(n))))
		require.ErrorIs(t, s.Flush(t.Context(), n == 2), down)
		assert.Len(t, list(t, s, store.Query{}), n+1)
	}
	b.Fail = nil
	require.NoError(t, s.Flush(t.Context(), false))
	assert.Equal(t, 0, files(t, j, ".jsonl"))
	bucket, _ := open(t, b)
	assert.Len(t, list(t, bucket, store.Query{}), 3)
}

func TestAStopBetweenFileAndJournalDoublesNoRow(t *testing.T) {
	b := storetest.NewMemory()
	j := &undeletable{Backend: openDir(t, t.TempDir())}
	s, _ := open(t, b, journalIn(j))
	row := tape.Row{TraceID: idA, Outcome: "failed", Trigger: "idle", Spans: 7}
	require.NoError(t, s.AppendRows(t.Context(), []tape.Row{row}))
	require.ErrorIs(t, s.Flush(t.Context(), true), errTorn)
	assert.Equal(t, 1, files(t, b, ".parquet"))
	assert.Equal(t, 1, files(t, j, ".jsonl"))
	rows := list(t, s, store.Query{})
	require.Len(t, rows, 1)
	assert.Equal(t, 7, rows[0].Spans)
	got, err := s.Row(t.Context(), idA)
	require.NoError(t, err)
	assert.Equal(t, 7, got.Spans)
	j.ok = true
	require.NoError(t, s.Flush(t.Context(), false))
	assert.Equal(t, 1, files(t, b, ".parquet"))
	assert.Equal(t, 0, files(t, j, ".jsonl"))
}

// undeletable fails deletes until it is ok.
type undeletable struct {
	*dir.Backend
	ok bool
}

func (b *undeletable) Delete(ctx context.Context, name string) error {
	if !b.ok {
		return errTorn
	}
	return b.Backend.Delete(ctx, name)
}

func TestAJournalTakesSoManyRows(t *testing.T) {
	b := openDir(t, t.TempDir())
	s, _ := open(t, b, func(o *store.Options) { o.FlushRows = 10 })
	for n := range 25 {
		require.NoError(t, s.AppendRows(t.Context(), rowsOf(traceID(n))))
	}
	assert.Equal(t, 3, files(t, b, ".jsonl"))
	require.NoError(t, s.Flush(t.Context(), false))
	assert.Equal(t, 1, files(t, b, ".jsonl"))
	assert.Equal(t, 3, files(t, b, ".parquet"))
	assert.Len(t, list(t, s, store.Query{}), 25)

	root := openDir(t, t.TempDir())
	full, _ := open(t, root, func(o *store.Options) { o.FlushRows = 3 })
	require.NoError(t, full.AppendRows(t.Context(), rowsOf(traceID(1), traceID(2), traceID(3))))
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { full.Maintain(ctx, time.Hour, func(err error) { t.Log(err) }) })
	assert.Eventually(t, func() bool { return files(t, root, ".parquet") == 1 }, 10*time.Second, time.Millisecond, "a full one does not wait")
	stop()
	wg.Wait()
}

// sleepy is a backend on a machine that sleeps while it appends for the first time.
type sleepy struct {
	*dir.Backend
	clock   *clock
	appends []string
}

func (b *sleepy) Append(ctx context.Context, name string, data []byte) error {
	b.appends = append(b.appends, name)
	err := b.Backend.Append(ctx, name, data)
	if len(b.appends) == 1 {
		b.clock.set(8 * time.Hour)
	}
	return err
}

func TestRowsWhoseAppendOutlastedTheirJournalAreWrittenAgain(t *testing.T) {
	c := &clock{}
	b := &sleepy{Backend: openDir(t, t.TempDir()), clock: c}
	s, _ := open(t, b, c.opt)
	require.NoError(t, s.AppendRows(t.Context(), []tape.Row{{TraceID: idA, Outcome: "failed", Decided: at(0)}}))
	require.Len(t, b.appends, 2, "somebody else may have removed the first journal before the row was in it")
	assert.NotEqual(t, b.appends[0], b.appends[1])
	require.NoError(t, b.Delete(t.Context(), b.appends[0]))
	assert.Len(t, list(t, s, store.Query{}), 1)
}

func TestADamagedLineIsToldByItsChecksum(t *testing.T) {
	b := openDir(t, t.TempDir())
	s, damaged := open(t, b)
	require.NoError(t, s.AppendRows(t.Context(), rowsOf(idA, idB)))
	name := storetest.List(t, b, "index/")[0].Name
	data := []byte(storetest.Read(t, b, name))
	require.Equal(t, 2, bytes.Count(data, []byte(`,"crc":"`)))
	other := bytes.Replace(data, []byte("failed"), []byte("foiled"), 1)
	require.NoError(t, b.Delete(t.Context(), name))
	require.NoError(t, b.Put(t.Context(), name, other))
	assert.Equal(t, []string{idB}, ids(list(t, s, store.Query{})))
	require.Len(t, damaged.list, 1)
	assert.Contains(t, damaged.list[0], "line 1: checksum")
}

func TestAnIDIsFoundByFilters(t *testing.T) {
	b := storetest.NewMemory()
	s, _ := open(t, b)
	const hours = 3 * 24
	for n := range hours {
		var rows []tape.Row
		for m := range 20 {
			rows = append(rows, tape.Row{TraceID: traceID(n*20 + m), Outcome: "succeeded", Decided: at(time.Duration(-n) * time.Hour)})
		}
		require.NoError(t, s.AppendRows(t.Context(), rows))
	}
	var gets, lists atomic.Int64
	b.Fail = func(op, _ string) error {
		switch op {
		case "get":
			gets.Add(1)
		case "list", "folders":
			lists.Add(1)
		}
		return nil
	}
	_, err := s.Row(t.Context(), idB)
	require.ErrorIs(t, err, store.ErrNotFound)
	assert.EqualValues(t, hours, gets.Load(), "one small read for each file, once")
	assert.LessOrEqual(t, lists.Load(), int64(5), "the hours of a day are listed together")
	gets.Store(0)
	_, err = s.Row(t.Context(), idB)
	require.ErrorIs(t, err, store.ErrNotFound)
	assert.LessOrEqual(t, gets.Load(), int64(5), "but for a filter that errs")
	for n := range 200 {
		// Some of these a filter takes for one of its own.
		_, err := s.Row(t.Context(), traceID(1_000_000+n))
		require.ErrorIs(t, err, store.ErrNotFound)
	}
	row, err := s.Row(t.Context(), traceID(hours*20-1))
	require.NoError(t, err)
	assert.EqualValues(t, "succeeded", row.Outcome)
}

func TestReadersSeeEveryRowWhileFilesAreReplaced(t *testing.T) {
	b := openDir(t, t.TempDir())
	s, damaged := open(t, b, func(o *store.Options) { o.FlushRows = 5 })
	var written atomic.Int64
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(stop)
		for n := range 40 {
			if !assert.NoError(t, s.AppendRows(t.Context(), rowsOf(traceID(n)))) {
				return
			}
			written.Store(int64(n + 1))
		}
	})
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				assert.NoError(t, s.Flush(t.Context(), false))
			}
		}
	})
	reader, _ := open(t, b)
	for done := false; !done; {
		select {
		case <-stop:
			done = true
		default:
		}
		want := written.Load()
		page, err := reader.Rows(t.Context(), store.Query{Limit: 1000})
		require.NoError(t, err)
		assert.GreaterOrEqual(t, int64(len(page.Rows)), want)
	}
	wg.Wait()
	assert.Empty(t, damaged.list)
}

func TestPartitionsAreOfTheTimeOfDecisionInUTC(t *testing.T) {
	b := storetest.NewMemory()
	s, _ := open(t, b)
	for i, decided := range []string{"2026-06-30T23:59:59.999999-03:00", "2026-07-01T02:59:59.999999Z", "2026-07-01T13:00:00+10:00"} {
		require.NoError(t, s.AppendRows(t.Context(), []tape.Row{{TraceID: traceID(i), Outcome: "failed", Decided: decided}}))
	}
	hours := map[string]int{}
	for _, name := range b.Names() {
		hours[name[:strings.LastIndexByte(name, '/')]]++
	}
	assert.Equal(t, map[string]int{"index/date=2026-07-01/hour=02": 2, "index/date=2026-07-01/hour=03": 1}, hours)
	rows := list(t, s, store.Query{})
	assert.Equal(t, []string{traceID(2), traceID(1), traceID(0)}, ids(rows))
	assert.Equal(t, "2026-07-01T03:00:00Z", rows[0].Decided)
}

func TestAnHourOfManyRowsIsReadByItsKeys(t *testing.T) {
	b := openDir(t, t.TempDir())
	s, _ := open(t, b)
	var rows []tape.Row
	for n := range 22_000 {
		rows = append(rows, tape.Row{TraceID: traceID(n), Outcome: "succeeded", Service: fmt.Sprint("s", n%7), Decided: at(time.Duration(n) * time.Millisecond)})
	}
	require.NoError(t, s.AppendRows(t.Context(), rows))
	require.NoError(t, s.Flush(t.Context(), true))
	page, err := s.Rows(t.Context(), store.Query{Limit: 3, Service: []string{"s3"}})
	require.NoError(t, err)
	assert.Equal(t, []string{traceID(21_997), traceID(21_990), traceID(21_983)}, ids(page.Rows))
	assert.Len(t, list(t, s, store.Query{Service: []string{"s3"}, Since: noon.Add(21 * time.Second)}), 143)
}

func TestTheRowsOfTenantsGoTheSameWay(t *testing.T) {
	b, root := storetest.NewMemory(), t.TempDir()
	c := &clock{}
	s, _ := open(t, b, c.opt, journalIn(openDir(t, root)))
	for _, tenant := range []string{"", "a", "b"} {
		st, err := s.Tenant(tenant)
		require.NoError(t, err)
		require.NoError(t, st.AppendRows(t.Context(), rowsOf(idA)))
	}
	require.NoError(t, s.Flush(t.Context(), false))
	assert.Len(t, b.Names(), 3)
	st, err := s.Tenant("b")
	require.NoError(t, err)
	require.NoError(t, st.AppendRows(t.Context(), rowsOf(idB)))

	// The process is gone before the last row was written.
	c.set(20 * time.Minute)
	next, _ := open(t, b, c.opt, journalIn(openDir(t, root)))
	maintain(t, next, func() bool {
		left := 0
		for _, o := range storetest.List(t, openDir(t, root), "tenants/") {
			if strings.HasSuffix(o.Name, ".jsonl") {
				left++
			}
		}
		return left == 0 && files(t, openDir(t, root), ".jsonl") == 0
	})
	for tenant, want := range map[string]int{"": 1, "a": 1, "b": 2} {
		bucket, _ := open(t, b, c.opt)
		st, err := bucket.Tenant(tenant)
		require.NoError(t, err)
		assert.Len(t, list(t, st, store.Query{}), want)
	}
}

func TestIndexFilesOfEarlierVersionsAreReadAndTakenUp(t *testing.T) {
	b := openDir(t, t.TempDir())
	c := &clock{}
	line := `{"trace_id":"` + idA + `","outcome":"failed","steps":3,"kept":true,"start":"","decided":"2026-01-02T12:30:00.123456789Z"}` + "\n"
	require.NoError(t, b.Append(t.Context(), "index/date=2026-01-02/hour=12/old-000001.jsonl", []byte(line)))
	s, damaged := open(t, b, c.opt)
	check := func() {
		t.Helper()
		rows := list(t, s, store.Query{})
		require.Len(t, rows, 1)
		assert.Equal(t, tape.Row{TraceID: idA, Outcome: "failed", Steps: 3, Kept: true, Decided: "2026-01-02T12:30:00.123456Z"}, rows[0])
	}
	check()
	c.set(20 * time.Hour)
	day, _ := open(t, b, c.opt)
	require.NoError(t, day.AppendRows(t.Context(), rowsOf(idB)))
	maintain(t, day, func() bool { return files(t, b, ".parquet") == 1 })
	require.NoError(t, day.Delete(t.Context(), idB))
	require.NoError(t, day.Flush(t.Context(), true))
	assert.Equal(t, 1, files(t, b, ".jsonl"), "its writer may still live")
	c.set(26 * time.Hour)
	again, _ := open(t, b, c.opt)
	maintain(t, again, func() bool { return files(t, b, ".jsonl") == 0 })
	check()
	assert.Empty(t, damaged.list)
}
