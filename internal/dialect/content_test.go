package dialect

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/once"
	"github.com/tapedeck/tapedeck/tape"
)

func TestEmptyArgumentsAreFilledFromTheRequest(t *testing.T) {
	tp := one(t,
		agentSpan(1, 0, 50),
		chat(2, 1, 1, 5, "["+user+"]", "["+asks("c", "search", `{"q":"x"}`)+"]"),
		tool(3, 1, 6, 9, "search", attrs{"gen_ai.tool.call.id": "c", "gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": `"r"`}),
	)
	r := toolRecords(tp)[0]
	assert.JSONEq(t, `{"q":"x"}`, string(r.Args))
	assert.Equal(t, "{}", r.ArgsRaw, "what the span said is kept")
	assert.Equal(t, tape.FidelityRebuilt, r.Fidelity)
}

func TestAnEmptyResultIsFilledFromTheAnswer(t *testing.T) {
	tp := one(t,
		agentSpan(1, 0, 50),
		chat(2, 1, 1, 5, "["+user+"]", "["+asks("c", "search", `{"q":"x"}`)+"]"),
		tool(3, 1, 6, 9, "search", attrs{"gen_ai.tool.call.id": "c", "gen_ai.tool.call.arguments": `{"q":"x"}`, "gen_ai.tool.call.result": "{}"}),
		chat(4, 1, 10, 15, "["+user+","+asks("c", "search", `{"q":"x"}`)+","+answers("c", `{"hits":3}`)+"]", finished),
	)
	assert.JSONEq(t, `{"hits":3}`, string(toolRecords(tp)[0].Result))
}

func TestArgumentsNeedNotBeObjects(t *testing.T) {
	for text, want := range map[string]string{
		`[1,2,3]`: `[1,2,3]`, `null`: `null`, `42`: `42`, `plain words`: `"plain words"`, `"{\"a\":1}"`: `{"a":1}`,
		`{'a': None}`: `{"a":null}`, ``: `""`, `{"args":[],"kwargs":{"a":1}}`: `{"a":1}`, `{"args":["x"],"kwargs":{"a":1}}`: `{"args":["x"],"kwargs":{"a":1}}`,
	} {
		r := one(t, tool(1, 0, 0, 1, "x", attrs{"gen_ai.tool.call.arguments": text, "gen_ai.tool.call.result": "1"})).Records
		require.Len(t, r, 1, text)
		assert.Equal(t, want, string(r[0].Args), text)
		key, err := tape.Key("x", r[0].Args)
		require.NoError(t, err)
		assert.Equal(t, key, r[0].Key)
	}
}

func TestVerbatimTextIsKeptWhereAnythingChanged(t *testing.T) {
	for text, raw := range map[string]string{
		`{"b":1,"a":2}`:                     "",
		`{'b': 1}`:                          `{'b': 1}`,
		`{"args":[],"kwargs":{"a":1}}`:      `{"args":[],"kwargs":{"a":1}}`,
		`{"tool_name":"x","arguments":[1]}`: `{"tool_name":"x","arguments":[1]}`,
	} {
		r := one(t, tool(1, 0, 0, 1, "x", attrs{"gen_ai.tool.call.arguments": text})).Records[0]
		assert.Equal(t, raw, r.ArgsRaw, text)
	}
	r := one(t, tool(1, 0, 0, 1, "x", attrs{"gen_ai.tool.call.arguments": `{"b":1,"a":2}`, "gen_ai.tool.call.result": "1"})).Records[0]
	assert.Equal(t, `{"b":1,"a":2}`, string(r.Args), "members keep their order")
	assert.Equal(t, tape.FidelityExact, r.Fidelity)
}

