package dialect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/tape"
)

func TestEmptyInputGivesNoTapes(t *testing.T) {
	td := ptrace.NewTraces()
	assert.Empty(t, Translate(td, Options{}))
	td.ResourceSpans().AppendEmpty()
	assert.Empty(t, Translate(td, Options{}))
	td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	assert.Empty(t, Translate(td, Options{}))
	td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	tapes := Translate(td, Options{})
	require.Len(t, tapes, 1, "a span without ids is still a run")
	assert.Empty(t, tapes[0].Records)
	ld := plog.NewLogs()
	ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	assert.Len(t, TranslateWithLogs(td, ld, Options{}), 1)
}

func TestTracesAreTapesInOrderOfStart(t *testing.T) {
	td := traces(t,
		sp{trace: 9, id: 1, from: 50, to: 60, name: "late"},
		sp{trace: 3, id: 1, from: 10, to: 20, name: "early"},
		sp{trace: 2, id: 1, from: 10, to: 20, name: "tie"},
	)
	var ids []string
	for _, tp := range Translate(td, Options{}) {
		ids = append(ids, tp.Manifest.TraceID[30:])
	}
	assert.Equal(t, []string{"02", "03", "09"}, ids)
}

func TestRedeliveredSpansCountOnce(t *testing.T) {
	span := tool(2, 1, 10, 20, "search", attrs{"gen_ai.tool.call.arguments": `{"q":1}`, "gen_ai.tool.call.result": `"x"`})
	once := jsonl(t, Translate(traces(t, agentSpan(1, 0, 30), span), Options{}))
	for _, times := range []int{2, 29} {
		spans := []sp{agentSpan(1, 0, 30)}
		for range times {
			spans = append(spans, span)
		}
		assert.Equal(t, once, jsonl(t, Translate(traces(t, spans...), Options{})))
	}
}

