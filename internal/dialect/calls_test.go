package dialect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/tape"
)

// ok is a tool call that succeeded, with arguments and result.
func okTool(id, up byte, from, to int) sp {
	return tool(id, up, from, to, "search", attrs{"gen_ai.tool.call.arguments": `{"q":1}`, "gen_ai.tool.call.result": `"r"`})
}

func mcpCall(id, up byte, from, to int, kind ptrace.SpanKind, more attrs) sp {
	a := attrs{"mcp.method.name": "tools/call", "gen_ai.tool.name": "search"}
	for k, v := range more {
		a[k] = v
	}
	return sp{id: id, up: up, from: from, to: to, name: "tools/call search", kind: kind, scope: "mcp", attrs: a}
}

func TestFailureSignals(t *testing.T) {
	exception := func(typ string) []ev {
		return []ev{{"exception", attrs{"exception.type": typ, "exception.message": "it broke"}}}
	}
	result := func(text string) attrs { return attrs{"gen_ai.tool.call.result": text} }
	for name, c := range map[string]struct {
		span   sp
		failed bool
		msg    string
		typ    string
	}{
		"status":                       {sp{err: "timed out"}, true, "timed out", ""},
		"status without text":          {sp{failed: true}, true, "", ""},
		"error type":                   {sp{attrs: attrs{"error.type": "TimeoutError"}}, true, "TimeoutError", "TimeoutError"},
		"exception without a result":   {sp{events: exception("ValueError")}, true, "it broke", "ValueError"},
		"exception beside a result":    {sp{events: exception("ValueError"), attrs: result(`"r"`)}, false, "", ""},
		"a swallowed cancellation":     {sp{events: exception("asyncio.exceptions.CancelledError")}, false, "", ""},
		"an interrupt":                 {sp{events: exception("langgraph.errors.GraphInterrupt")}, false, "", ""},
		"an interrupt as an error":     {sp{err: "GraphInterrupt(())", events: exception("langgraph.errors.GraphInterrupt")}, false, "", ""},
		"an interrupt by its type":     {sp{failed: true, attrs: attrs{"error.type": "NodeInterrupt"}}, false, "", ""},
		"a deferral as an error":       {sp{failed: true, events: exception("pydantic_ai.exceptions.CallDeferred")}, false, "", ""},
		"a cancellation as an error":   {sp{failed: true, events: exception("asyncio.exceptions.CancelledError")}, true, "it broke", "asyncio.exceptions.CancelledError"},
		"exception under OK":           {sp{ok: true, events: exception("ValueError")}, false, "", ""},
		"MCP isError":                  {sp{attrs: result(`{"content":[{"type":"text","text":"no such table"}],"isError":true}`)}, true, "no such table", ""},
		"MCP isError false":            {sp{attrs: result(`{"content":[{"type":"text","text":"fine"}],"isError":false}`)}, false, "", ""},
		"JSON-RPC error":               {sp{ok: true, attrs: result(`{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"bad params"}}`)}, true, "bad params", ""},
		"truthy error member":          {sp{attrs: result(`{"error":"quota"}`)}, true, "quota", ""},
		"error member null":            {sp{attrs: result(`{"error":null,"rows":[1]}`)}, false, "", ""},
		"error member false":           {sp{attrs: result(`{"error":false}`)}, false, "", ""},
		"error member of no words":     {sp{attrs: result(`{"error":" "}`)}, false, "", ""},
		"error member None as text":    {sp{attrs: result(`{"error":"None","rows":[1]}`)}, false, "", ""},
		"error member null as text":    {sp{attrs: result(`{"error":"null"}`)}, false, "", ""},
		"error member of no elements":  {sp{attrs: result(`{"error":[],"rows":[]}`)}, false, "", ""},
		"error member of no members":   {sp{attrs: result(`{"error":{}}`)}, false, "", ""},
		"error member of words":        {sp{attrs: result(`{"error":"None of the seats is free"}`)}, true, "None of the seats is free", ""},
		"isError false as text":        {sp{attrs: result(`{"isError":"false","x":1}`)}, false, "", ""},
		"error member empty":           {sp{attrs: result(`{"error":""}`)}, false, "", ""},
		"success false":                {sp{ok: true, attrs: result(`{"success":false,"message":"no seats"}`)}, true, "no seats", ""},
		"success false, as text":       {sp{attrs: result(`"{\"success\": false}"`)}, true, `{"success":false}`, ""},
		"success false in MCP":         {sp{attrs: result(`{"content":[{"type":"text","text":"{\"success\":false,\"message\":\"full\"}"}],"isError":false}`)}, true, "full", ""},
		"success false beside a fit":   {sp{attrs: result(`{"success":false,"error":0.25,"n":3}`)}, true, `{"success":false,"error":0.25,"n":3}`, ""},
		"status error":                 {sp{attrs: result(`{"status":"error","detail":"gone"}`)}, true, "gone", ""},
		"success true":                 {sp{attrs: result(`{"success":true,"message":"booked"}`)}, false, "", ""},
		"success no boolean":           {sp{attrs: result(`{"success":"no"}`)}, false, "", ""},
		"success false in words":       {sp{attrs: result(`{"success":"false"}`)}, false, "", ""},
		"success zero":                 {sp{attrs: result(`{"success":0}`)}, false, "", ""},
		"success null":                 {sp{attrs: result(`{"success":null}`)}, false, "", ""},
		"success false further down":   {sp{attrs: result(`{"rows":[{"success":false}],"last":{"status":"error"}}`)}, false, "", ""},
		"success false in a list":      {sp{attrs: result(`[{"success":false},{"success":true}]`)}, false, "", ""},
		"status error-free":            {sp{attrs: result(`{"status":"error-free"}`)}, false, "", ""},
		"status errors":                {sp{attrs: result(`{"status":"errors","count":0}`)}, false, "", ""},
		"status of a service":          {sp{attrs: result(`{"status":{"error":"none"}}`)}, false, "", ""},
		"words about a status":         {sp{attrs: result(`"the status is \"error\""`)}, false, "", ""},
		"error text":                   {sp{ok: true, attrs: result(`Error: not enough seats`)}, true, "Error: not enough seats", ""},
		"text about errors":            {sp{attrs: result(`Errors: none found`)}, false, "", ""},
		"a handled tool exception":     {sp{ok: true, attrs: result(`{"type":"tool","data":{"content":"nope","tool_call_id":"c","status":"error"}}`)}, true, "nope", ""},
		"tool status":                  {sp{attrs: attrs{"gen_ai.tool.status": "error", "gen_ai.tool.call.result": "x"}}, true, "x", ""},
		"only the type as status text": {sp{err: "MCP_TOOL_ERROR", attrs: attrs{"error.type": "MCP_TOOL_ERROR", "gen_ai.tool.call.result": `{"content":[{"type":"text","text":"gone"}],"isError":true}`}}, true, "gone", "MCP_TOOL_ERROR"},
		"stack trace in the text":      {sp{err: "late\n\nTraceback (most recent call last):\n  File x"}, true, "late", ""},
	} {
		t.Run(name, func(t *testing.T) {
			span := tool(2, 1, 1, 2, "x", c.span.attrs)
			span.err, span.failed, span.ok, span.events = c.span.err, c.span.failed, c.span.ok, c.span.events
			tp := one(t, agentSpan(1, 0, 10), span)
			r := tp.Records[0]
			require.Equal(t, c.failed, r.Failed())
			if c.failed {
				assert.Equal(t, c.msg, r.Error.Message)
				assert.Equal(t, c.typ, r.Error.Type)
			}
			td := traces(t, span)
			rs := td.ResourceSpans().At(0)
			assert.Equal(t, c.failed, defaultConfig.Failed(rs.Resource(), rs.ScopeSpans().At(0).Scope(), rs.ScopeSpans().At(0).Spans().At(0)))
		})
	}
}