func TestWordsDifferFromTheirJSONText(t *testing.T) {
	for text, raw := range map[string]string{
		`plain words`:                         `plain words`,
		` plain words`:                        ` plain words`,
		`"plain words"`:                       "",
		`"{\"q\":1}"`:                         `"{\"q\":1}"`,
		` "{\"q\": \"\u00e9\"}" `:             ` "{\"q\": \"\u00e9\"}" `,
		`"\"{\\\"q\\\":1}\""`:                 `"\"{\\\"q\\\":1}\""`,
		`{"args": [],  "kwargs": {"q": 1.0}}`: `{"args": [],  "kwargs": {"q": 1.0}}`,
	} {
		r := one(t, tool(1, 0, 0, 1, "x", attrs{"gen_ai.tool.call.arguments": text})).Records[0]
		assert.Equal(t, raw, r.ArgsRaw, text)
	}
	r := one(t, tool(1, 0, 0, 1, "x", attrs{"gen_ai.tool.call.arguments": attrs{"arguments": attrs{"q": 1}}})).Records[0]
	assert.Equal(t, `{"q":1}`, string(r.Args))
	assert.Equal(t, `{"arguments":{"q":1}}`, r.ArgsRaw, "what came structured is its JSON")
}

func TestARunOfLangChainIsUnwrappedWithoutItsText(t *testing.T) {
	for text, want := range map[string]string{
		`{"inputs": {"q": 1}, "tags": [], "metadata": {"thread": "t"}, "kwargs": {}}`: `{"q":1}`,
		`{"inputs":{"q":1},"kwargs":{"tool_call_id":"c7"}}`:                           `{"q":1}`,
		`{"inputs":{"inputs":{"q":1},"tags":["a"]},"tags":[]}`:                        `{"inputs":{"q":1},"tags":["a"]}`,
		`{"input_str":"{'q': 1}","tags":[],"inputs":null}`:                            `{"q":1}`,
		`{"inputs":{"q":1}}`:                    "",
		`{"inputs":{"q":1},"limit":3}`:          "",
		`{"inputs":[1],"tags":[]}`:              "",
		`{"tags":[],"metadata":{},"kwargs":{}}`: "",
	} {
		for _, key := range []string{"traceloop.entity.input", "gen_ai.tool.call.arguments"} {
			r := one(t, sp{id: 1, from: 0, to: 1, name: "x.tool", attrs: attrs{"traceloop.span.kind": "tool", "traceloop.entity.name": "x", key: text}}).Records[0]
			if want == "" {
				assert.Equal(t, text, string(r.Args))
				assert.Empty(t, r.ArgsRaw, text)
				continue
			}
			assert.Equal(t, want, string(r.Args), text)
			assert.Equal(t, text, r.ArgsRaw)
			assert.Equal(t, strings.Contains(text, "c7"), r.ToolCallID == "c7")
		}
	}
	text := `{"inputs":{"q":1},"tags":[]}`
	r := one(t, tool(1, 0, 0, 1, "x", attrs{"gen_ai.tool.call.arguments": text})).Records[0]
	assert.Equal(t, text, string(r.Args), "elsewhere these are the tool's own")
}

func TestCutContentIsTruncatedAndNoFailure(t *testing.T) {
	for _, text := range []string{`{"url":"https://exam`, `{'url': 'https://exam`, `{"a":"b"...[TRUNCATED: original length 20000]`, `[{"a":1},…`} {
		tp := one(t, tool(1, 0, 0, 1, "x", attrs{"gen_ai.tool.call.arguments": text, "gen_ai.tool.call.result": text}))
		r := tp.Records[0]
		assert.Equal(t, tape.FidelityTruncated, r.Fidelity, text)
		assert.Nil(t, r.Error, text)
		assert.Equal(t, text, r.ArgsRaw)
		assert.Len(t, tp.Manifest.Gaps, 2)
	}
	r := one(t, tool(1, 0, 0, 1, "x", attrs{"gen_ai.tool.call.arguments": `{}`, "gen_ai.tool.call.result": "no change since..."})).Records[0]
	assert.Equal(t, tape.FidelityExact, r.Fidelity, "prose that ends in dots is whole")
}

func TestDroppedAttributesAreNamed(t *testing.T) {
	span := tool(1, 0, 0, 1, "x", nil)
	span.dropped = 40
	gaps := one(t, span).Manifest.Gaps
	require.NotEmpty(t, gaps)
	assert.Contains(t, gaps[0].Why, "dropped at a limit")
}

