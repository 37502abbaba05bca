package archive_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

func TestASpanWithoutTraceIDCostsOnlyItself(t *testing.T) {
	f := newFixture(t)
	td := storetest.AgentRun(t, idA, noon, good)
	td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().AppendEmpty().SetName("lost")
	got := f.Write(t.Context(), td)
	require.NoError(t, got.Err)
	require.ErrorIs(t, got.RefusedErr(), store.ErrBadTraceID)
	assert.Equal(t, 1, got.RefusedSpans())
	assert.Equal(t, 1, got.Kept)
}

func TestWhatIsTooLargeIsRefusedForGood(t *testing.T) {
	f := newFixture(t)
	noise := make([]byte, 2<<20)
	huge := storetest.AgentRun(t, idA, noon, storetest.Call{Tool: "fetch", Args: "{}", Result: string(noise)})
	got := f.Write(t.Context(), merge(huge, storetest.AgentRun(t, idB, noon, good)))
	require.NoError(t, got.Err)
	require.ErrorIs(t, got.RefusedErr(), store.ErrTooLarge)
	assert.Equal(t, 2, got.RefusedSpans())
	assert.Equal(t, 1, got.Kept)
}

func TestOnlyWhatFailedIsTriedAgain(t *testing.T) {
	broken := errors.New("disk full")
	for name, test := range map[string]struct {
		fails  func(op, name string) bool
		failed int
	}{
		"the fragment of one run": {func(op, name string) bool { return op == "put" && strings.Contains(name, idA) }, 3},
		"the rows":                {func(op, name string) bool { return op == "put" && strings.HasPrefix(name, "index/") }, 6},
		"the look at one run":     {func(op, name string) bool { return op == "list" && strings.Contains(name, idB) }, 2},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t)
			f.write(storetest.AgentRun(t, "ff"+idA[2:], noon, bad))
			n := 0
			f.backend.Fail = func(op, name string) error {
				if test.fails(op, name) {
					n++
					return broken
				}
				return nil
			}
			row := tape.Row{Outcome: tape.OutcomeFailed}
			got := f.Write(t.Context(), merge(
				decided(storetest.AgentRun(t, idA, noon, good, bad), &row, "failed"),
				storetest.AgentRun(t, idB, noon, good),
				summary(t, tape.Row{TraceID: idC, Outcome: "succeeded"}),
			))
			require.ErrorIs(t, got.Err, broken)
			require.NoError(t, got.RefusedErr())
			assert.Equal(t, test.failed, got.Failed.SpanCount())
			f.backend.Fail = nil
			f.write(got.Failed)
			page, err := f.store.Rows(t.Context(), store.Query{})
			require.NoError(t, err)
			assert.Len(t, page.Rows, 4)
			assert.Len(t, f.tape(idA).Records, 2)
			assert.Len(t, f.tape(idB).Records, 1)
			_, err = f.store.Trace(t.Context(), idC)
			require.ErrorIs(t, err, store.ErrNotFound)
		})
	}
	f := newFixture(t)
	f.backend.Fail = func(op, _ string) error {
		if op == "put" {
			return errPermanent
		}
		return nil
	}
	got := f.Write(t.Context(), storetest.AgentRun(t, idA, noon, good))
	require.NoError(t, got.Err)
	require.ErrorIs(t, got.RefusedErr(), errPermanent)
	assert.Equal(t, 2, got.RefusedSpans())
}

func TestARowIsKeptWithinBounds(t *testing.T) {
	f := newFixture(t)
	long := strings.Repeat("é", 5000)
	row := tape.Row{Outcome: "failed", FailureReason: long, Agent: long, Trigger: tape.Trigger(long)}
	for range 300 {
		row.Tools = append(row.Tools, long[:1000])
	}
	f.write(decided(storetest.AgentRun(t, idA, noon, good), &row, "failed"))
	got := f.row(idA)
	assert.Equal(t, strings.Repeat("é", 512)+"…", got.FailureReason)
	assert.Len(t, got.Tools, 256)
	for _, o := range storetest.List(t, f.backend, "index/") {
		assert.Less(t, o.Size, int64(256<<10))
	}
}
