package ingest_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/ingest"
	"github.com/tapedeck/tapedeck/tape"
)

var now = time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)

func read(t testing.TB, lines ...string) *tape.Tape {
	t.Helper()
	out, err := tape.ReadAll(strings.NewReader(strings.Join(lines, "\n") + "\n"))
	require.NoError(t, err)
	return out
}

// again takes a tape in and translates what is made of it.
func again(t testing.TB, in *tape.Tape) (*tape.Tape, ptrace.Traces) {
	t.Helper()
	runs := ingest.Traces(in, ingest.Options{Now: now, Service: "plain"})
	require.Len(t, runs, 1)
	tapes := dialect.Translate(runs[0].Traces, dialect.Options{})
	require.Len(t, tapes, 1)
	return tapes[0], runs[0].Traces
}

// core are the members that any simple recorder writes.
func core(r tape.Record) string {
	line, err := (&tape.Record{
		Seq: r.Seq, Tool: r.Tool, Key: r.Key, Args: r.Args, Result: r.Result, MS: r.MS, SideEffect: r.SideEffect, Clock: r.Clock,
	}).AppendJSON(nil)
	if err != nil {
		return err.Error()
	}
	return string(line)
}

func cores(records []tape.Record) []string {
	out := make([]string, 0, len(records))
	for _, r := range records {
		out = append(out, core(r))
	}
	return out
}

// keyed gives each record the key that it must have.
func keyed(t testing.TB, in *tape.Tape) *tape.Tape {
	t.Helper()
	for i := range in.Records {
		key, err := tape.KeyOf(&in.Records[i])
		require.NoError(t, err)
		in.Records[i].Key = key
	}
	return in
}

func TestTheCoreOfAPlainTapeComesBack(t *testing.T) {
	in := keyed(t, read(t,
		`{"seq":1,"tool":"fetch","args":{"url":"http://a","n":3,"x":1.0,"deep":{"b":[1,"2",null],"a":true}},"result":{"page":"ä <"},"ms":12.5,"side_effect":false,"clock":"2026-01-02T03:04:05Z"}`,
		`{"seq":2,"tool":"say","args":"{\"looks\":\"like JSON\"}","result":"{\"a\":1}","ms":0,"side_effect":true,"clock":null}`,
		`{"seq":3,"tool":"nothing","args":null,"result":null,"ms":0.000001,"side_effect":null,"clock":null}`,
		`{"seq":4,"tool":"wrapped","args":{"args":[1],"kwargs":{}},"result":{"content":[{"type":"text","text":"x"}],"isError":false},"ms":1,"side_effect":null,"clock":null}`,
		`{"seq":5,"tool":"big","args":[123456789012345678901234567890,1e400,-0.1],"result":12,"ms":3600000,"side_effect":null,"clock":null}`,
		`{"seq":6,"tool":"hidden","args":{"k":"[REDACTED]"},"result":"[REDACTED]","ms":2,"side_effect":null,"clock":null}`,
		`{"seq":7,"tool":"cut","args":{},"result":"{\"a\": \"b…","ms":2,"side_effect":null,"clock":null}`,
		`{"seq":8,"tool":"ref","args":"tape-blob:sha256:`+strings.Repeat("ab", 32)+`:5:text/plain","result":false,"ms":2,"side_effect":null,"clock":null}`,
		`{"seq":9,"tool":"","args":{},"result":"","ms":2,"side_effect":null,"clock":null}`,
	))
	out, td := again(t, in)
	assert.Equal(t, cores(in.Records), cores(out.Records))
	assert.Equal(t, tape.OutcomeSucceeded, out.Manifest.Outcome)
	assert.True(t, out.Manifest.Complete, "%v", out.Manifest.Gaps)
	assert.Equal(t, "plain", out.Manifest.Service)
	assert.Equal(t, 10, td.SpanCount(), "one span a record, and the run's")
	assert.Equal(t, now.UTC().Format(time.RFC3339Nano), out.Manifest.Ended)
}