func TestACallWhoseOperationWasDroppedIsKnownByTheNameOfItsSpan(t *testing.T) {
	call := sp{id: 2, up: 1, from: 1, to: 2, name: "execute_tool search", dropped: 40, attrs: attrs{"gen_ai.tool.call.result": `"r"`}}
	model := sp{id: 3, up: 1, from: 3, to: 4, name: "chat gpt-4.1", kind: ptrace.SpanKindClient, dropped: 40}
	spans := []sp{agentSpan(1, 0, 9), call, model,
		{id: 4, up: 1, from: 5, to: 6, name: "chat room", dropped: 40},
		{id: 5, up: 1, from: 5, to: 6, name: "execute_tool search"},
	}
	tp := one(t, spans...)
	require.Len(t, tp.Records, 2)
	assert.Equal(t, "search", tp.Records[0].Tool)
	assert.JSONEq(t, `"r"`, string(tp.Records[0].Result))
	assert.Equal(t, tape.KindModel, tp.Records[1].Kind)
	for _, g := range tp.Manifest.Gaps {
		assert.Equal(t, countFix, g.Fix)
	}
	assert.Len(t, tp.Manifest.Gaps, 3)
}

func TestPlaceholdersAreNoValues(t *testing.T) {
	tp := one(t, sp{id: 1, from: 0, to: 1, name: "x", attrs: attrs{
		"openinference.span.kind": "TOOL", "tool.name": "x", "input.value": "__REDACTED__", "output.value": "__REDACTED__",
	}})
	r := tp.Records[0]
	assert.Nil(t, r.Args)
	assert.Nil(t, r.Result)
	assert.Equal(t, tape.FidelityRedacted, r.Fidelity)
	assert.Equal(t, "hidden by the instrumentation", tp.Manifest.Gaps[0].Why)
	assert.Contains(t, tp.Manifest.Gaps[0].Fix, "OPENINFERENCE_HIDE_INPUTS")
}

func TestRedactedValuesAreListed(t *testing.T) {
	r := one(t, tool(1, 0, 0, 1, "x", attrs{
		"gen_ai.tool.call.arguments": `{"auth":{"token":"[REDACTED:secret]"},"list":["a","[REDACTED:email]"],"pin":0}`,
		"gen_ai.tool.call.result":    `"mail [REDACTED:email] sent"`,
		"tape.redacted":              []any{"attributes.gen_ai.tool.call.arguments.auth.token", "attributes.gen_ai.tool.call.arguments.pin", "attributes.other"},
	})).Records[0]
	assert.Equal(t, []string{"args.auth.token", "args.list[1]", "result", "args.pin"}, r.Redacted)
	assert.Equal(t, tape.FidelityRedacted, r.Fidelity)
	assert.NotEmpty(t, r.Key)
}

func TestRedactedPathsLeadThroughRemovedWrappers(t *testing.T) {
	r := one(t, tool(1, 0, 0, 1, "x", attrs{
		"gen_ai.tool.call.arguments": `{"args":[],"kwargs":{"pin":0}}`,
		"tape.redacted":              []any{"attributes.gen_ai.tool.call.arguments.kwargs.pin"},
	})).Records[0]
	assert.Equal(t, []string{"args.pin"}, r.Redacted)
}

func TestDeepNestingIsBounded(t *testing.T) {
	deep := strings.Repeat("[", 200000)
	r := one(t, tool(1, 0, 0, 1, "x", attrs{"gen_ai.tool.call.arguments": deep, "gen_ai.tool.call.result": strings.Repeat(`{"a":`, 100000)})).Records[0]
	assert.Len(t, r.Args, len(deep)+2, "text that is too deep stays text")

	td := traces(t, tool(1, 0, 0, 1, "x", nil))
	v := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).Attributes().PutEmptySlice("gen_ai.tool.call.arguments").AppendEmpty()
	for range 5000 {
		v = v.SetEmptySlice().AppendEmpty()
	}
	r = Translate(td, Options{})[0].Records[0]
	assert.NotEmpty(t, r.Key)
	_, err := tape.Canonical(r.Args)
	assert.NoError(t, err)
}

