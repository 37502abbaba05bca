package once_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/once"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
)

const prose = `The agent looked at the failing build, read the log of the last run and found that the test "adds two numbers" had been
skipped since March. It then opened the configuration: the job ran on one worker, with a limit of 30 minutes, and retried twice. `

// words gives n bytes of text, from another place each time.
func words(r *rand.Rand, n int) string {
	at := r.IntN(len(prose))
	return strings.Repeat(prose, n/len(prose)+2)[at : at+n]
}

func quoted(s string) string { return fmt.Sprintf("%q", s) }

// history is a run of model spans of which each has the whole conversation before
// it: 80 turns with tool results of log-normal sizes, median 600 B, 95th
// percentile 9 KB, up to 110 KB.
func history(turns int, cut string) []ptrace.Traces {
	r := rand.New(rand.NewPCG(1, 2))
	said := []string{`{"role":"system","parts":[{"type":"text","content":` + quoted(words(r, 3000)) + `}]}`}
	var out []ptrace.Traces
	for i := range turns {
		size := min(110_000, int(600*math.Exp(r.NormFloat64()*1.65)))
		answer := fmt.Sprintf(`{"role":"assistant","parts":[{"type":"tool_call","id":"call_%d","name":"search","arguments":{"q":%q}}]}`, i, words(r, 60))
		td := oneSpan(map[string]any{
			"gen_ai.operation.name": "chat", "gen_ai.request.model": "gpt-4.1", "gen_ai.provider.name": "openai",
			"gen_ai.usage.input_tokens": 1000 + i, "gen_ai.usage.output_tokens": 50,
			"gen_ai.input.messages":  "[" + strings.Join(said, cut) + "]",
			"gen_ai.output.messages": "[" + answer + "]",
		})
		td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).SetName("chat gpt-4.1")
		out = append(out, td)
		said = append(said, answer, fmt.Sprintf(`{"role":"tool","parts":[{"type":"tool_call_response","id":"call_%d","response":%s}]}`, i, quoted(words(r, size))))
	}
	return out
}

// BenchmarkHistory encodes a whole run of 80 turns, new texts and old.
func BenchmarkHistory(b *testing.B) {
	for _, c := range []struct{ name, cut string }{{"compact", ","}, {"python", ", "}} {
		b.Run(c.name, func(b *testing.B) {
			turns := history(80, c.cut)
			e := once.NewEncoder(scrub.New(redact.Default()), 0)
			size, out := 0, 0
			for _, td := range turns {
				size += len(wire(b, td))
			}
			b.SetBytes(int64(size))
			b.ReportAllocs()
			var buf []byte
			texts := 0
			for b.Loop() {
				b.StopTimer()
				var table once.Table
				copies := make([]ptrace.Traces, len(turns))
				for i := range turns {
					copies[i] = clone(turns[i])
				}
				out, texts = 0, 0
				b.StartTimer()
				for _, td := range copies {
					p, st, err := e.Traces(buf[:0], td, &table)
					if err != nil {
						b.Fatal(err)
					}
					out += len(p)
					texts += st.Texts
					buf = p
				}
			}
			b.ReportMetric(float64(size)/float64(out), "times-smaller")
			b.ReportMetric(float64(texts), "texts")
		})
	}
}

// BenchmarkRepeat encodes the last span of a run whose texts are all known.
func BenchmarkRepeat(b *testing.B) {
	for _, c := range []struct{ name, cut string }{{"compact", ","}, {"python", ", "}} {
		b.Run(c.name, func(b *testing.B) {
			turns := history(80, c.cut)
			last := turns[len(turns)-1]
			var table once.Table
			e := once.NewEncoder(scrub.New(redact.Default()), 0)
			for range 2 {
				if _, _, err := e.Traces(nil, clone(last), &table); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(len(wire(b, last))))
			b.ReportAllocs()
			var buf []byte
			var spent time.Duration
			for b.Loop() {
				b.StopTimer()
				td := clone(last)
				b.StartTimer()
				begin := time.Now()
				buf, _, _ = e.Traces(buf[:0], td, &table)
				spent += time.Since(begin)
			}
			b.ReportMetric(float64(table.Size()), "table-bytes")
		})
	}
}

// light is a request of spans without a long value, near 500 B each.
func light(n int) (ptrace.Traces, int) {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "shop")
	rs.Resource().Attributes().PutStr("service.version", "1.4.2")
	rs.Resource().Attributes().PutStr("telemetry.sdk.language", "python")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("opentelemetry.instrumentation.httpx")
	for i := range n {
		s := ss.Spans().AppendEmpty()
		s.SetTraceID([16]byte{1, 2, 3})
		s.SetSpanID([8]byte{1, byte(i >> 8), byte(i)})
		s.SetParentSpanID([8]byte{1})
		s.SetName("GET /items/{id}")
		s.SetStartTimestamp(1_756_555_200_000_000_000)
		s.SetEndTimestamp(1_756_555_200_100_000_000)
		a := s.Attributes()
		a.PutStr("http.request.method", "GET")
		a.PutStr("url.full", fmt.Sprintf("https://shop.example.com/items/%d?page=2", 1000+i))
		a.PutInt("http.response.status_code", 200)
		a.PutStr("server.address", "shop.example.com")
		a.PutInt("server.port", 443)
		a.PutStr("network.protocol.version", "1.1")
		a.PutStr("user_agent.original", "python-httpx/0.27.0")
		a.PutStr("http.route", "/items/{id}")
		a.PutStr("network.peer.address", "10.1.2.3")
		a.PutStr("thread.name", "MainThread")
		a.PutInt("thread.id", 140_735)
		a.PutStr("code.function.name", "shop.items.fetch_item")
	}
	m := ptrace.ProtoMarshaler{}
	return td, m.TracesSize(td)
}

// BenchmarkLight encodes requests of 64 light spans.
func BenchmarkLight(b *testing.B) {
	const n = 64
	e := once.NewEncoder(scrub.New(redact.Default()), 0)
	td, size := light(n)
	var table once.Table
	var buf []byte
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if buf, _, err = e.Traces(buf[:0], td, &table); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/span")
	b.ReportMetric(float64(size)/n, "B/span")
}

// BenchmarkDecode reads a whole run of 80 turns.
func BenchmarkDecode(b *testing.B) {
	turns := history(80, ",")
	var table once.Table
	e := once.NewEncoder(scrub.New(redact.Default()), 0)
	var payloads [][]byte
	size := 0
	for _, td := range turns {
		size += len(wire(b, td))
		p, _, err := e.Traces(nil, td, &table)
		if err != nil {
			b.Fatal(err)
		}
		payloads = append(payloads, p)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		d := once.NewDecoder()
		for _, p := range payloads {
			if _, err := d.Traces(p); err != nil {
				b.Fatal(err)
			}
		}
	}
}