func TestJSONRPCErrorsKeepTheirCode(t *testing.T) {
	r := one(t, tool(1, 0, 0, 1, "x", attrs{"gen_ai.tool.call.result": `{"jsonrpc":"2.0","error":{"code":-32602,"message":"bad"}}`})).Records[0]
	assert.Equal(t, "-32602", r.Error.Code)
	r = one(t, func() sp {
		s := mcpCall(1, 0, 0, 1, ptrace.SpanKindClient, attrs{"error.type": "-32603", "rpc.response.status_code": "-32603"})
		s.failed = true
		return s
	}()).Records[0]
	assert.Equal(t, "-32603", r.Error.Code)
}

func TestOutcomes(t *testing.T) {
	failing := func(id, up byte, from, to int) sp {
		s := okTool(id, up, from, to)
		s.err, s.attrs = "boom", attrs{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.arguments": `{"q":9}`}
		return s
	}
	badRoot := agentSpan(1, 0, 100)
	badRoot.err = "run broke"
	localRoot := sp{id: 1, up: 99, from: 0, to: 100, name: "handler", err: "broke"}
	open := okTool(3, 1, 20, -1)
	for name, c := range map[string]struct {
		spans   []sp
		outcome tape.Outcome
		reason  string
		seq     int
	}{
		"all well":                           {[]sp{agentSpan(1, 0, 100), okTool(2, 1, 1, 2)}, tape.OutcomeSucceeded, "", 0},
		"no calls":                           {[]sp{agentSpan(1, 0, 100)}, tape.OutcomeSucceeded, "", 0},
		"a failure that was got over":        {[]sp{agentSpan(1, 0, 100), failing(2, 1, 1, 2), okTool(3, 1, 3, 4)}, tape.OutcomeRecovered, "boom", 1},
		"the last call failed":               {[]sp{agentSpan(1, 0, 100), okTool(2, 1, 1, 2), failing(3, 1, 3, 4)}, tape.OutcomeFailed, "boom", 2},
		"a parallel call ended later":        {[]sp{agentSpan(1, 0, 100), failing(2, 1, 1, 2), okTool(3, 1, 1, 9)}, tape.OutcomeFailed, "boom", 1},
		"the root ended in error":            {[]sp{badRoot, okTool(2, 1, 1, 2)}, tape.OutcomeFailed, "run broke", 0},
		"not blamed on what was got over":    {[]sp{badRoot, failing(2, 1, 1, 2), okTool(3, 1, 3, 4)}, tape.OutcomeFailed, "run broke", 0},
		"a local root around the calls":      {[]sp{localRoot, okTool(2, 1, 1, 2)}, tape.OutcomeFailed, "broke", 0},
		"a local root beside the calls":      {[]sp{agentSpan(5, 0, 100), okTool(2, 5, 1, 2), {id: 1, up: 99, from: 0, to: 9, name: "other", err: "x"}}, tape.OutcomeSucceeded, "", 0},
		"an agent inside failed, the run ok": {[]sp{agentSpan(1, 0, 100), tool(2, 1, 1, 9, "ask", nil), {id: 3, up: 2, from: 2, to: 8, name: "invoke_agent b", err: "x", attrs: attrs{"gen_ai.operation.name": "invoke_agent"}}}, tape.OutcomeSucceeded, "", 0},
		"a call that never ended":            {[]sp{agentSpan(1, 0, 100), okTool(2, 1, 1, 2), open}, tape.OutcomeIncomplete, "", 0},
		"a failure inside a call that ended well": {[]sp{agentSpan(1, 0, 100), tool(2, 1, 1, 9, "outer", nil), failing(3, 2, 2, 8)},
			tape.OutcomeRecovered, "boom", 2},
	} {
		t.Run(name, func(t *testing.T) {
			m := one(t, c.spans...).Manifest
			require.Equal(t, c.outcome, m.Outcome)
			if c.reason == "" {
				assert.Nil(t, m.Failure)
				return
			}
			require.NotNil(t, m.Failure)
			assert.Equal(t, c.reason, m.Failure.Reason)
			assert.Equal(t, c.seq, m.Failure.Seq)
		})
	}
}

func TestAFailedRootBlamesTheOneOpenRequest(t *testing.T) {
	root := sp{id: 1, from: 0, to: 100, name: "handle", err: "reservation API timed out"}
	tp := one(t, root, chat(2, 1, 1, 5, "["+user+"]", "["+asks("c", "book", `{}`)+"]"))
	r := toolRecords(tp)[0]
	require.NotNil(t, r.Error)
	assert.Equal(t, "reservation API timed out", r.Error.Message)
	assert.Contains(t, tp.Manifest.Failure.Evidence, "root")

	two := `[{"role":"assistant","parts":[{"type":"tool_call","id":"a","name":"book","arguments":{}},{"type":"tool_call","id":"b","name":"pay","arguments":{}}]}]`
	for _, r := range toolRecords(one(t, root, chat(2, 1, 1, 5, "["+user+"]", two))) {
		assert.Nil(t, r.Error, "of two open requests nobody knows which failed")
	}
}

func TestOneCallInSeveralSpansIsOneRecord(t *testing.T) {
	args := attrs{"gen_ai.tool.call.arguments": `{"q":1}`}
	server := mcpCall(4, 3, 3, 7, ptrace.SpanKindServer, args)
	server.service = "tools"
	other := okTool(3, 1, 2, 8)
	other.scope = "another.instrumentation"
	idle := mcpCall(3, 2, 2, 8, ptrace.SpanKindClient, nil)
	apart := server
	apart.up = 0
	for name, c := range map[string]struct {
		spans []sp
		ids   []string
	}{
		"tool, client and server":               {[]sp{okTool(2, 1, 1, 9), mcpCall(3, 2, 2, 8, ptrace.SpanKindClient, args), server}, []string{"02", "03", "04"}},
		"without arguments inside":              {[]sp{okTool(2, 1, 1, 9), idle}, []string{"02", "03"}},
		"a request span between":                {[]sp{mcpCall(2, 1, 1, 9, ptrace.SpanKindClient, args), {id: 6, up: 2, from: 2, to: 8, name: "POST"}, mcpCall(4, 6, 3, 7, ptrace.SpanKindServer, args)}, []string{"02", "04"}},
		"client and server, link lost":          {[]sp{mcpCall(3, 1, 2, 8, ptrace.SpanKindClient, args), apart}, []string{"03", "04"}},
		"two instrumentations side by side":     {[]sp{okTool(2, 1, 1, 9), other}, []string{"02", "03"}},
		"two instrumentations, the same moment": {[]sp{okTool(2, 1, 2, 8), other}, []string{"02", "03"}},
	} {
		t.Run(name, func(t *testing.T) {
			tp := one(t, append([]sp{agentSpan(1, 0, 100)}, c.spans...)...)
			require.Len(t, tp.Records, 1)
			var ids []string
			for _, id := range tp.Records[0].SpanIDs {
				ids = append(ids, id[14:])
			}
			assert.Equal(t, c.ids, ids)
			assert.JSONEq(t, `{"q":1}`, string(tp.Records[0].Args))
		})
	}
}

func TestDifferentCallsStayApart(t *testing.T) {
	inner := okTool(3, 2, 2, 8)
	inner.attrs = attrs{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "search", "gen_ai.tool.call.arguments": `{"q":"deeper"}`}
	elsewhere := okTool(3, 7, 2, 8)
	elsewhere.scope, elsewhere.service = "x", "second"
	for name, spans := range map[string][]sp{
		"an agent as tool calls the same tool": {okTool(2, 1, 1, 9), inner},
		"two parallel calls of one tool":       {okTool(2, 1, 1, 9), okTool(3, 1, 2, 8)},
		"an agent between":                     {okTool(2, 1, 1, 9), {id: 4, up: 2, from: 1, to: 9, name: "invoke_agent b", attrs: attrs{"gen_ai.operation.name": "invoke_agent"}}, okTool(3, 4, 2, 8)},
		"the same call of another service":     {okTool(2, 1, 1, 9), {id: 7, up: 1, from: 0, to: 10, name: "peer"}, elsewhere},
		"ids differ":                           {tool(2, 1, 1, 9, "x", attrs{"gen_ai.tool.call.id": "a"}), tool(3, 2, 2, 8, "x", attrs{"gen_ai.tool.call.id": "b"})},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Len(t, one(t, append([]sp{agentSpan(1, 0, 100)}, spans...)...).Records, 2)
		})
	}
}

