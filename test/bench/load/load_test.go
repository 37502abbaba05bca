package load

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/tape"
)

// each calls do for every span of a load, lane by lane, in the order of sending.
func each(t *testing.T, l Load, lanes int, do func(ptrace.ResourceSpans, ptrace.Span)) (size int) {
	t.Helper()
	for i := range lanes {
		lane := l.Lane(i, lanes)
		for {
			req, ok := lane.Next()
			if !ok {
				break
			}
			size += len(req.Body)
			assert.LessOrEqual(t, len(req.Body), 4<<20)
			td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(req.Body)
			require.NoError(t, err)
			require.Equal(t, td.SpanCount(), req.Spans)
			for _, rs := range td.ResourceSpans().All() {
				for _, ss := range rs.ScopeSpans().All() {
					for _, span := range ss.Spans().All() {
						do(rs, span)
					}
				}
			}
		}
	}
	return size
}

// runs gathers the spans of a load by run.
func runs(t *testing.T, l Load, lanes int) map[pcommon.TraceID]ptrace.Traces {
	t.Helper()
	all := map[pcommon.TraceID]ptrace.Traces{}
	each(t, l, lanes, func(rs ptrace.ResourceSpans, span ptrace.Span) {
		td, ok := all[span.TraceID()]
		if !ok {
			td = ptrace.NewTraces()
			to := td.ResourceSpans().AppendEmpty()
			rs.Resource().CopyTo(to.Resource())
			rs.ScopeSpans().At(0).Scope().CopyTo(to.ScopeSpans().AppendEmpty().Scope())
			all[span.TraceID()] = td
		}
		span.CopyTo(td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().AppendEmpty())
	})
	return all
}

func TestTheSameSeedMakesTheSameRunsInAnyNumberOfLanes(t *testing.T) {
	for _, make := range []func(int, uint64) Load{Rich, Light} {
		want := runs(t, make(4, 1), 1)
		require.Len(t, want, 4)
		for _, lanes := range []int{2, 5} {
			got := runs(t, make(4, 1), lanes)
			require.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)))
			for id := range want {
				require.Equal(t, want[id], got[id])
			}
		}
		other := runs(t, make(4, 2), 1)
		for id := range want {
			assert.NotContains(t, other, id)
		}
	}
}

func TestRunsAreInterleavedAndEndWithTheirRoot(t *testing.T) {
	for name, c := range map[string]struct {
		load  Load
		spans int
		open  int
	}{
		"content-rich": {Rich(5, 1), 134, 5},
		"light":        {Light(lightOpen+50, 1), 100, lightOpen},
	} {
		t.Run(name, func(t *testing.T) {
			count, open, most := map[pcommon.TraceID]int{}, 0, 0
			each(t, c.load, 1, func(_ ptrace.ResourceSpans, span ptrace.Span) {
				id := span.TraceID()
				if count[id]++; count[id] == 1 {
					open++
				}
				most = max(most, open)
				if span.ParentSpanID().IsEmpty() {
					open--
					assert.InDelta(t, c.spans, count[id], 1, "the root is the last of its run")
				}
			})
			assert.Len(t, count, c.load.Runs)
			assert.Zero(t, open)
			assert.Equal(t, c.open, most)
		})
	}
}

func TestTheRichLoadHasTheSizesItClaims(t *testing.T) {
	const count = 60
	var results []int
	size := each(t, Rich(count, 1), 4, func(_ ptrace.ResourceSpans, span ptrace.Span) {
		if v, ok := span.Attributes().Get("gen_ai.tool.call.result"); ok {
			results = append(results, len(v.Str()))
		}
	})
	slices.Sort(results)
	at := func(q float64) float64 { return float64(results[int(q*float64(len(results)))]) }
	assert.InEpsilon(t, 600, at(0.5), 0.05)
	assert.InEpsilon(t, 9_000, at(0.95), 0.1)
	assert.InEpsilon(t, maxResult, at(1-1/float64(len(results))), 0.25)
	assert.InEpsilon(t, 7e6, float64(size)/count, 0.1, "bytes a run")
	assert.Len(t, results, count*53-count/10, "each run but the recovered calls tools with success 53 times")
}

func TestLightSpansHaveTheSizeTheyClaim(t *testing.T) {
	var least, most, all, n = math.MaxInt, 0, 0, 0
	each(t, Light(50, 1), 1, func(_ ptrace.ResourceSpans, span ptrace.Span) {
		td := ptrace.NewTraces()
		span.CopyTo(td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty())
		// The fields around a span of that size are a byte of tag and two of length each.
		size := (&ptrace.ProtoMarshaler{}).TracesSize(td) - 13
		least, most, all, n = min(least, size), max(most, size), all+size, n+1
	})
	assert.Equal(t, 5_000, n)
	assert.InDelta(t, lightSize, all/n, 5)
	assert.Greater(t, least, lightSize-12)
	assert.Less(t, most, lightSize+12)
}

// What is measured must be what the product reads: every call of a rich run with
// its content, and the outcomes that were meant.
func TestRunsAreReadAsTheyAreMeant(t *testing.T) {
	for name, l := range map[string]Load{"content-rich": Rich(10, 1), "light": Light(10, 1)} {
		t.Run(name, func(t *testing.T) {
			outcomes := map[tape.Outcome]int{}
			for _, td := range runs(t, l, 1) {
				read := dialect.Runs(td, plog.NewLogs(), dialect.Options{})
				require.Len(t, read, 1)
				tp := read[0].Tape
				outcomes[tp.Manifest.Outcome]++
				if name == "content-rich" {
					assert.Len(t, tp.Records, map[bool]int{true: 134, false: 133}[tp.Manifest.Outcome == tape.OutcomeFailed])
					for _, rec := range tp.Records {
						assert.NotEqual(t, tape.FidelityAbsent, cmp.Or(rec.Fidelity, tape.FidelityExact), rec.Tool)
					}
				}
			}
			assert.Equal(t, map[tape.Outcome]int{tape.OutcomeSucceeded: 8, tape.OutcomeFailed: 1, tape.OutcomeRecovered: 1}, outcomes)
		})
	}
}

func TestAPieceOfTextIsWholeRunes(t *testing.T) {
	d := newDraw(1, 1)
	for range 20_000 {
		n := d.IntN(50)
		text := d.text(n)
		assert.LessOrEqual(t, len(text), n)
		require.True(t, utf8.ValidString(text), "%q", text)
	}
}

// Making a load must cost little beside receiving it.
func BenchmarkMake(b *testing.B) {
	for name, l := range map[string]Load{"rich": Rich(4, 1), "light": Light(200, 1)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				var size int64
				for lane := l.Lane(0, 1); ; {
					req, ok := lane.Next()
					if !ok {
						break
					}
					size += int64(len(req.Body))
				}
				b.SetBytes(size)
			}
		})
	}
}
