package dialect

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/tape"
)

// delivery is one arrival of a span.
type delivery struct {
	res   pcommon.Resource
	scope pcommon.InstrumentationScope
	span  ptrace.Span
}

// deliver sends the same spans again in another way: in any order, split into
// any requests, up to four times each, some of them first as a partial update.
func deliver(td ptrace.Traces, rng *rand.Rand) ptrace.Traces {
	var all []delivery
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				for range 1 + rng.IntN(4) {
					all = append(all, delivery{rs.Resource(), ss.Scope(), span})
				}
				if rng.IntN(3) == 0 {
					part := ptrace.NewSpan()
					span.CopyTo(part)
					part.SetEndTimestamp(0)
					part.Status().SetCode(ptrace.StatusCodeUnset)
					part.Status().SetMessage("")
					part.Events().RemoveIf(func(ptrace.SpanEvent) bool { return rng.IntN(2) == 0 })
					part.Attributes().RemoveIf(func(string, pcommon.Value) bool { return rng.IntN(2) == 0 })
					all = append(all, delivery{rs.Resource(), ss.Scope(), part})
				}
			}
		}
	}
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	out := ptrace.NewTraces()
	for i := 0; i < len(all); {
		rs := out.ResourceSpans().AppendEmpty()
		all[i].res.CopyTo(rs.Resource())
		ss := rs.ScopeSpans().AppendEmpty()
		all[i].scope.CopyTo(ss.Scope())
		all[i].span.CopyTo(ss.Spans().AppendEmpty())
		i++
		if rng.IntN(5) == 0 {
			rs.ScopeSpans().AppendEmpty()
			out.ResourceSpans().AppendEmpty()
		}
	}
	return out
}

func TestAnyDeliveryOfTheSameSpansGivesTheSameTape(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 11))
	for _, c := range recordings(t) {
		want := jsonl(t, TranslateWithLogs(c.Traces, c.Logs, Options{}))
		for range 4 {
			got := jsonl(t, TranslateWithLogs(deliver(c.Traces, rng), c.Logs, Options{}))
			require.Equal(t, want, got, c.Name)
		}
	}
	for name, td := range realTraces(t) {
		want := jsonl(t, Translate(td, Options{}))
		require.Equal(t, want, jsonl(t, Translate(deliver(td, rng), Options{})), name)
	}
}

func TestTranslationLeavesItsInputAlone(t *testing.T) {
	for _, c := range recordings(t) {
		before := ptrace.NewTraces()
		c.Traces.CopyTo(before)
		TranslateWithLogs(c.Traces, c.Logs, Options{})
		m := ptrace.ProtoMarshaler{}
		want, err := m.MarshalTraces(before)
		require.NoError(t, err)
		got, err := m.MarshalTraces(c.Traces)
		require.NoError(t, err)
		require.Equal(t, want, got, c.Name)
	}
}

func TestEveryTapeIsValid(t *testing.T) {
	for _, c := range recordings(t) {
		for _, tp := range TranslateWithLogs(c.Traces, c.Logs, Options{}) {
			assert.Empty(t, tape.Verify(tp), c.Name)
		}
	}
	for name, td := range realTraces(t) {
		for _, tp := range Translate(td, Options{}) {
			assert.Empty(t, tape.Verify(tp), name)
		}
	}
}

// KindOf is the cheap reading, and must never lose a call that Translate finds.
func TestKindOfFindsEveryCall(t *testing.T) {
	for _, c := range recordings(t) {
		kinds := map[string]Kind{}
		for _, rs := range c.Traces.ResourceSpans().All() {
			for _, ss := range rs.ScopeSpans().All() {
				for _, span := range ss.Spans().All() {
					kinds[span.SpanID().String()] = KindOf(rs.Resource(), ss.Scope(), span)
				}
			}
		}
		for _, tp := range TranslateWithLogs(c.Traces, c.Logs, Options{}) {
			for _, r := range tp.Records {
				if r.StepID != "" {
					assert.Equal(t, string(r.KindOf()), kinds[r.StepID].String(), "%s %s", c.Name, r.StepID)
				}
			}
		}
	}
}
