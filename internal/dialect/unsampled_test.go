package dialect

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/tape"
)

// Dialects and variants of which there is a description but no recording.

func TestGenkit(t *testing.T) {
	tp := one(t,
		sp{id: 1, from: 0, to: 50, name: "travel", attrs: attrs{"genkit:type": "action", "genkit:metadata:subtype": "flow", "genkit:name": "travel", "genkit:sessionId": "s1"}},
		sp{id: 2, up: 1, from: 1, to: 5, name: "googleai/gemini", attrs: attrs{
			"genkit:metadata:subtype": "model", "genkit:name": "googleai/gemini",
			"genkit:input":  `{"messages":[{"role":"user","content":[{"text":"hi"}]}],"tools":[{"name":"get","inputSchema":{"type":"object"}}],"config":{"temperature":0}}`,
			"genkit:output": `{"message":{"role":"model","content":[{"toolRequest":{"ref":"r1","name":"get","input":{"a":1}}}]},"finishReason":"stop","usage":{"inputTokens":3,"outputTokens":4}}`,
		}},
		sp{id: 3, up: 1, from: 6, to: 9, name: "get", err: "late", attrs: attrs{"genkit:metadata:subtype": "tool", "genkit:name": "get", "genkit:input": `{"a":1}`, "genkit:output": "null", "genkit:state": "error"}},
	)
	require.Len(t, tp.Records, 2)
	r := tp.Records[1]
	assert.Equal(t, "genkit", r.Dialect)
	assert.Equal(t, "r1", r.ToolCallID, "the reference is only in the request")
	assert.JSONEq(t, `{"a":1}`, string(r.Args))
	assert.Nil(t, r.Result)
	assert.Equal(t, "late", r.Error.Message)
	assert.Equal(t, "s1", tp.Manifest.ConversationID)
	assert.Equal(t, "travel", tp.Manifest.Agent)
	assert.Equal(t, "googleai/gemini", tp.Records[0].Model)
}

func TestLiveKit(t *testing.T) {
	tp := one(t,
		sp{id: 2, from: 1, to: 5, name: "llm_request", attrs: attrs{"lk.speech_id": "x", "gen_ai.request.model": "m"}, events: []ev{
			{"gen_ai.user.message", attrs{"content": "hi"}},
			{"gen_ai.choice", attrs{"role": "assistant", "content": "", "tool_calls": []any{`{"id":"c1","type":"function","function":{"name":"get","arguments":"{\"a\":1}"}}`}}},
		}},
		sp{id: 3, from: 6, to: 9, name: "function_tool", attrs: attrs{
			"lk.function_tool.id": "c1", "lk.function_tool.name": "get", "lk.pii.function_tool.arguments": `{"a":1}`,
			"lk.pii.function_tool.output": "An internal error occurred", "lk.function_tool.is_error": true,
		}},
	)
	require.Len(t, tp.Records, 2)
	assert.Equal(t, []string{"m"}, Row(tp, Facts{}).Models)
	r := tp.Records[1]
	assert.Equal(t, "livekit", r.Dialect)
	assert.JSONEq(t, `{"a":1}`, string(r.Args))
	assert.Equal(t, "An internal error occurred", r.Error.Message)
	assert.Equal(t, tape.OutcomeFailed, tp.Manifest.Outcome)
}

func TestOlderFastMCPNamesTheMethodAsRPC(t *testing.T) {
	tp := one(t, sp{id: 1, from: 0, to: 1, name: "tools/call get", kind: ptrace.SpanKindServer, scope: "fastmcp", attrs: attrs{"rpc.system": "mcp", "rpc.method": "tools/call"}})
	require.Len(t, tp.Records, 1)
	assert.Equal(t, "get", tp.Records[0].Tool)
}

func TestALostToolNameComesFromTheRequest(t *testing.T) {
	tp := one(t,
		agentSpan(1, 0, 20),
		chat(2, 1, 1, 5, "["+user+"]", "["+asks("c", "get", `{"a":1}`)+"]"),
		sp{id: 3, up: 1, from: 6, to: 9, name: "execute_tool", attrs: attrs{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.call.arguments": `{"a":1}`, "gen_ai.tool.call.result": `"r"`}},
	)
	r := toolRecords(tp)
	require.Len(t, r, 1)
	assert.Equal(t, "get", r[0].Tool)
	assert.Equal(t, "c", r[0].ToolCallID)
}

// The page of dialects names each of them, in the order of recognition.
func TestTheDocumentedDialectsAreThose(t *testing.T) {
	page, err := os.ReadFile("../../docs/dialects.md")
	require.NoError(t, err)
	first, _, _ := strings.Cut(string(page), "## Versions and forms")
	var documented, have []string
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z_]+)` ").FindAllStringSubmatch(first, -1) {
		documented = append(documented, row[1])
	}
	for _, d := range dialects {
		if !slices.Contains(have, d.Name()) {
			have = append(have, d.Name())
		}
	}
	assert.Equal(t, have, documented)
}

// The page names the recording of each form, and its table no other.
func TestTheDocumentedRecordingsAreThose(t *testing.T) {
	page, err := os.ReadFile("../../docs/dialects.md")
	require.NoError(t, err)
	_, table, _ := strings.Cut(string(page), "| versions and forms |")
	table, _, _ = strings.Cut(table, "\n\n")
	families := regexp.MustCompile("`([a-z0-9_]+)\\*`").FindAllStringSubmatch(table, -1)
	for _, c := range recordings(t) {
		name := strings.TrimSuffix(c.Name, " without logs")
		named := strings.Contains(table, "`"+name+"`") || slices.ContainsFunc(families, func(f []string) bool { return strings.HasPrefix(name, f[1]) })
		assert.True(t, named, name)
	}
	for _, row := range strings.Split(table, "\n") {
		cells := strings.Split(row, "|")
		if len(cells) < 4 {
			continue
		}
		for _, m := range regexp.MustCompile("`([a-z0-9_]+)`").FindAllStringSubmatch(cells[3], -1) {
			assert.FileExists(t, "testdata/golden/"+m[1]+".jsonl")
		}
	}
}
