package dialect

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect/fidelity"
	"github.com/tapedeck/tapedeck/tape"
)

// sp is a span for a test. Times are milliseconds after a fixed moment, ids one
// byte. Attributes are what pcommon.Map.FromRaw takes.
type sp struct {
	trace, id, up byte
	name, scope   string
	service       string
	kind          ptrace.SpanKind
	from, to      int
	err           string
	failed, ok    bool
	dropped       uint32
	attrs         map[string]any
	events        []ev
}

type ev struct {
	name  string
	attrs map[string]any
}

var epoch = time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)

func at(ms int) pcommon.Timestamp {
	return pcommon.NewTimestampFromTime(epoch.Add(time.Duration(ms) * time.Millisecond))
}

func traces(t testing.TB, spans ...sp) ptrace.Traces {
	t.Helper()
	td := ptrace.NewTraces()
	for _, s := range spans {
		rs := td.ResourceSpans().AppendEmpty()
		if s.service == "" {
			s.service = "agent"
		}
		rs.Resource().Attributes().PutStr("service.name", s.service)
		ss := rs.ScopeSpans().AppendEmpty()
		ss.Scope().SetName(s.scope)
		span := ss.Spans().AppendEmpty()
		if s.trace == 0 {
			s.trace = 1
		}
		span.SetTraceID(pcommon.TraceID{15: s.trace})
		span.SetSpanID(pcommon.SpanID{7: s.id})
		if s.up != 0 {
			span.SetParentSpanID(pcommon.SpanID{7: s.up})
		}
		span.SetName(s.name)
		span.SetKind(s.kind)
		span.SetStartTimestamp(at(s.from))
		if s.to >= 0 {
			span.SetEndTimestamp(at(s.to))
		}
		span.SetDroppedAttributesCount(s.dropped)
		if s.err != "" || s.failed {
			span.Status().SetCode(ptrace.StatusCodeError)
			span.Status().SetMessage(s.err)
		} else if s.ok {
			span.Status().SetCode(ptrace.StatusCodeOk)
		}
		require.NoError(t, span.Attributes().FromRaw(s.attrs))
		for _, e := range s.events {
			event := span.Events().AppendEmpty()
			event.SetName(e.name)
			event.SetTimestamp(at(s.from))
			require.NoError(t, event.Attributes().FromRaw(e.attrs))
		}
	}
	return td
}

// one is the only tape of some spans.
func one(t testing.TB, spans ...sp) *tape.Tape {
	t.Helper()
	return oneWith(t, Options{}, spans...)
}

func oneWith(t testing.TB, opts Options, spans ...sp) *tape.Tape {
	t.Helper()
	tapes := Translate(traces(t, spans...), opts)
	require.Len(t, tapes, 1)
	return tapes[0]
}

type attrs = map[string]any

// tool is an execute_tool span.
func tool(id, up byte, from, to int, name string, more attrs) sp {
	a := attrs{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": name}
	for k, v := range more {
		a[k] = v
	}
	return sp{id: id, up: up, from: from, to: to, name: "execute_tool " + name, attrs: a}
}

// chat is a model span with its messages as JSON text.
func chat(id, up byte, from, to int, in, out string) sp {
	a := attrs{"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
	if in != "" {
		a["gen_ai.input.messages"] = in
	}
	if out != "" {
		a["gen_ai.output.messages"] = out
	}
	return sp{id: id, up: up, from: from, to: to, name: "chat m", kind: ptrace.SpanKindClient, attrs: a}
}

func agentSpan(id byte, from, to int) sp {
	return sp{id: id, from: from, to: to, name: "invoke_agent a", attrs: attrs{"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "a"}}
}

const (
	user     = `{"role":"user","parts":[{"type":"text","content":"do it"}]}`
	finished = `[{"role":"assistant","parts":[{"type":"text","content":"done"}]}]`
)

// asks is an assistant message with one tool call, answers the reply to it.
func asks(id, name, args string) string {
	return `{"role":"assistant","parts":[{"type":"tool_call","id":"` + id + `","name":"` + name + `","arguments":` + args + `}]}`
}

func answers(id, result string) string {
	return `{"role":"tool","parts":[{"type":"tool_call_response","id":"` + id + `","response":` + result + `}]}`
}

// toolRecords are the tool calls of a tape.
func toolRecords(t *tape.Tape) []tape.Record {
	var out []tape.Record
	for _, r := range t.Records {
		if r.KindOf() == tape.KindTool {
			out = append(out, r)
		}
	}
	return out
}

func jsonl(t testing.TB, tapes []*tape.Tape) string {
	t.Helper()
	var b bytes.Buffer
	for _, tp := range tapes {
		require.NoError(t, tape.NewWriter(&b).WriteTape(tp))
	}
	return b.String()
}

// recordings are all samples, all spans written after a description, and all
// captures. They are read once: nobody may change them.
func recordings(t testing.TB) []fidelity.Case {
	t.Helper()
	cases, err := allRecordings()
	require.NoError(t, err)
	return cases
}

var allRecordings = sync.OnceValues(func() (all []fidelity.Case, err error) {
	for _, from := range []struct {
		read func(string) ([]fidelity.Case, error)
		dir  string
	}{{fidelity.ReadSamples, "samples"}, {fidelity.ReadSamples, "described"}, {fidelity.ReadCaptures, "captures"}} {
		cases, err := from.read(filepath.Join("testdata", from.dir))
		if err != nil {
			return nil, err
		}
		all = append(all, cases...)
	}
	return all, nil
})

// realTraces are exports of real programs, one request a line.
func realTraces(t testing.TB) map[string]ptrace.Traces {
	t.Helper()
	names, err := filepath.Glob("testdata/real/*/otlp.jsonl*")
	require.NoError(t, err)
	require.NotEmpty(t, names)
	out := map[string]ptrace.Traces{}
	for _, name := range names {
		data := readAll(t, name)
		td := ptrace.NewTraces()
		for _, line := range bytes.Split(data, []byte("\n")) {
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			request, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
			require.NoError(t, err, name)
			request.ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
		}
		out[filepath.Base(filepath.Dir(name))] = td
	}
	return out
}

// readAll reads a file, through gzip if its name says so.
func readAll(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	require.NoError(t, err)
	if filepath.Ext(name) != ".gz" {
		return data
	}
	zr, err := gzip.NewReader(bytes.NewReader(data))
	require.NoError(t, err)
	data, err = io.ReadAll(zr)
	require.NoError(t, err)
	return data
}
