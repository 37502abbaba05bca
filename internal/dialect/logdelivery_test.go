package dialect

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
)

// requestLogs sends the same log records again: in requests of any size, in any
// order of the spans they belong to, and some requests more than once. Records
// of one span keep their order, which they have from nothing else.
func requestLogs(ld plog.Logs, rng *rand.Rand) plog.Logs {
	type one struct {
		res    pcommon.Resource
		scope  pcommon.InstrumentationScope
		record plog.LogRecord
	}
	bySpan := map[pcommon.SpanID][]one{}
	var order []pcommon.SpanID
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, r := range sl.LogRecords().All() {
				if bySpan[r.SpanID()] == nil {
					order = append(order, r.SpanID())
				}
				bySpan[r.SpanID()] = append(bySpan[r.SpanID()], one{rl.Resource(), sl.Scope(), r})
			}
		}
	}
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	out := plog.NewLogs()
	for _, span := range order {
		for list := bySpan[span]; len(list) > 0; {
			n := 1 + rng.IntN(len(list))
			for range 1 + rng.IntN(3) {
				rl := out.ResourceLogs().AppendEmpty()
				list[0].res.CopyTo(rl.Resource())
				sl := rl.ScopeLogs().AppendEmpty()
				list[0].scope.CopyTo(sl.Scope())
				for _, l := range list[:n] {
					l.record.CopyTo(sl.LogRecords().AppendEmpty())
				}
			}
			list = list[n:]
		}
	}
	return out
}

func TestLogsMayBeSplitAndSentAgainInAnyRequests(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 13))
	tried := 0
	for _, c := range recordings(t) {
		if c.Logs.LogRecordCount() == 0 {
			continue
		}
		tried++
		want := jsonl(t, TranslateWithLogs(c.Traces, c.Logs, Options{}))
		for range 20 {
			require.Equal(t, want, jsonl(t, TranslateWithLogs(deliver(c.Traces, rng), requestLogs(c.Logs, rng), Options{})), c.Name)
		}
	}
	assert.Greater(t, tried, 8)
}

// Records of different times, or seen at different times, need no order of arrival.
func TestLogsOfDifferentTimesMayArriveInAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 17))
	td, ld := recording(t, "otel_genai_legacy_v136")
	seen := plog.NewLogs()
	ld.CopyTo(seen)
	for _, rl := range seen.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for i, r := range sl.LogRecords().All() {
				r.SetObservedTimestamp(r.Timestamp() + pcommon.Timestamp(i))
			}
		}
	}
	want := jsonl(t, TranslateWithLogs(td, ld, Options{}))
	for range 20 {
		var all []plog.LogRecord
		for _, rl := range seen.ResourceLogs().All() {
			for _, sl := range rl.ScopeLogs().All() {
				for _, r := range sl.LogRecords().All() {
					all = append(all, r)
				}
			}
		}
		rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		shuffled := plog.NewLogs()
		first := seen.ResourceLogs().At(0)
		for _, r := range all {
			rl := shuffled.ResourceLogs().AppendEmpty()
			first.Resource().CopyTo(rl.Resource())
			sl := rl.ScopeLogs().AppendEmpty()
			first.ScopeLogs().At(0).Scope().CopyTo(sl.Scope())
			r.CopyTo(sl.LogRecords().AppendEmpty())
		}
		require.Equal(t, want, jsonl(t, TranslateWithLogs(td, shuffled, Options{})))
	}
}
