package archive_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/archive"
	"github.com/tapedeck/tapedeck/internal/store/rebuild"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

const (
	idA = "0102030405060708090a0b0c0d0e0f10"
	idB = "1102030405060708090a0b0c0d0e0f10"
	idC = "2102030405060708090a0b0c0d0e0f10"
)

var noon = time.Date(2026, 1, 2, 12, 30, 0, 0, time.UTC)

type fixture struct {
	*archive.Archive
	t       *testing.T
	store   *store.Store
	backend *storetest.Memory
	// clock counts nanoseconds since noon.
	clock atomic.Int64
	// storeNow is the clock of the store, in nanoseconds since noon.
	storeNow atomic.Int64
}

var errPermanent = errors.New("refused for good")

func newFixture(t *testing.T) *fixture {
	t.Helper()
	f := &fixture{t: t, backend: storetest.NewMemory()}
	var err error
	f.store, err = store.Open(f.backend, store.Options{MaxObject: 1 << 20, Now: func() time.Time { return noon.Add(time.Duration(f.storeNow.Load())) }})
	require.NoError(t, err)
	t.Cleanup(f.store.Close)
	f.Archive = archive.New(f.store, archive.Options{
		Class: func(row tape.Row) string {
			if row.Outcome == tape.OutcomeSucceeded {
				return "kept"
			}
			return "failures"
		},
		Scrubber:  scrub.New(redact.Default()),
		Permanent: func(err error) bool { return errors.Is(err, errPermanent) },
		Now:       func() time.Time { return noon.Add(time.Duration(f.clock.Add(1))) },
	})
	return f
}

// write stores and expects that nothing goes wrong.
func (f *fixture) write(td ptrace.Traces) archive.Result {
	f.t.Helper()
	got := f.Write(f.t.Context(), td)
	require.NoError(f.t, got.Err)
	require.NoError(f.t, got.RefusedErr())
	assert.Zero(f.t, got.Failed.SpanCount())
	return got
}

func (f *fixture) row(id string) tape.Row {
	f.t.Helper()
	row, err := f.store.Row(f.t.Context(), id)
	require.NoError(f.t, err)
	return row
}

func (f *fixture) tape(id string) *tape.Tape {
	f.t.Helper()
	tp, err := rebuild.Tape(f.t.Context(), f.store, id, rebuild.Options{})
	require.NoError(f.t, err)
	return tp
}

func (f *fixture) classes(id string) []string {
	f.t.Helper()
	run, err := f.store.Trace(f.t.Context(), id)
	require.NoError(f.t, err)
	return run.Classes
}

var (
	good = storetest.Call{Tool: "fetch", Args: `{"url":"http://a"}`, Result: `{"ok":1}`}
	bad  = storetest.Call{Tool: "pay", Args: `{"sum":3}`, Error: "declined"}
)

// decided marks a run as a processor does.
func decided(td ptrace.Traces, row *tape.Row, outcome tape.Outcome) ptrace.Traces {
	for _, rs := range td.ResourceSpans().All() {
		rs.Resource().Attributes().PutStr(attr.Redaction, "policy of the processor")
		for _, ss := range rs.ScopeSpans().All() {
			for i, span := range ss.Spans().All() {
				span.Attributes().PutStr(attr.Outcome, string(outcome))
				span.Attributes().PutStr(attr.Trigger, string(tape.TriggerRootEnded))
				if i == 0 && row != nil {
					attr.PutRow(span.Attributes(), *row)
				}
			}
		}
	}
	return td
}

func summary(t *testing.T, row tape.Row) ptrace.Traces {
	td := storetest.AgentRun(t, row.TraceID, noon)
	decided(td, &row, row.Outcome)
	td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().PutBool(attr.Summary, true)
	return td
}

func merge(all ...ptrace.Traces) ptrace.Traces {
	out := ptrace.NewTraces()
	for _, td := range all {
		td.ResourceSpans().MoveAndAppendTo(out.ResourceSpans())
	}
	return out
}

