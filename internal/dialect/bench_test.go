package dialect

import (
	"fmt"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// plainSpans are spans as programs write them beside their agent's: requests,
// queries, steps.
func plainSpans(b *testing.B, n int) ptrace.Traces {
	td := ptrace.NewTraces()
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for i := range n {
		one := traces(b, sp{id: 1, from: i, to: i + 1, name: "GET /items", attrs: attrs{
			"http.request.method": "GET", "url.full": "https://example.com/items", "http.response.status_code": 200,
			"server.address": "example.com", "server.port": 443, "network.protocol.version": "1.1", "user_agent.original": "x", "http.route": "/items",
		}})
		span := spans.AppendEmpty()
		one.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).CopyTo(span)
		span.SetSpanID([8]byte{0, 0, 0, 0, byte(i >> 24), byte(i >> 16), byte(i >> 8), byte(i) + 1})
		if i > 0 {
			span.SetParentSpanID([8]byte{7: 1})
		}
	}
	return td
}

func BenchmarkKindOfPlainSpan(b *testing.B) {
	td := plainSpans(b, 1)
	rs := td.ResourceSpans().At(0)
	ss := rs.ScopeSpans().At(0)
	b.ReportAllocs()
	for b.Loop() {
		KindOf(rs.Resource(), ss.Scope(), ss.Spans().At(0))
	}
}

func BenchmarkTranslatePlainSpans(b *testing.B) {
	const n = 10000
	td := plainSpans(b, n)
	b.ReportAllocs()
	for b.Loop() {
		Translate(td, Options{})
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/span")
}

// BenchmarkTranslateHistory is a run whose every model span repeats the whole
// conversation before it.
func BenchmarkTranslateHistory(b *testing.B) {
	for _, turns := range []int{50, 100, 200} {
		b.Run(fmt.Sprintf("%d turns", turns), func(b *testing.B) {
			td, size := longRun(b, turns)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				Runs(td, plog.NewLogs(), Options{})
			}
		})
	}
}

func longRun(b testing.TB, turns int) (ptrace.Traces, int) {
	said := user
	spans := []sp{agentSpan(1, 0, turns*10)}
	size := 0
	for i := range turns {
		id := fmt.Sprintf("call_%d", i)
		call := asks(id, "search", fmt.Sprintf(`{"q":%d}`, i))
		model := chat(2, 1, i*10+1, i*10+5, "["+said+"]", "["+call+"]")
		size += len(said)
		spans = append(spans, model, tool(3, 1, i*10+6, i*10+9, "search", attrs{"gen_ai.tool.call.id": id, "gen_ai.tool.call.arguments": fmt.Sprintf(`{"q":%d}`, i), "gen_ai.tool.call.result": `"r"`}))
		said += "," + call + "," + answers(id, `"`+strings.Repeat("result ", 100)+`"`)
	}
	td := traces(b, spans...)
	for i, rs := range td.ResourceSpans().All() {
		rs.ScopeSpans().At(0).Spans().At(0).SetSpanID([8]byte{6: byte((i + 1) >> 8), 7: byte(i + 1)})
	}
	return td, size
}
