package dialect

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// plainSpans are spans as programs write them beside their agent's: requests,
// queries, steps.
func plainSpans(b testing.TB, n int) ptrace.Traces {
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
// conversation before it, in the notations it comes in.
func BenchmarkTranslateHistory(b *testing.B) {
	for name, write := range notations {
		for _, lean := range []bool{true, false} {
			b.Run(fmt.Sprintf("%s/lean=%t", name, lean), func(b *testing.B) {
				td, size := repeatingRun(b, 80, 1100, write)
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					Runs(td, plog.NewLogs(), Options{Lean: lean})
				}
			})
		}
	}
}

// turn is one message of a conversation.
type turn struct{ role, text string }

// notations write the request of a model call into a span.
var notations = map[string]func(pcommon.Map, []turn){
	"messages": func(a pcommon.Map, said []turn) {
		a.PutStr("gen_ai.operation.name", "chat")
		a.PutStr("gen_ai.input.messages", jsonTurns(said))
	},
	"whole request": func(a pcommon.Map, said []turn) {
		a.PutStr("openinference.span.kind", "LLM")
		a.PutStr("input.value", `{"model":"m","messages":`+jsonTurns(said)+`,"temperature":0}`)
	},
	"indexed": func(a pcommon.Map, said []turn) {
		a.PutStr("openinference.span.kind", "LLM")
		for i, t := range said {
			a.PutStr(fmt.Sprintf("llm.input_messages.%d.message.role", i), t.role)
			a.PutStr(fmt.Sprintf("llm.input_messages.%d.message.content", i), t.text)
		}
	},
	"structured": func(a pcommon.Map, said []turn) {
		a.PutStr("gen_ai.operation.name", "chat")
		list := a.PutEmptySlice("gen_ai.input.messages")
		for _, t := range said {
			m := list.AppendEmpty().SetEmptyMap()
			m.PutStr("role", t.role)
			m.PutStr("content", t.text)
		}
	},
}

func jsonTurns(said []turn) string {
	out := []byte{'['}
	for i, t := range said {
		if i > 0 {
			out = append(out, ',')
		}
		out = value.Obj(value.M("role", value.Str(t.role)), value.M("content", value.Str(t.text))).Append(out)
	}
	return string(append(out, ']'))
}

// repeatingRun is a run of so many model calls, each of which adds two messages
// of about the size, and the bytes of its content.
func repeatingRun(tb testing.TB, calls, size int, write func(pcommon.Map, []turn)) (td ptrace.Traces, total int) {
	spans := []sp{agentSpan(1, 0, calls*10)}
	for i := range calls {
		spans = append(spans, sp{id: 2, up: 1, from: i*10 + 1, to: i*10 + 5, name: "model"})
	}
	td = traces(tb, spans...)
	words := rand.New(rand.NewPCG(1, 1))
	var said []turn
	for i := range calls {
		for _, role := range []string{"user", "assistant"} {
			var text strings.Builder
			for text.Len() < size {
				fmt.Fprintf(&text, "line %d of \"text\"\n", words.IntN(1e6))
			}
			said = append(said, turn{role, text.String()})
		}
		span := td.ResourceSpans().At(i + 1).ScopeSpans().At(0).Spans().At(0)
		span.SetSpanID([8]byte{6: byte((i + 2) >> 8), 7: byte(i + 2)})
		write(span.Attributes(), said)
		for _, t := range said {
			total += len(t.text)
		}
	}
	return td, total
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
