package dialect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// With content off the events name who spoke and which calls were made: that is
// no request to match and no arguments to compare.
func TestMessagesWithoutContentAreGaps(t *testing.T) {
	td, ld := recording(t, "plain_otel_openai_chat_nocontent_B")
	tp := TranslateWithLogs(td, ld, Options{})[0]
	require.Len(t, toolRecords(tp), 3, "the names of the calls are there")
	assert.False(t, tp.Manifest.Complete)
	gaps := map[int][]string{}
	for _, g := range tp.Manifest.Gaps {
		gaps[g.Seq] = append(gaps[g.Seq], g.What)
	}
	for _, r := range tp.Records {
		assert.Equal(t, tape.FidelityAbsent, r.Fidelity, r.Tool)
		assert.Equal(t, []string{"args", "result"}, gaps[r.Seq], r.Tool)
		assert.NotContains(t, string(r.Args), "messages")
	}
}

func TestACallWithoutParametersHasEmptyArguments(t *testing.T) {
	for name, ask := range map[string]string{
		"empty text": `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"now","arguments":""}}]}`,
		"Gemini":     `{"role":"model","parts":[{"functionCall":{"id":"c1","name":"now"}}]}`,
	} {
		tp := one(t, agentSpan(1, 0, 20), chat(2, 1, 1, 5, "["+user+"]", "["+ask+"]"),
			chat(3, 1, 6, 9, "["+user+","+ask+","+answers("c1", `"noon"`)+"]", finished))
		r := toolRecords(tp)
		require.Len(t, r, 1, name)
		assert.Equal(t, `{}`, string(r[0].Args), name)
		assert.Empty(t, tp.Manifest.Gaps, name)
	}
}

func TestAnEmptyTextInPlaceOfArgumentsIsFilledFromTheRequest(t *testing.T) {
	tp := one(t, agentSpan(1, 0, 20), chat(2, 1, 1, 5, "["+user+"]", "["+asks("c1", "get", `{"a":1}`)+"]"),
		tool(3, 1, 6, 9, "get", attrs{"gen_ai.tool.call.id": "c1", "gen_ai.tool.call.arguments": "", "gen_ai.tool.call.result": "1"}))
	assert.Equal(t, `{"a":1}`, string(toolRecords(tp)[0].Args))
}

func TestADKWithContentOffHasNoContent(t *testing.T) {
	call := func(args, result string) *tape.Tape {
		s := tool(2, 1, 1, 2, "get", attrs{"gcp.vertex.agent.tool_call_args": args, "gcp.vertex.agent.tool_response": result})
		s.scope = "gcp.vertex.agent"
		return one(t, agentSpan(1, 0, 9), s)
	}
	off := call(`{}`, `{}`)
	require.Len(t, off.Manifest.Gaps, 2)
	assert.Equal(t, "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true", off.Manifest.Gaps[0].Fix)
	assert.Empty(t, call(`{}`, `{"result":1}`).Manifest.Gaps, "a call without parameters")
}

func TestTheAgentFrameworkWritesNoneForNoArguments(t *testing.T) {
	s := tool(2, 1, 1, 2, "get", attrs{"gen_ai.tool.call.arguments": "None", "gen_ai.tool.call.result": "1"})
	s.scope = "agent_framework"
	r := one(t, agentSpan(1, 0, 9), s).Records[0]
	assert.Equal(t, `{}`, string(r.Args))
	assert.Equal(t, "None", r.ArgsRaw)
}

func TestChoicesInAListAreRead(t *testing.T) {
	td, ld := recording(t, "semantic_kernel_dotnet")
	records := TranslateWithLogs(td, ld, Options{})[0].Records
	assert.Contains(t, string(records[len(records)-1].Result), "It is 4 C and raining in Oslo")
}

func TestCallsAmongTheProvidersOwnFieldsAreRead(t *testing.T) {
	tp := one(t, agentSpan(1, 0, 9), chat(2, 1, 1, 5, "["+user+"]",
		`[{"role":"assistant","content":"","additional_kwargs":{"tool_calls":[{"id":"c1","type":"function","function":{"name":"get","arguments":"{\"a\":1}"}}]}}]`))
	r := toolRecords(tp)
	require.Len(t, r, 1)
	assert.Equal(t, `{"a":1}`, string(r[0].Args))
}
