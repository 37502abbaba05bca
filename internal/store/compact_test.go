package store_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

// scatter writes rows of three hours in many files, some of them twice.
func scatter(t *testing.T, b store.Backend) *clock {
	t.Helper()
	c := &clock{}
	for n := range 12 {
		s, _ := open(t, b, c.opt)
		rows := []tape.Row{
			{TraceID: traceID(n), Outcome: "failed", Trigger: "idle", Spans: n, Decided: at(time.Duration(n%3) * time.Hour)},
			{TraceID: traceID(n / 2), Outcome: "failed", Trigger: "late_failure", Kept: true, Decided: at(time.Duration(n%3)*time.Hour + time.Minute)},
		}
		require.NoError(t, s.AppendRows(t.Context(), rows))
		if n%5 == 0 {
			require.NoError(t, s.AppendRows(t.Context(), rows))
		}
		if n == 10 {
			c.set(90 * time.Minute)
			require.NoError(t, s.Delete(t.Context(), traceID(3)))
			c.set(0)
		}
	}
	return c
}

func TestAFinishedHourIsCompacted(t *testing.T) {
	b := storetest.NewMemory()
	c := scatter(t, b)
	s, damaged := open(t, b, c.opt)
	want := list(t, s, store.Query{})
	byHour := func() map[string]int {
		n := map[string]int{}
		for _, name := range b.Names() {
			_, hour, _ := strings.Cut(name, "/hour=")
			n["hour="+hour[:2]]++
		}
		return n
	}
	c.set(45 * time.Minute)
	before := byHour()
	require.NoError(t, s.Compact(t.Context()))
	assert.Equal(t, 1, byHour()["hour=12"])
	assert.Equal(t, before["hour=13"], byHour()["hour=13"], "an hour is left alone until its rows are there")
	assert.Equal(t, want, list(t, s, store.Query{}))
	c.set(24 * time.Hour)
	require.NoError(t, s.Compact(t.Context()))
	assert.Equal(t, map[string]int{"hour=12": 1, "hour=13": 1, "hour=14": 1}, byHour())
	assert.Equal(t, want, list(t, s, store.Query{}))
	for _, row := range want {
		got, err := s.Row(t.Context(), row.TraceID)
		require.NoError(t, err)
		assert.Equal(t, row.Outcome, got.Outcome)
	}
	_, err := s.Row(t.Context(), traceID(3))
	require.ErrorIs(t, err, store.ErrNotFound, "a deletion stays")
	names := b.Names()
	require.NoError(t, s.Compact(t.Context()), "again")
	assert.Equal(t, names, b.Names())
	assert.Empty(t, damaged.list)

	// A row that comes later than the rest is taken in too, and what comes out is the
	// same whoever compacts in what order.
	late, _ := open(t, b, c.opt)
	require.NoError(t, late.AppendRows(t.Context(), []tape.Row{{TraceID: idA, Outcome: "failed", Decided: at(0)}}))
	require.NoError(t, late.Compact(t.Context()))
	assert.Equal(t, map[string]int{"hour=12": 1, "hour=13": 1, "hour=14": 1}, byHour())
	assert.Len(t, list(t, s, store.Query{}), len(want)+1)
}

func TestCollectorsCompactAtTheSameTime(t *testing.T) {
	for round := range 2 {
		b := storetest.NewMemory()
		c := scatter(t, b)
		first, damaged := open(t, b, c.opt)
		want := list(t, first, store.Query{})
		c.set(24 * time.Hour)
		var wg sync.WaitGroup
		for range 3 {
			s, _ := open(t, b, c.opt)
			wg.Go(func() {
				for range 2 {
					assert.NoError(t, s.Compact(t.Context()))
				}
			})
			wg.Go(func() {
				for range 2 {
					page, err := s.Rows(t.Context(), store.Query{Limit: store.MaxLimit})
					assert.NoError(t, err)
					assert.Equal(t, want, page.Rows)
				}
			})
		}
		wg.Wait()
		require.NoError(t, first.Compact(t.Context()))
		assert.Len(t, b.Names(), 3, "round %d", round)
		assert.Equal(t, want, list(t, first, store.Query{}))
		assert.Empty(t, damaged.list)
	}
}

func TestAStopDuringCompactionIsHarmless(t *testing.T) {
	b := storetest.NewMemory()
	c := scatter(t, b)
	s, _ := open(t, b, c.opt)
	want := list(t, s, store.Query{})
	c.set(24 * time.Hour)
	for steps := 0; ; steps++ {
		left := steps
		b.Fail = func(op, _ string) error {
			if op != "put" && op != "delete" {
				return nil
			}
			if left--; left < 0 {
				return errTorn
			}
			return nil
		}
		err := s.Compact(t.Context())
		b.Fail = nil
		require.Equal(t, want, list(t, s, store.Query{}), "after %d steps", steps)
		if err == nil {
			break
		}
		require.ErrorIs(t, err, errTorn)
	}
	assert.Len(t, b.Names(), 3)
}

func TestADamagedFileIsNotCompactedAway(t *testing.T) {
	b := storetest.NewMemory()
	c := scatter(t, b)
	s, damaged := open(t, b, c.opt)
	const bad = "index/date=2026-01-02/hour=12/other-1-00000001.parquet"
	require.NoError(t, b.Put(t.Context(), bad, []byte("PAR1 is not enough")))
	c.set(24 * time.Hour)
	require.NoError(t, s.Compact(t.Context()))
	assert.Contains(t, b.Names(), bad)
	assert.Len(t, b.Names(), 4)
	assert.NotEmpty(t, damaged.list)
	assert.NotEmpty(t, list(t, s, store.Query{}))
}
