package dialect

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/tape"
)

// lr is a log record for a test.
type lr struct {
	trace, span byte
	name, scope string
	at          int
	attrs       attrs
	body        any
}

func logRecords(t testing.TB, records ...lr) plog.Logs {
	t.Helper()
	ld := plog.NewLogs()
	for _, l := range records {
		rl := ld.ResourceLogs().AppendEmpty()
		rl.Resource().Attributes().PutStr("service.name", "cli")
		sl := rl.ScopeLogs().AppendEmpty()
		sl.Scope().SetName(l.scope)
		r := sl.LogRecords().AppendEmpty()
		r.SetEventName(l.name)
		r.SetTimestamp(at(l.at))
		if l.trace != 0 {
			r.SetTraceID(pcommon.TraceID{15: l.trace})
		}
		if l.span != 0 {
			r.SetSpanID(pcommon.SpanID{7: l.span})
		}
		require.NoError(t, r.Attributes().FromRaw(l.attrs))
		require.NoError(t, r.Body().FromRaw(l.body))
	}
	return ld
}

func recording(t testing.TB, name string) (ptrace.Traces, plog.Logs) {
	t.Helper()
	for _, c := range recordings(t) {
		if c.Name == name {
			return c.Traces, c.Logs
		}
	}
	t.Fatalf("no recording %s", name)
	return ptrace.Traces{}, plog.Logs{}
}

func withoutIDs(ld plog.Logs) plog.Logs {
	out := plog.NewLogs()
	ld.CopyTo(out)
	for _, rl := range out.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, r := range sl.LogRecords().All() {
				r.SetTraceID(pcommon.TraceID{})
				r.SetSpanID(pcommon.SpanID{})
			}
		}
	}
	return out
}

// Coding agents whose traces are off are read from their logs alone.
func TestLogsAloneAreARun(t *testing.T) {
	for name, c := range map[string]struct {
		models  int
		tools   []string
		failed  string
		results bool
		session string
	}{
		"codex":       {3, []string{"shell", "get_rate", "shell"}, "No such file", true, "sess-7f3a"},
		"claude_code": {3, []string{"Bash", "mcp__rates__get_rate", "Read"}, "File does not exist.", false, "sess-7f3a"},
		"gemini_cli":  {0, []string{"get_weather", "get_rate", "book_table"}, "reservation API timed out after 5s", false, "sess-7f3a"},
	} {
		t.Run(name, func(t *testing.T) {
			td, ld := recording(t, name)
			withTraces := toolRecords(TranslateWithLogs(td, ld, Options{})[0])
			tapes := TranslateWithLogs(ptrace.NewTraces(), withoutIDs(ld), Options{})
			require.Len(t, tapes, 1)
			tp := tapes[0]
			assert.Empty(t, tape.Verify(tp))
			assert.Equal(t, LogTraceID(c.session).String(), tp.Manifest.TraceID)
			assert.Equal(t, c.session, tp.Manifest.ConversationID)
			assert.NotEmpty(t, tp.Manifest.Service)
			assert.NotEmpty(t, tp.Manifest.Started)
			assert.Equal(t, tape.Gap{What: "root", Why: "there are log records and no spans, which do not tell whether the run ended"}, tp.Manifest.Gaps[len(tp.Manifest.Gaps)-1])
			models, tools := 0, toolRecords(tp)
			for _, r := range tp.Records {
				if r.KindOf() == tape.KindModel {
					models++
					assert.NotEmpty(t, r.Model)
				}
			}
			assert.Equal(t, c.models, models)
			require.Len(t, tools, len(c.tools))
			for i, r := range tools {
				assert.Equal(t, c.tools[i], r.Tool)
				assert.Equal(t, string(withTraces[i].Args), string(r.Args))
				assert.Equal(t, withTraces[i].Key, r.Key)
				assert.Positive(t, r.MS)
				if c.results {
					assert.Equal(t, string(withTraces[i].Result), string(r.Result))
				}
			}
			last := tools[len(tools)-1]
			require.NotNil(t, last.Error)
			assert.Contains(t, last.Error.Message, c.failed)
		})
	}
}

