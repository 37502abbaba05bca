package dialect

import (
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/logfold"
	"github.com/tapedeck/tapedeck/tape"
)

// split cuts traces into random parts.
func split(td ptrace.Traces, rng *rand.Rand) []ptrace.Traces {
	parts := []ptrace.Traces{ptrace.NewTraces()}
	for _, rs := range td.ResourceSpans().All() {
		if rng.IntN(3) > 0 {
			parts = append(parts, ptrace.NewTraces())
		}
		rs.CopyTo(parts[len(parts)-1].ResourceSpans().AppendEmpty())
	}
	return parts
}

func copyLogs(ld plog.Logs) plog.Logs {
	out := plog.NewLogs()
	ld.CopyTo(out)
	return out
}

func recordsOf(runs []Run) (out [][]tape.Record) {
	for _, r := range runs {
		var records []tape.Record
		for rec := range r.Each() {
			records = append(records, rec)
		}
		out = append(out, records)
	}
	return out
}

// However traces are cut, in whatever order and how often their spans come, the
// runs are those of all at once.
func TestATranslationInPartsIsThatOfTheWhole(t *testing.T) {
	check := func(name string, td ptrace.Traces, ld plog.Logs, lean bool, rng *rand.Rand) {
		opts := Options{Lean: lean}
		want := Runs(td, ld, opts)
		whole := NewTranslation(opts)
		for _, part := range split(td, rng) {
			require.NoError(t, whole.Add(part))
		}
		whole.AddLogs(copyLogs(ld))
		got, err := whole.Runs()
		require.NoError(t, err)
		require.Len(t, got, len(want), name)
		for i := range want {
			require.Equal(t, want[i].Tape.Manifest, got[i].Tape.Manifest, name)
			require.Equal(t, want[i].Facts, got[i].Facts, name)
		}
		require.Equal(t, recordsOf(want), recordsOf(got), name)
		none, err := whole.Runs()
		require.NoError(t, err)
		assert.Empty(t, none)
	}
	rng := rand.New(rand.NewPCG(8, 9))
	for _, c := range recordings(t) {
		for round := range 2 {
			check(c.Name, deliver(c.Traces, rng), c.Logs, round%2 == 0, rng)
		}
		folded, logs := ptrace.NewTraces(), copyLogs(c.Logs)
		c.Traces.CopyTo(folded)
		logfold.Fold(folded, logs)
		check(c.Name+" folded", folded, plog.NewLogs(), true, rng)
	}
	for name, td := range realTraces(t) {
		check(name, td, plog.NewLogs(), true, rng)
	}
	for seed := range uint64(10) {
		check("turns", turns(t, seed), plog.NewLogs(), true, rng)
	}
}

// A run is read in memory that does not grow with what its spans repeat, in any
// notation.
func TestATranslationNeedsNoMemoryForRepetitions(t *testing.T) {
	for name, write := range notations {
		t.Run(name, func(t *testing.T) {
			const calls = 200
			td, size := repeatingRun(t, calls, 1100, write)
			require.Greater(t, size, 40<<20)
			var parts [][]byte
			for _, rs := range td.ResourceSpans().All() {
				one := ptrace.NewTraces()
				rs.CopyTo(one.ResourceSpans().AppendEmpty())
				b, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(one)
				require.NoError(t, err)
				parts = append(parts, b)
			}
			before := heapAlive()
			tr := NewTranslation(Options{Lean: true})
			for _, b := range parts {
				one, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(b)
				require.NoError(t, err)
				require.NoError(t, tr.Add(one))
			}
			held := heapAlive() - before
			assert.Less(t, held, int64(size)/10, "added")
			runs, err := tr.Runs()
			require.NoError(t, err)
			read := heapAlive() - before
			assert.Less(t, read, int64(size)/10, "read")
			records := 0
			for rec := range runs[0].Each() {
				records += len(rec.Args)
			}
			assert.Greater(t, records, size)
			t.Logf("%d MB of text, %.1f MB when added, %.1f MB when read", size>>20, float64(held)/(1<<20), float64(read)/(1<<20))
			runtime.KeepAlive(td)
			runtime.KeepAlive(parts)
		})
	}
}

func heapAlive() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func TestSpansOfNoTraceAndNoIDAreKeptApart(t *testing.T) {
	td := ptrace.NewTraces()
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for range 2 {
		s := spans.AppendEmpty()
		s.SetTraceID(pcommon.TraceID{1})
		s.SetName("execute_tool x")
		s.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
	}
	want := Runs(td, plog.NewLogs(), Options{})
	tr := NewTranslation(Options{})
	require.NoError(t, tr.Add(td))
	got, err := tr.Runs()
	require.NoError(t, err)
	require.Len(t, got, 1)
	assert.Len(t, got[0].Tape.Records, 2)
	assert.Equal(t, recordsOf(want), recordsOf(got))
}