func TestARetryInsideACallIsNotItsFailure(t *testing.T) {
	first := mcpCall(3, 2, 2, 3, ptrace.SpanKindClient, attrs{"gen_ai.tool.call.arguments": `{"q":1}`})
	first.err = "reset"
	tp := one(t, agentSpan(1, 0, 100), okTool(2, 1, 1, 9), first, mcpCall(4, 2, 4, 8, ptrace.SpanKindClient, attrs{"gen_ai.tool.call.arguments": `{"q":1}`}))
	require.Len(t, tp.Records, 1)
	assert.Nil(t, tp.Records[0].Error)
}

func TestAFailureOnTheInnerSpanAloneIsTheCalls(t *testing.T) {
	inner := mcpCall(3, 2, 2, 8, ptrace.SpanKindClient, nil)
	inner.err = "connection refused"
	tp := one(t, agentSpan(1, 0, 100), tool(2, 1, 1, 9, "search", nil), inner)
	require.Len(t, tp.Records, 1)
	require.NotNil(t, tp.Records[0].Error)
	assert.Equal(t, "connection refused", tp.Records[0].Error.Message)
}

func TestARetriedModelCallIsTwoCalls(t *testing.T) {
	outer := chat(2, 1, 1, 20, "["+user+"]", finished)
	first, second := chat(3, 2, 2, 5, "["+user+"]", ""), chat(4, 2, 6, 19, "["+user+"]", finished)
	first.err = "429"
	tp := one(t, agentSpan(1, 0, 100), outer, first, second)
	require.Len(t, tp.Records, 2)
	assert.True(t, tp.Records[0].Failed())
	assert.Equal(t, []string{"0000000000000002", "0000000000000004"}, tp.Records[1].SpanIDs)
	assert.Equal(t, tape.OutcomeRecovered, tp.Manifest.Outcome)
}