func TestADecidedRunIsStoredAsTheProcessorSays(t *testing.T) {
	f := newFixture(t)
	row := tape.Row{TraceID: "forged", Outcome: tape.OutcomeFailed, Trigger: tape.TriggerIdle, Agent: "buyer", Steps: 7, Decided: noon.Format(time.RFC3339)}
	got := f.write(decided(storetest.AgentRun(t, idA, noon, good, bad), &row, tape.OutcomeFailed))
	assert.Equal(t, archive.Result{Fragments: 1, Bytes: got.Bytes, Kept: 1, Failed: got.Failed}, got)
	stored := f.row(idA)
	assert.Equal(t, tape.Row{
		TraceID: idA, Outcome: tape.OutcomeFailed, Trigger: tape.TriggerIdle, Agent: "buyer", Steps: 7,
		Decided: noon.Format(time.RFC3339), Kept: true, Class: "failures", Bytes: got.Bytes,
	}, stored)
	assert.Equal(t, []string{"failures"}, f.classes(idA))
	assert.Len(t, f.tape(idA).Records, 2)
}

func TestASummaryIsARowAndNothingElse(t *testing.T) {
	f := newFixture(t)
	got := f.write(summary(t, tape.Row{TraceID: idA, Outcome: tape.OutcomeSucceeded, Steps: 3, Kept: true, Class: "x", Bytes: 9}))
	assert.Equal(t, 1, got.Summarised)
	assert.Zero(t, got.Fragments)
	assert.Equal(t, tape.Row{TraceID: idA, Outcome: tape.OutcomeSucceeded, Steps: 3, Decided: noon.Format(time.RFC3339)}, f.row(idA))
	assert.Empty(t, storetest.List(t, f.backend, "tapes/"))
}

func TestABatchOfRunsIsTakenApart(t *testing.T) {
	f := newFixture(t)
	rowA := tape.Row{Outcome: tape.OutcomeFailed}
	rowB := tape.Row{Outcome: tape.OutcomeSucceeded}
	td := merge(
		decided(storetest.AgentRun(t, idA, noon, good, bad), &rowA, tape.OutcomeFailed),
		summary(t, tape.Row{TraceID: idC, Outcome: tape.OutcomeSucceeded}),
		decided(storetest.AgentRun(t, idB, noon, good), &rowB, tape.OutcomeSucceeded),
	)
	// One scope with spans of both runs.
	mixed := decided(storetest.AgentRun(t, idA, noon, good, good, good), nil, tape.OutcomeFailed)
	spans := mixed.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	raw, err := hex.DecodeString(idB)
	require.NoError(t, err)
	for i, span := range spans.All() {
		span.SetSpanID(pcommon.SpanID{9, byte(i)})
		if i%2 == 1 {
			span.SetTraceID(pcommon.TraceID(raw))
		}
	}
	got := f.write(merge(td, mixed))
	assert.Equal(t, 2, got.Kept)
	assert.Equal(t, 1, got.Summarised)
	assert.Equal(t, 2, got.Fragments)
	for id, want := range map[string]int{idA: 3 + 2, idB: 2 + 2} {
		run, err := f.store.Trace(t.Context(), id)
		require.NoError(t, err)
		assert.Equal(t, want, run.Traces.SpanCount())
		for _, rs := range run.Traces.ResourceSpans().All() {
			name, _ := rs.Resource().Attributes().Get("service.name")
			assert.Equal(t, "shop", name.Str())
			assert.Equal(t, "opentelemetry.instrumentation.agent", rs.ScopeSpans().At(0).Scope().Name())
		}
	}
}