func TestMoreThanTheCoreComesBack(t *testing.T) {
	in := keyed(t, read(t,
		`{"tape":"1","trace_id":"0102030405060708090a0b0c0d0e0f10","conversation_id":"talk","service":"shop","agent":"buyer","agent_version":"3","code_version":"abc","environment":"prod","started":"2026-01-02T03:04:04Z","ended":"2026-01-02T03:05:00Z","outcome":"failed","failure":{"reason":"no stock"},"tools":[{"name":"buy","description":"Buys.","schema":{"type":"object"},"schema_version":"v2"}],"resource":{"host.name":"h","n":1,"list":["a",2.5]}}`,
		`{"seq":1,"tool":"chat","args":{"system":[{"role":"system","parts":[{"type":"text","content":"be"}]}],"messages":[{"role":"user","parts":[{"type":"text","content":"buy"}]}],"tools":[{"name":"look","schema":{"type":"object"}}],"params":{"temperature":0.5,"max_tokens":10,"stop":["a"]}},"result":{"message":{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"buy","arguments":{"n":1}}]},"finish_reason":"tool_calls","model":"m-1","usage":{"input_tokens":5,"output_tokens":6,"cache_read_tokens":1,"cache_write_tokens":2,"reasoning_tokens":3}},"ms":10,"side_effect":null,"clock":null,"kind":"model","model":"m","start":"2026-01-02T03:04:05.000000001Z","step_id":"0000000000000002","parent_id":"0000000000000001","done":1}`,
		`{"seq":2,"tool":"now","args":null,"result":"2026-01-02T03:04:06Z","ms":0,"side_effect":false,"clock":"2026-01-02T03:04:06Z","kind":"clock","start":"2026-01-02T03:04:06Z","parent_id":"0000000000000001","done":2}`,
		`{"seq":3,"tool":"bytes","args":{"bytes":2},"result":"AAE=","ms":0,"side_effect":false,"clock":null,"kind":"random","start":"2026-01-02T03:04:07Z","parent_id":"0000000000000001","done":3}`,
		`{"seq":4,"tool":"buy","args":{"n":1},"args_raw":"{\"n\": 1}","args_validated":{"n":1,"m":2},"result":null,"ms":20,"side_effect":true,"clock":null,"error":{"code":"-32000","message":"no stock\nTraceback (most recent call last):\n  x","type":"StockError"},"start":"2026-01-02T03:04:08Z","step_id":"0000000000000004","parent_id":"0000000000000001","tool_call_id":"c1","schema_version":"v2","prompt_version":"p7","policy_result":"allow","approval_id":"a1","caller_context":{"role":"r","tenant":"t","user":"u"},"done":4,"expires":"2027-01-01T00:00:00Z","own":{"x":1}}`,
	))
	out, td := again(t, in)
	require.Len(t, out.Records, 4)
	assert.Equal(t, cores(in.Records), cores(out.Records))
	for i := range out.Records {
		want, got := in.Records[i], out.Records[i]
		assert.Equal(t, want.KindOf(), got.Kind)
		assert.Equal(t, want.Start, got.Start)
		assert.Equal(t, want.StepID, got.StepID)
		assert.Equal(t, want.ParentID, got.ParentID)
		assert.Equal(t, want.Done, got.Done)
		assert.Equal(t, want.Model, got.Model)
		assert.Equal(t, want.Error, got.Error)
	}
	want, got := in.Records[3], out.Records[3]
	assert.Equal(t, want.ArgsRaw, got.ArgsRaw)
	assert.JSONEq(t, string(want.ArgsValidated), string(got.ArgsValidated))
	assert.JSONEq(t, string(want.CallerContext), string(got.CallerContext))
	assert.Equal(t,
		[]string{want.ToolCallID, want.SchemaVersion, want.PromptVersion, want.PolicyResult, want.ApprovalID},
		[]string{got.ToolCallID, got.SchemaVersion, got.PromptVersion, got.PolicyResult, got.ApprovalID})
	m := out.Manifest
	assert.Equal(t,
		[]string{"0102030405060708090a0b0c0d0e0f10", "talk", "shop", "buyer", "3", "abc", "prod", "2026-01-02T03:04:04Z", "2026-01-02T03:05:00Z", "failed", "no stock"},
		[]string{m.TraceID, m.ConversationID, m.Service, m.Agent, m.AgentVersion, m.CodeVersion, m.Environment, m.Started, m.Ended, string(m.Outcome), m.Failure.Reason})
	var resource map[string]any
	require.NoError(t, json.Unmarshal(m.Resource, &resource))
	assert.Equal(t, "h", resource["host.name"])
	assert.Equal(t, []any{"a", 2.5}, resource["list"])
	root := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	found := false
	for _, s := range root.All() {
		if v, ok := s.Attributes().Get("tape.member.own"); ok {
			found = true
			assert.JSONEq(t, `{"x":1}`, v.Str())
		}
	}
	assert.True(t, found, "members without a name of their own are attributes")
}

// Every tape that any dialect gives comes back the same. Members that only the
// first reading can know are left out, as are model calls without content.
func TestTheTapesOfAllDialectsComeBack(t *testing.T) {
	files, err := filepath.Glob("../dialect/testdata/golden/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			for i, one := range split(string(text)) {
				in := read(t, one)
				if len(in.Records) == 0 {
					continue
				}
				out, _ := again(t, in)
				require.Len(t, out.Records, len(in.Records), "tape %d", i)
				for j := range in.Records {
					assert.Equal(t, core(in.Records[j]), core(out.Records[j]), "tape %d", i)
				}
				assert.Equal(t, in.Manifest.TraceID, out.Manifest.TraceID)
				if in.Manifest.Outcome != tape.OutcomeIncomplete {
					assert.Equal(t, in.Manifest.Outcome, out.Manifest.Outcome, "tape %d", i)
				}
			}
		})
	}
}

// split takes the tapes of a golden file apart.
func split(text string) (out []string) {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, `{"tape":`) {
			out = append(out, "")
		}
		out[len(out)-1] += line
	}
	return out
}