func TestASpanInTwoDialectsIsReadOnceAndCompleted(t *testing.T) {
	tp := one(t, agentSpan(1, 0, 10), sp{id: 2, up: 1, from: 1, to: 2, name: "get", attrs: attrs{
		"openinference.span.kind": "TOOL", "tool.name": "get", "input.value": `{"a":1}`,
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "get", "gen_ai.tool.call.id": "c9",
		"gen_ai.tool.call.arguments": `{"a":2}`, "gen_ai.tool.call.result": `"r"`,
	}})
	require.Len(t, tp.Records, 1)
	r := tp.Records[0]
	assert.Equal(t, "openinference", r.Dialect)
	assert.JSONEq(t, `{"a":1}`, string(r.Args), "the more specific dialect goes first")
	assert.Equal(t, "c9", r.ToolCallID)
	assert.JSONEq(t, `"r"`, string(r.Result))
}

// OpenInference writes the input of LangChain's tools of one argument without its name.
func TestABareArgumentGetsTheNameThatTheModelGave(t *testing.T) {
	model := sp{id: 2, up: 1, from: 1, to: 2, name: "ChatOpenAI", attrs: attrs{
		"openinference.span.kind":                                                 "LLM",
		"llm.input_messages.0.message.role":                                       "user",
		"llm.input_messages.0.message.content":                                    "look",
		"llm.output_messages.0.message.role":                                      "assistant",
		"llm.output_messages.0.message.tool_calls.0.tool_call.id":                 "c1",
		"llm.output_messages.0.message.tool_calls.0.tool_call.function.name":      "look_up",
		"llm.output_messages.0.message.tool_calls.0.tool_call.function.arguments": `{"word": "tape"}`,
	}}
	for input, want := range map[string]string{
		"tape":             `{"word":"tape"}`,
		"another":          `"another"`,
		`{"word": "deck"}`: `{"word":"deck"}`,
	} {
		tp := one(t, agentSpan(1, 0, 10), model, sp{id: 3, up: 1, from: 3, to: 4, name: "look_up", attrs: attrs{
			"openinference.span.kind": "TOOL", "tool.name": "look_up", "input.value": input, "output.value": "x", "tool_call.id": "c1",
		}})
		require.Len(t, tp.Records, 2, input)
		assert.JSONEq(t, want, string(tp.Records[1].Args))
	}
}

func TestAnUnknownInstrumentationOfTheConventionsWorks(t *testing.T) {
	td := traces(t, sp{id: 1, from: 0, to: 1, name: "whatever", scope: "never.seen", attrs: attrs{
		"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "x",
		"gen_ai.tool.call.arguments": map[string]any{"n": int64(1), "f": 2.0, "l": []any{true, nil}}, "gen_ai.tool.call.result": []byte("raw"),
	}})
	r := Translate(td, Options{})[0].Records[0]
	assert.Equal(t, `{"f":2.0,"l":[true,null],"n":1}`, sortedJSON(t, r.Args), "a double stays one")
	assert.JSONEq(t, `"raw"`, string(r.Result))
	assert.Equal(t, tape.FidelityRebuilt, r.Fidelity)
}

// sortedJSON is the canonical text, which maps need: their order is random.
func sortedJSON(t *testing.T, raw []byte) string {
	t.Helper()
	out, err := tape.Canonical(raw)
	require.NoError(t, err)
	return string(out)
}