func TestLogsOfATraceWithoutSpansKeepItsID(t *testing.T) {
	_, ld := recording(t, "gemini_cli")
	tapes := TranslateWithLogs(ptrace.NewTraces(), ld, Options{})
	require.Len(t, tapes, 1)
	assert.Equal(t, "eb90db990411802ed6845a3a24cf57ec", tapes[0].Manifest.TraceID)
	assert.Equal(t, "dc9dd452b49ac73b", toolRecords(tapes[0])[0].StepID)
}

// Log records beside the spans of the same calls add what these lack, and no
// call.
func TestLogsOfASessionJoinItsTrace(t *testing.T) {
	for _, name := range []string{"codex", "claude_code", "gemini_cli"} {
		td, ld := recording(t, name)
		want := TranslateWithLogs(td, ld, Options{})
		got := TranslateWithLogs(td, withoutIDs(ld), Options{})
		require.Len(t, got, len(want), name)
		require.Len(t, got[0].Records, len(want[0].Records), name)
		for i := range want[0].Records {
			assert.Equal(t, string(want[0].Records[i].Args), string(got[0].Records[i].Args), name)
			assert.Equal(t, want[0].Records[i].Failed(), got[0].Records[i].Failed(), name)
		}
	}
}

func TestASessionOfSeveralTracesTakesEachLogToItsTime(t *testing.T) {
	td := traces(t,
		sp{trace: 1, id: 1, from: 100, to: 200, name: "turn", attrs: attrs{"session.id": "s"}},
		sp{trace: 2, id: 1, from: 300, to: 400, name: "turn", attrs: attrs{"session.id": "s"}},
	)
	call := func(at int, id string) lr {
		return lr{name: "claude_code.tool_result", scope: "com.anthropic.claude_code.events", at: at, attrs: attrs{"session.id": "s", "tool_name": "Bash", "tool_use_id": id, "success": "true"}}
	}
	other := call(150, "x")
	other.attrs["session.id"] = "other"
	tapes := TranslateWithLogs(td, logRecords(t, call(50, "early"), call(150, "one"), call(250, "between"), call(350, "two"), other), Options{})
	require.Len(t, tapes, 3)
	ids := map[string][]string{}
	for _, tp := range tapes {
		for _, r := range tp.Records {
			ids[tp.Manifest.TraceID] = append(ids[tp.Manifest.TraceID], r.ToolCallID)
		}
	}
	assert.Equal(t, map[string][]string{
		strings.Repeat("0", 31) + "1": {"early", "one", "between"},
		strings.Repeat("0", 31) + "2": {"two"},
		LogTraceID("other").String():  {"x"},
	}, ids)
}

func TestFailedRequestsInLogsAreFailedModelCalls(t *testing.T) {
	tapes := TranslateWithLogs(ptrace.NewTraces(), logRecords(t,
		lr{name: "codex.api_request", at: 10, attrs: attrs{"conversation.id": "a", "model": "m", "error.message": "rate limited", "http.response.status_code": "429"}},
		lr{name: "api_error", scope: "com.anthropic.claude_code.events", at: 20, attrs: attrs{"session.id": "b", "model": "m", "error": "overloaded", "status_code": "529", "duration_ms": "15"}},
		lr{name: "gemini_cli.api_error", at: 30, attrs: attrs{"session.id": "c", "model": "m", "error": "quota", "error_type": "QuotaError", "status_code": 429}},
		lr{name: "gemini_cli.api_response", at: 30, attrs: attrs{"session.id": "d", "model": "m", "input_token_count": 3, "output_token_count": 4}},
		lr{name: "gemini_cli.user_prompt", at: 30, attrs: attrs{"session.id": "e"}},
		lr{name: "unrelated", trace: 9, at: 30},
	), Options{})
	require.Len(t, tapes, 4, "what tells of no call is no run")
	var errs []tape.Error
	for _, tp := range tapes {
		require.Len(t, tp.Records, 1)
		assert.Equal(t, tape.KindModel, tp.Records[0].Kind)
		if e := tp.Records[0].Error; e != nil {
			errs = append(errs, *e)
			assert.Equal(t, tape.OutcomeFailed, tp.Manifest.Outcome)
		}
	}
	assert.ElementsMatch(t, []tape.Error{{Code: "429", Message: "rate limited"}, {Code: "529", Message: "overloaded"}, {Code: "429", Message: "quota", Type: "QuotaError"}}, errs)
}