func TestAPartialUpdateNeverErasesFields(t *testing.T) {
	whole := tool(2, 1, 10, 20, "search", attrs{"gen_ai.tool.call.arguments": `{"q":1}`, "gen_ai.tool.call.result": `"x"`})
	whole.err = "boom"
	blank := sp{id: 2, up: 1, name: "execute_tool search", from: 10, to: 0, attrs: attrs{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.result": ""}}
	for _, spans := range [][]sp{{whole, blank}, {blank, whole}, {blank, whole, blank}} {
		r := one(t, spans...).Records
		require.Len(t, r, 1)
		assert.JSONEq(t, `{"q":1}`, string(r[0].Args))
		assert.JSONEq(t, `"x"`, string(r[0].Result))
		assert.Equal(t, "boom", r[0].Error.Message)
		assert.Equal(t, 10.0, r[0].MS)
	}
}

func TestALastEmptyUpdateErasesNothing(t *testing.T) {
	whole := tool(2, 1, 10, 20, "search", attrs{"gen_ai.tool.call.arguments": `{"q":1}`, "gen_ai.tool.call.result": `"x"`})
	whole.err = "boom"
	last := tool(2, 1, 10, 25, "search", attrs{"gen_ai.tool.call.arguments": "", "gen_ai.tool.call.result": ""})
	for _, spans := range [][]sp{{whole, last}, {last, whole}} {
		r := one(t, spans...).Records[0]
		assert.JSONEq(t, `{"q":1}`, string(r.Args))
		assert.JSONEq(t, `"x"`, string(r.Result))
		require.NotNil(t, r.Error)
		assert.Equal(t, 15.0, r.MS)
	}
}

func TestFlatSiblingsAreStillOneTape(t *testing.T) {
	tp := one(t,
		agentSpan(1, 0, 5),
		chat(2, 9, 10, 20, "["+user+"]", "["+asks("c1", "search", `{"q":1}`)+"]"),
		tool(3, 9, 21, 30, "search", attrs{"gen_ai.tool.call.id": "c1", "gen_ai.tool.call.arguments": `{"q":1}`, "gen_ai.tool.call.result": `"r"`}),
		chat(4, 8, 31, 40, "["+user+"]", finished),
	)
	assert.Len(t, tp.Records, 3)
	assert.Equal(t, tape.OutcomeSucceeded, tp.Manifest.Outcome)
}

func TestAToolWithAnUnknownParentIsKept(t *testing.T) {
	tp := one(t, sp{id: 5, up: 77, from: 1, to: 2, name: "execute_tool x", scope: "gcp.vertex.agent", attrs: attrs{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "x",
		"gcp.vertex.agent.tool_call_args": `{"a":1}`, "gcp.vertex.agent.tool_response": `{"result":"ok"}`,
	}})
	require.Len(t, tp.Records, 1)
	assert.JSONEq(t, `{"a":1}`, string(tp.Records[0].Args), "content only under the vendor's names is read")
	assert.JSONEq(t, `"ok"`, string(tp.Records[0].Result))
	require.Len(t, tp.Manifest.Gaps, 1)
	assert.Equal(t, "root", tp.Manifest.Gaps[0].What)
}

func TestParentsComeFirstWhateverTheClocksSay(t *testing.T) {
	tp := one(t,
		sp{id: 1, from: 0, to: 100, name: "root"},
		chat(2, 1, 50, 60, "["+user+"]", "["+asks("c1", "fetch", `{}`)+"]"),
		// The tool's machine is 40 ms behind, and its inner call another 10.
		tool(3, 1, 10, 20, "fetch", attrs{"gen_ai.tool.call.id": "c1"}),
		tool(4, 3, 5, 8, "fetch_page", attrs{"gen_ai.tool.call.arguments": `{"p":1}`}),
		chat(5, 1, 61, 70, "["+user+","+asks("c1", "fetch", `{}`)+","+answers("c1", `"page"`)+"]", finished),
	)
	var order []string
	for _, r := range tp.Records {
		order = append(order, r.StepID[14:])
	}
	assert.Equal(t, []string{"02", "03", "04", "05"}, order)
	assert.Equal(t, "2026-03-02T10:00:00.01Z", tp.Records[1].Start, "times stay as they were told")
}

func TestAToolComesBeforeTheModelCallThatWasToldItsOutcome(t *testing.T) {
	tp := one(t,
		agentSpan(1, 0, 100),
		chat(2, 1, 1, 5, "["+user+"]", "["+asks("c1", "fetch", `{}`)+"]"),
		// The tool's machine is ahead.
		tool(3, 1, 80, 90, "fetch", attrs{"gen_ai.tool.call.id": "c1"}),
		chat(4, 1, 10, 15, "["+user+","+asks("c1", "fetch", `{}`)+","+answers("c1", `"page"`)+"]", finished),
	)
	assert.Equal(t, "0000000000000003", tp.Records[1].StepID)
	assert.Equal(t, tape.OutcomeSucceeded, tp.Manifest.Outcome)
}

func TestADurationIsNeverNegative(t *testing.T) {
	tp := one(t, tool(1, 0, 50, 10, "x", nil))
	assert.Zero(t, tp.Records[0].MS)
	runs := Runs(traces(t, tool(1, 0, 50, 10, "x", nil)), plog.NewLogs(), Options{})
	assert.GreaterOrEqual(t, runs[0].Row().DurationMS, 0.0)
}

func TestHostileParentsDoNotLoop(t *testing.T) {
	tp := one(t, tool(1, 2, 0, 1, "a", nil), tool(2, 1, 0, 1, "b", nil), tool(3, 3, 0, 1, "c", nil))
	assert.Len(t, tp.Records, 3)
	server := func(id, up byte) sp {
		return sp{id: id, up: up, from: 0, to: 1, name: "mcp.server", attrs: attrs{"traceloop.span.kind": "server"}}
	}
	assert.Len(t, one(t, server(1, 2), server(2, 1), tool(3, 1, 0, 1, "a", nil)).Records, 1)
}

func TestParallelEqualCallsKeepTheirOwnAnswers(t *testing.T) {
	tp := one(t,
		agentSpan(1, 0, 100),
		chat(2, 1, 1, 5, "["+user+"]", `[{"role":"assistant","parts":[{"type":"tool_call","id":"a","name":"roll","arguments":{}},{"type":"tool_call","id":"b","name":"roll","arguments":{}}]}]`),
		tool(3, 1, 10, 40, "roll", attrs{"gen_ai.tool.call.id": "a", "gen_ai.tool.call.result": "1"}),
		tool(4, 1, 10, 30, "roll", attrs{"gen_ai.tool.call.id": "b", "gen_ai.tool.call.result": "2"}),
	)
	r := toolRecords(tp)
	require.Len(t, r, 2)
	assert.Equal(t, "1", string(r[0].Result))
	assert.Equal(t, "2", string(r[1].Result))
	assert.Equal(t, r[0].Key, r[1].Key)
	assert.Equal(t, 3, r[0].Done)
	assert.Equal(t, 2, r[1].Done)
}

func TestCallIDsRepeatAcrossTurns(t *testing.T) {
	turn1 := asks("call_1", "search", `{"q":"one"}`) + "," + answers("call_1", `"first"`)
	turn2 := asks("call_1", "search", `{"q":"two"}`) + "," + answers("call_1", `"second"`)
	tp := one(t,
		agentSpan(1, 0, 100),
		chat(2, 1, 1, 5, "["+user+"]", "["+asks("call_1", "search", `{"q":"one"}`)+"]"),
		chat(3, 1, 10, 15, "["+user+","+turn1+"]", "["+asks("call_1", "search", `{"q":"two"}`)+"]"),
		tool(4, 1, 16, 20, "search", attrs{"gen_ai.tool.call.id": "call_1"}),
		chat(5, 1, 21, 25, "["+user+","+turn1+","+turn2+"]", finished),
	)
	r := toolRecords(tp)
	require.Len(t, r, 2)
	assert.Equal(t, tape.FidelitySynthesised, r[0].Fidelity)
	assert.JSONEq(t, `{"q":"one"}`, string(r[0].Args))
	assert.JSONEq(t, `"first"`, string(r[0].Result))
	assert.NotEmpty(t, r[1].StepID, "the span belongs to the second turn")
	assert.JSONEq(t, `{"q":"two"}`, string(r[1].Args))
	assert.JSONEq(t, `"second"`, string(r[1].Result))
}

func TestTheSpanOfAnEarlierTurnIsNotTakenForALaterOne(t *testing.T) {
	turn1 := asks("call_1", "search", `{"q":"one"}`) + "," + answers("call_1", `"first"`)
	tp := one(t,
		agentSpan(1, 0, 100),
		chat(2, 1, 1, 5, "["+user+"]", "["+asks("call_1", "search", `{"q":"one"}`)+"]"),
		tool(3, 1, 6, 9, "search", attrs{"gen_ai.tool.call.id": "call_1"}),
		chat(4, 1, 10, 15, "["+user+","+turn1+"]", "["+asks("call_1", "search", `{"q":"two"}`)+"]"),
		chat(5, 1, 21, 25, "["+user+","+turn1+","+asks("call_1", "search", `{"q":"two"}`)+","+answers("call_1", `"second"`)+"]", finished),
	)
	r := toolRecords(tp)
	require.Len(t, r, 2)
	assert.Equal(t, "0000000000000003", r[0].StepID)
	assert.JSONEq(t, `{"q":"one"}`, string(r[0].Args))
	assert.JSONEq(t, `"second"`, string(r[1].Result))
}

func TestAnOldAnswerIsNotThatOfALaterEqualRequest(t *testing.T) {
	old := user + "," + asks("c", "search", `{"q":1}`) + "," + answers("c", `"old"`) + "," + user
	tp := one(t, agentSpan(1, 0, 100),
		chat(2, 1, 1, 5, "["+old+"]", "["+asks("c", "search", `{"q":1}`)+"]"),
		chat(3, 1, 6, 9, "["+old+","+asks("c", "search", `{"q":1}`)+","+user+"]", finished),
	)
	r := toolRecords(tp)
	require.Len(t, r, 1)
	assert.Nil(t, r[0].Result)
}

func TestAnEarlierConversationIsNotReplayedAsCalls(t *testing.T) {
	history := asks("old", "search", `{"q":0}`) + "," + answers("old", `"then"`)
	tp := one(t, agentSpan(1, 0, 50), chat(2, 1, 1, 5, "["+user+","+history+","+user+"]", finished))
	assert.Empty(t, toolRecords(tp))
}

func TestARequestNobodyRanIsNoFailure(t *testing.T) {
	tp := one(t, agentSpan(1, 0, 50), chat(2, 1, 1, 5, "["+user+"]", "["+asks("c", "confirm", `{"a":1}`)+"]"))
	r := toolRecords(tp)
	require.Len(t, r, 1)
	assert.Nil(t, r[0].Error)
	assert.Nil(t, r[0].Result)
	assert.Equal(t, tape.FidelityAbsent, r[0].Fidelity)
	assert.Equal(t, tape.OutcomeSucceeded, tp.Manifest.Outcome)
	require.Len(t, tp.Manifest.Gaps, 1)
	assert.Equal(t, "requested by the model, never answered in this trace", tp.Manifest.Gaps[0].Why)
}

func TestToolsAndTheirVersions(t *testing.T) {
	defs := func(schema string) string {
		return `[{"type":"function","function":{"name":"search","description":"d","parameters":` + schema + `}},{"name":"read","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]`
	}
	first, second := chat(2, 1, 1, 2, "["+user+"]", finished), chat(4, 1, 5, 6, "["+user+"]", finished)
	first.attrs["gen_ai.tool.definitions"] = defs(`{"type":"object"}`)
	second.attrs["gen_ai.tool.definitions"] = defs(`{"type":"object","required":["q"]}`)
	tp := one(t, agentSpan(1, 0, 10), first, tool(3, 1, 3, 4, "search", nil), second, tool(5, 1, 7, 8, "search", nil), tool(6, 1, 8, 9, "read", nil))
	r := toolRecords(tp)
	assert.NotEqual(t, r[0].SchemaVersion, r[1].SchemaVersion)
	assert.True(t, strings.HasPrefix(r[0].SchemaVersion, "sha256:"))
	assert.Equal(t, r[1].SchemaVersion, tp.Manifest.Tools[0].SchemaVersion)
	assert.Nil(t, r[0].SideEffect, "nobody knows")
	require.NotNil(t, r[2].SideEffect)
	assert.False(t, *r[2].SideEffect)
	var schema map[string]any
	require.NoError(t, json.Unmarshal(tp.Manifest.Tools[0].Schema, &schema))
	assert.Equal(t, "d", tp.Manifest.Tools[0].Description)
}

func TestModelCallsOfOneUserTextHaveTheirOwnKeys(t *testing.T) {
	turn := asks("c", "search", `{"q":1}`) + "," + answers("c", `"r"`)
	tp := one(t, agentSpan(1, 0, 50),
		chat(2, 1, 1, 2, "["+user+"]", "["+asks("c", "search", `{"q":1}`)+"]"),
		chat(3, 1, 3, 4, "["+user+","+turn+"]", "["+asks("d", "search", `{"q":2}`)+"]"),
		chat(4, 1, 5, 6, "["+user+","+turn+","+asks("d", "search", `{"q":2}`)+","+answers("d", `"s"`)+"]", finished),
	)
	keys := map[string]bool{}
	for _, r := range tp.Records {
		if r.KindOf() == tape.KindModel {
			keys[r.Key] = true
		}
	}
	assert.Len(t, keys, 3)
}

func TestTheRowCountsRealModelCallsOnce(t *testing.T) {
	outer, inner := chat(2, 1, 1, 9, "["+user+"]", finished), chat(3, 2, 2, 8, "["+user+"]", finished)
	for _, s := range []*sp{&outer, &inner} {
		s.attrs["gen_ai.usage.input_tokens"], s.attrs["gen_ai.usage.output_tokens"] = 100, 7
	}
	agent := agentSpan(1, 0, 20)
	agent.attrs["gen_ai.usage.input_tokens"] = 100
	failing := tool(4, 1, 10, 12, "write", attrs{"error.type": "timeout"})
	run := Runs(traces(t, agent, outer, inner, failing), plog.NewLogs(), Options{Trigger: tape.TriggerIdle, Config: &Config{TenantAttribute: "service.name"}})[0]
	row := run.Row()
	assert.Equal(t, tape.Row{
		TraceID: "00000000000000000000000000000001", Service: "agent", Agent: "a", Tenant: "agent",
		Outcome: tape.OutcomeFailed, Trigger: tape.TriggerIdle, FailureClass: "external_timeout", FailureReason: "timeout", FailingTool: "write",
		Tools: []string{"write"}, Models: []string{"m"}, Steps: 2, Spans: 4, ToolCalls: 1, ModelCalls: 1, FailedCalls: 1,
		InputTokens: 100, OutputTokens: 7, Start: "2026-03-02T10:00:00Z", DurationMS: 20, Fidelity: tape.FidelityAbsent, Complete: new(false),
	}, row)
	assert.Equal(t, []string{"0000000000000002", "0000000000000003"}, run.Tape.Records[0].SpanIDs)
	assert.Equal(t, 6.0, run.Tape.Records[0].MS, "a wrapper's time is that of the call inside")
}
