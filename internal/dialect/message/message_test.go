package message_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// Every provider's way to write one exchange reads the same.
func TestOneConversationInEveryShape(t *testing.T) {
	const want = `[` +
		`{"role":"user","parts":[{"type":"text","content":"hi"}]},` +
		`{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"get","arguments":{"a":1}}]},` +
		`{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","result":"ok"}]},` +
		`{"role":"assistant","parts":[{"type":"text","content":"bye"}]}]`
	for name, text := range map[string]string{
		"GenAI conventions": `[{"role":"user","parts":[{"type":"text","content":"hi"}]},{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"get","arguments":{"a":1}}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","response":"ok"}]},{"role":"assistant","parts":[{"type":"text","content":"bye"}]}]`,
		"OpenAI chat":       `[{"role":"user","content":"hi"},{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"get","arguments":"{\"a\":1}"}}]},{"role":"tool","tool_call_id":"c1","content":"ok"},{"role":"assistant","content":"bye"}]`,
		"OpenAI Responses":  `[{"role":"user","content":[{"type":"input_text","text":"hi"}]},{"type":"function_call","id":"fc1","call_id":"c1","name":"get","arguments":"{\"a\":1}"},{"type":"function_call_output","call_id":"c1","output":"ok"},{"type":"message","role":"assistant","content":[{"type":"output_text","text":"bye"}]}]`,
		"Anthropic":         `[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"get","input":{"a":1}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"ok"}]},{"role":"assistant","content":[{"type":"text","text":"bye"}]}]`,
		"Vercel":            `[{"role":"user","content":[{"type":"text","text":"hi"}]},{"role":"assistant","content":[{"type":"tool-call","toolCallId":"c1","toolName":"get","input":{"a":1}}]},{"role":"tool","content":[{"type":"tool-result","toolCallId":"c1","output":{"type":"text","value":"ok"}}]},{"role":"assistant","content":[{"type":"text","text":"bye"}]}]`,
		"Bedrock":           `[{"role":"user","content":[{"text":"hi"}]},{"role":"assistant","content":[{"toolUse":{"toolUseId":"c1","name":"get","input":{"a":1}}}]},{"role":"user","content":[{"toolResult":{"toolUseId":"c1","status":"success","content":"ok"}}]},{"role":"assistant","content":[{"text":"bye"}]}]`,
		"Gemini":            `[{"role":"user","parts":[{"text":"hi"}]},{"role":"model","parts":[{"functionCall":{"id":"c1","name":"get","args":{"a":1}}}]},{"role":"user","parts":[{"function_response":{"id":"c1","name":"get","response":"ok"}}]},{"role":"model","parts":[{"text":"bye"}]}]`,
		"LangChain":         `[[{"lc":1,"type":"constructor","id":["langchain_core","messages","HumanMessage"],"kwargs":{"content":"hi"}},{"lc":1,"type":"constructor","id":["AIMessage"],"kwargs":{"content":"","tool_calls":[{"name":"get","args":{"a":1},"id":"c1","type":"tool_call"}]}},{"type":"tool","data":{"content":"ok","tool_call_id":"c1"}},{"type":"ai","content":"bye"}]]`,
		"OpenInference":     `[{"message":{"role":"user","contents":[{"message_content":{"type":"text","text":"hi"}}]}},{"message":{"role":"assistant","tool_calls":[{"tool_call":{"id":"c1","function":{"name":"get","arguments":"{\"a\":1}"}}}]}},{"message":{"role":"tool","tool_call_id":"c1","content":"ok"}},{"message":{"role":"assistant","content":"bye"}}]`,
		"Haystack":          `[{"role":"user","content":[{"text":"hi"}]},{"role":"assistant","content":[{"tool_call":{"tool_name":"get","arguments":{"a":1},"id":"c1"}}]},{"role":"tool","content":[{"tool_call_result":{"result":"ok","origin":{"id":"c1","tool_name":"get"},"error":false}}]},{"role":"assistant","content":[{"text":"bye"}]}]`,
		"parts and calls":   `[{"role":"user","parts":[{"type":"text","content":"hi"}]},{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"get","arguments":{"a":1}}],"tool_calls":[{"id":"c1","function":{"name":"get","arguments":"{\"a\":1}"}}]},{"role":"tool","content":"ok","tool_call_id":"c1"},{"role":"assistant","content":"bye"}]`,
	} {
		t.Run(name, func(t *testing.T) {
			v, err := value.Parse(text)
			require.NoError(t, err)
			ms := message.Read(v)
			for i := range ms {
				for j := range ms[i].Parts {
					if p := &ms[i].Parts[j]; p.Type == message.ToolReply {
						p.Name = "" // only some providers name the tool again
					}
				}
			}
			assert.Equal(t, want, string(message.Append(nil, ms)))
		})
	}
}