func TestBodiesAreKeptByReference(t *testing.T) {
	sum := strings.Repeat("ab", 32)
	call := tool(1, 0, 0, 1, "x", attrs{
		"gen_ai.tool.call.arguments": "{}",
		"gen_ai.tool.call.result":    "tape-blob:sha256:" + sum + ":70000:application/json",
	})
	tp := oneWith(t, Options{References: map[string]bool{sum: true}}, call)
	r := tp.Records[0]
	assert.Equal(t, []tape.Body{{SHA256: sum, Bytes: 70000, MediaType: "application/json"}}, r.Bodies)
	assert.Nil(t, r.Result)
	assert.Equal(t, tape.FidelityExact, r.Fidelity)
	assert.Empty(t, tp.Manifest.Gaps)
	assert.False(t, tp.Manifest.Complete, "a replay needs the body")

	r = one(t, call).Records[0]
	assert.Empty(t, r.Bodies, "a text that only looks like a reference is the text it is")
	assert.JSONEq(t, `"tape-blob:sha256:`+sum+`:70000:application/json"`, string(r.Result))
	for _, text := range []string{"tape-blob:sha256:xyz:1:a", "tape-blob:sha256:" + sum + ":-1:a", "tape-blob:sha256:" + sum} {
		_, ok := parseBody(text)
		assert.False(t, ok, text)
	}
}

func TestArgumentsByReferenceKeepTheKeyOfWhoSawThem(t *testing.T) {
	known := Options{References: map[string]bool{strings.Repeat("cd", 32): true}}
	ref := "tape-blob:sha256:" + strings.Repeat("cd", 32) + ":70000:application/json"
	r := oneWith(t, known, tool(1, 0, 0, 1, "x", attrs{"gen_ai.tool.call.arguments": ref, "tape.key": "x:0123456789ab"})).Records[0]
	assert.Equal(t, "x:0123456789ab", r.Key)
	assert.Equal(t, "args", r.Bodies[0].Of)
	r = oneWith(t, known, tool(1, 0, 0, 1, "x", attrs{"gen_ai.tool.call.result": ref})).Records[0]
	key, err := tape.Key("x", []byte("null"))
	require.NoError(t, err)
	assert.Equal(t, key, r.Key)

	span := chat(2, 1, 1, 5, ref, ref)
	r = oneWith(t, known, agentSpan(1, 0, 9), span).Records[0]
	require.Len(t, r.Bodies, 2)
	assert.Nil(t, r.Args)
	assert.Nil(t, r.Result)
}

func TestEarlierTapeAttributesAreNotContent(t *testing.T) {
	span := tool(1, 0, 0, 1, "x", attrs{"gen_ai.tool.call.arguments": "{}", "gen_ai.tool.call.result": "1"})
	want := one(t, span)
	span.attrs["tape.kind"], span.attrs["tape.key"], span.attrs["tape.seq"] = "tool", "x:000000000000", 9
	span.attrs["tape.outcome"], span.attrs["tape.trigger"] = "succeeded", "idle"
	got := one(t, span)
	assert.Equal(t, want.Records, got.Records)
	assert.Equal(t, tape.TriggerIdle, got.Manifest.Trigger)
}

func TestWordsThatEndInDotsAreNotCut(t *testing.T) {
	for text, grade := range map[string]Grade{
		"[INFO] still loading...":    Exact,
		"{name} is not known…":       Exact,
		"[1, 2, 3]...":               Exact,
		`{"rows": [1, 2, {"a": "x…`:  Truncated,
		`{"rows": [1, 2...`:          Truncated,
		`[{"a": 1}, {"b": "half...`:  Truncated,
		"{'city': 'Oslo', 'un...":    Truncated,
		"[truncated] is not the end": Truncated,
	} {
		assert.Equal(t, grade, contentText(text, jsonText).Grade, text)
	}
}

// What stands where a text was lost is read as cut content, of plain text too.
func TestALostTextIsCutContent(t *testing.T) {
	for _, enc := range []encoding{jsonText, pythonText, plainText} {
		for _, text := range []string{once.Hole, "the first half " + once.Hole, "[" + once.Hole} {
			c := contentText(text, enc)
			assert.Equal(t, Truncated, c.Grade, text)
			assert.Contains(t, c.Why, "cut by the instrumentation")
		}
	}
	for _, text := range []string{"the end...", "[INFO] still loading..."} {
		assert.Equal(t, Exact, contentText(text, plainText).Grade, text)
	}
}