// The conventions put messages into log records; a span that was sampled away
// leaves them.
func TestMessagesInLogsWithoutTheirSpan(t *testing.T) {
	details := lr{trace: 1, span: 7, name: "gen_ai.client.inference.operation.details", at: 5, attrs: attrs{
		"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.usage.output_tokens": 5,
		"gen_ai.input.messages": "[" + user + "]", "gen_ai.output.messages": "[" + asks("c", "get", `{"a":1}`) + "]",
	}}
	next := details
	next.span, next.at = 8, 20
	next.attrs = attrs{"gen_ai.input.messages": "[" + user + "," + asks("c", "get", `{"a":1}`) + "," + answers("c", `"r"`) + "]", "gen_ai.output.messages": finished}
	events := []lr{
		{trace: 1, span: 9, name: "gen_ai.user.message", at: 30, body: attrs{"content": "go on"}},
		{trace: 1, span: 9, name: "gen_ai.choice", at: 31, body: attrs{"message": attrs{"role": "assistant", "content": "done"}, "finish_reason": "stop"}},
	}
	tapes := TranslateWithLogs(traces(t, agentSpan(1, 0, 50)), logRecords(t, append(events, details, next)...), Options{})
	require.Len(t, tapes, 1)
	r := tapes[0].Records
	require.Len(t, r, 4)
	assert.Equal(t, "0000000000000007", r[0].StepID)
	assert.Equal(t, "get", r[1].Tool)
	assert.JSONEq(t, `"r"`, string(r[1].Result))
	assert.Equal(t, tape.KindModel, r[3].Kind)
	assert.Contains(t, string(r[3].Args), "go on")
	assert.Contains(t, string(r[3].Result), `"finish_reason":"stop"`)
}

func TestAnyDeliveryOfTheSameLogsGivesTheSameTape(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	for _, name := range []string{"codex", "claude_code", "gemini_cli"} {
		td, ld := recording(t, name)
		for _, spans := range []ptrace.Traces{td, ptrace.NewTraces()} {
			want := jsonl(t, TranslateWithLogs(spans, ld, Options{}))
			for range 8 {
				require.Equal(t, want, jsonl(t, TranslateWithLogs(spans, deliverLogs(ld, rng), Options{})), name)
			}
		}
	}
}

// deliverLogs sends the same records again in any order, up to three times.
func deliverLogs(ld plog.Logs, rng *rand.Rand) plog.Logs {
	out := plog.NewLogs()
	var send []func()
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, r := range sl.LogRecords().All() {
				for range 1 + rng.IntN(3) {
					send = append(send, func() {
						to := out.ResourceLogs().AppendEmpty()
						rl.Resource().CopyTo(to.Resource())
						scope := to.ScopeLogs().AppendEmpty()
						sl.Scope().CopyTo(scope.Scope())
						r.CopyTo(scope.LogRecords().AppendEmpty())
					})
				}
			}
		}
	}
	rng.Shuffle(len(send), func(i, j int) { send[i], send[j] = send[j], send[i] })
	for _, f := range send {
		f()
	}
	return out
}