func TestARunInSeveralRequestsHasOneRow(t *testing.T) {
	row := tape.Row{
		Outcome: tape.OutcomeFailed, Trigger: tape.TriggerRootEnded, Agent: "buyer", Kept: true, Class: "failures",
		Spans: 6, Decided: noon.Format(time.RFC3339),
	}
	for _, order := range [][]int{{0, 1, 2}, {2, 1, 0}, {1, 0, 2}, {0, 0, 1, 1, 2, 2, 0}} {
		f := newFixture(t)
		var stored int64
		seen := map[int]bool{}
		for _, n := range order {
			part := shards(storetest.AgentRun(t, idA, noon, good, bad))[n]
			var of *tape.Row
			if n == 0 {
				of = &row
			}
			got := f.write(decided(part, of, tape.OutcomeFailed))
			assert.Equal(t, 1, got.Fragments)
			if !seen[n] {
				stored += got.Bytes
			}
			seen[n] = true
			assert.Equal(t, n == 0, got.Kept == 1, "only the row is counted as a run")
		}
		want := row
		want.TraceID, want.Bytes = idA, stored
		assert.Equal(t, want, f.row(idA), "order %v", order)
		page, err := f.store.Rows(t.Context(), store.Query{})
		require.NoError(t, err)
		assert.Equal(t, []tape.Row{want}, page.Rows)
		assert.Equal(t, []string{"failures"}, f.classes(idA))
	}
}

func TestALateSpanOfADeletedRunIsInTheList(t *testing.T) {
	f := newFixture(t)
	f.write(decided(storetest.AgentRun(t, idA, noon, bad), &tape.Row{Outcome: tape.OutcomeFailed, Decided: noon.Format(time.RFC3339)}, tape.OutcomeFailed))
	require.NoError(t, f.store.Delete(t.Context(), idA))
	_, err := f.store.Row(t.Context(), idA)
	require.ErrorIs(t, err, store.ErrNotFound)
	f.clock.Add(int64(time.Minute))
	late := decided(storetest.AgentRun(t, idA, noon, good), nil, tape.OutcomeFailed)
	f.storeNow.Store(int64(time.Minute))
	got := f.write(late)
	want := tape.Row{
		TraceID: idA, Outcome: tape.OutcomeFailed, Kept: true, Class: "failures", Bytes: got.Bytes,
		Decided: noon.Add(time.Minute).Format(time.RFC3339),
	}
	page, err := f.store.Rows(t.Context(), store.Query{KeptOnly: true})
	require.NoError(t, err)
	assert.Equal(t, []tape.Row{want}, page.Rows, "what is stored is in the list, so that it can be deleted")
	assert.Equal(t, want, f.row(idA))
	require.NoError(t, f.store.Delete(t.Context(), idA))
	page, err = f.store.Rows(t.Context(), store.Query{})
	require.NoError(t, err)
	assert.Empty(t, page.Rows)
}

func TestALateSpanAddsToTheRowOfItsRunHoursAgo(t *testing.T) {
	f := newFixture(t)
	row := tape.Row{Outcome: tape.OutcomeFailed, Agent: "buyer", Trigger: tape.TriggerRootEnded, Decided: noon.Format(time.RFC3339)}
	first := f.write(decided(storetest.AgentRun(t, idA, noon, bad), &row, tape.OutcomeFailed))
	f.storeNow.Store(int64(5 * time.Hour))
	late := f.write(decided(storetest.AgentRun(t, idA, noon, good), nil, tape.OutcomeFailed))
	page, err := f.store.Rows(t.Context(), store.Query{})
	require.NoError(t, err)
	require.Len(t, page.Rows, 1)
	assert.Equal(t, "buyer", page.Rows[0].Agent)
	assert.Equal(t, first.Bytes+late.Bytes, page.Rows[0].Bytes)
}

func TestAnUndecidedRunIsRedactedAndKept(t *testing.T) {
	const secret = "AKIAIOSFODNN7EXAMPLE"
	f := newFixture(t)
	got := f.write(storetest.AgentRun(t, idA, noon, storetest.Call{Tool: "pay", Args: `{"password":"hunter2","key":"` + secret + `"}`, Error: "declined"}))
	assert.Positive(t, got.Redacted)
	row := f.row(idA)
	assert.Equal(t, tape.OutcomeFailed, row.Outcome)
	assert.Equal(t, "failures", row.Class)
	assert.Equal(t, got.Bytes, row.Bytes)
	assert.True(t, row.Kept)
	assert.Equal(t, 1, row.ToolCalls)
	tp := f.tape(idA)
	require.Len(t, tp.Records, 1)
	assert.NotContains(t, string(tp.Records[0].Args), secret)
	assert.NotContains(t, string(tp.Records[0].Args), "hunter2")
	assert.Equal(t, redact.Default().Manifest(), tp.Manifest.Redaction)

	// What a processor redacted is left as it is.
	f.write(decided(storetest.AgentRun(t, idB, noon, storetest.Call{Tool: "pay", Args: `{"password":"allowed here"}`}), &tape.Row{Outcome: "failed"}, "failed"))
	assert.Contains(t, string(f.tape(idB).Records[0].Args), "allowed here")
}