func read(t *testing.T, text string) []message.Message {
	t.Helper()
	v, err := value.Parse(text)
	require.NoError(t, err)
	return message.Read(v)
}

func TestFailedReplies(t *testing.T) {
	for _, text := range []string{
		`[{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"no","is_error":true}]}]`,
		`[{"role":"tool","content":[{"type":"tool-result","toolCallId":"c","output":{"type":"error-text","value":"no"}}]}]`,
		`[{"role":"user","content":[{"toolResult":{"toolUseId":"c","status":"error","content":"no"}}]}]`,
		`[{"type":"tool","data":{"content":"no","tool_call_id":"c","status":"error"}}]`,
	} {
		p := read(t, text)[0].Parts[0]
		assert.True(t, p.Failed, text)
		assert.Equal(t, "no", p.Result.Str())
		assert.Equal(t, "c", p.ID)
	}
}

func TestNothingIsDropped(t *testing.T) {
	ms := read(t, `[{"role":"user","content":[{"type":"image_url","image_url":{"url":"x"}},{"strange":1}]},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"s"}]}]`)
	assert.Equal(t, `[{"role":"user","parts":[{"type":"media","value":{"type":"image_url","image_url":{"url":"x"}}},{"type":"other","value":{"strange":1}}]},`+
		`{"role":"assistant","parts":[{"type":"reasoning","content":"hm","signature":"s"}]}]`, string(message.Append(nil, ms)))
}

func TestTextOfAToolRoleIsItsReply(t *testing.T) {
	ms := read(t, `[{"role":"tool","parts":[{"type":"text","content":"a"},{"type":"text","content":"b"}]}]`)
	assert.Equal(t, message.ToolReply, ms[0].Parts[0].Type)
	assert.Equal(t, "ab", ms[0].Parts[0].Result.Str())
}

func TestTheToolsNameAsRole(t *testing.T) {
	ms := read(t, `[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"get","arguments":"{}"}}]},{"role":"get","content":"ok"}]`)
	assert.Equal(t, "tool", ms[1].Role)
	assert.Equal(t, "get", ms[1].Parts[0].Name)
}

func TestArgumentsThatAreNoJSONStayText(t *testing.T) {
	p := read(t, `[{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"get","arguments":"{\"a\":"}}]}]`)[0].Parts[0]
	assert.Equal(t, `{"a":`, p.ArgsText)
	assert.Equal(t, value.String, p.Args.Kind())
}

func FuzzRead(f *testing.F) {
	f.Add(`[{"role":"assistant","content":[{"type":"tool_use"}],"tool_calls":["{}",1]}]`)
	f.Add(`{"type":"constructor","id":[],"kwargs":{}}`)
	f.Add(`[[[[]]]]`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := value.Parse(text)
		if err != nil {
			return
		}
		if _, err := value.Parse(string(message.Append(nil, message.Read(v)))); err != nil {
			t.Fatal(err)
		}
	})
}