func TestARunWithoutCallsIsKeptToo(t *testing.T) {
	f := newFixture(t)
	td := ptrace.NewTraces()
	span := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	span.SetTraceID(pcommon.TraceID{1})
	f.write(td)
	assert.True(t, f.row("01"+strings.Repeat("0", 30)).Kept)
}

// shards cuts a run into one request for each span.
func shards(td ptrace.Traces) []ptrace.Traces {
	var out []ptrace.Traces
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				one := ptrace.NewTraces()
				to := one.ResourceSpans().AppendEmpty()
				rs.Resource().CopyTo(to.Resource())
				scope := to.ScopeSpans().AppendEmpty()
				ss.Scope().CopyTo(scope.Scope())
				span.CopyTo(scope.Spans().AppendEmpty())
				out = append(out, one)
			}
		}
	}
	return out
}

func TestAnyOrderOfTheSameSpansGivesTheSameTape(t *testing.T) {
	calls := []storetest.Call{good, bad, good, good, bad}
	whole := newFixture(t)
	whole.write(storetest.AgentRun(t, idA, noon, calls...))
	want, err := json.Marshal(whole.tape(idA).Records)
	require.NoError(t, err)
	wantRow := whole.row(idA)
	for seed := range uint64(5) {
		f := newFixture(t)
		parts := shards(storetest.AgentRun(t, idA, noon, calls...))
		rand.New(rand.NewPCG(seed, 1)).Shuffle(len(parts), func(i, j int) { parts[i], parts[j] = parts[j], parts[i] })
		var wg sync.WaitGroup
		for i, part := range parts {
			again := ptrace.NewTraces()
			part.CopyTo(again)
			wg.Go(func() {
				f.Write(t.Context(), part)
				if i%2 == 0 {
					f.Write(t.Context(), again)
				}
			})
		}
		wg.Wait()
		got, err := json.Marshal(f.tape(idA).Records)
		require.NoError(t, err)
		assert.JSONEq(t, string(want), string(got))
		page, err := f.store.Rows(t.Context(), store.Query{})
		require.NoError(t, err)
		require.Len(t, page.Rows, 1)
		// The last row knows all spans, whichever request wrote it.
		last := page.Rows[0]
		last.Bytes, last.Class, last.Decided = wantRow.Bytes, wantRow.Class, wantRow.Decided
		assert.Equal(t, wantRow, last)
	}
}

func TestEmptyTraces(t *testing.T) {
	f := newFixture(t)
	for range 3 {
		td := ptrace.NewTraces()
		assert.Equal(t, archive.Result{Failed: ptrace.NewTraces()}, f.Write(t.Context(), td))
		td.ResourceSpans().AppendEmpty()
		f.write(td)
		td.ResourceSpans().At(0).ScopeSpans().AppendEmpty()
		f.write(td)
	}
	assert.Empty(t, f.backend.Names())
}

func TestALargeResourceAboveManyRunsIsRefused(t *testing.T) {
	f := newFixture(t)
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("large", strings.Repeat("x", 1<<20))
	spans := rs.ScopeSpans().AppendEmpty().Spans()
	for i := range 1100 {
		spans.AppendEmpty().SetTraceID(pcommon.TraceID{1, byte(i >> 8), byte(i)})
	}
	got := f.Write(t.Context(), td)
	require.NoError(t, got.Err)
	assert.Equal(t, 1100, got.RefusedSpans())
	require.ErrorIs(t, got.RefusedErr(), store.ErrTooLarge)
}
