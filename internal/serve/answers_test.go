package serve

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// TestToolCallsGoOut by every API, with their ids, also in parallel.
func TestToolCallsGoOut(t *testing.T) {
	result := `{"message":{"role":"assistant","parts":[{"type":"text","content":"so"},{"type":"tool_call","id":"call_9","name":"search","arguments":{"q":"é","n":10}},{"type":"tool_call","name":"rate","arguments":{}}]},"finish_reason":"tool-calls"}`
	serve := func(path string) (*httptest.ResponseRecorder, *replay.Session) {
		h, s := modelServer(t, []tape.Record{model(1, asked(said("user", "hello")), result)})
		w := ask(h, path, hello[path])
		require.Equal(t, 200, w.Code, w.Body)
		return w, s
	}
	w, s := serve(chatPath)
	text := w.Body.String()
	assert.Equal(t, "tool_calls", at(t, text, "choices", 0, "finish_reason").Str())
	assert.Equal(t, "so", at(t, text, "choices", 0, "message", "content").Str())
	assert.Equal(t, `{"q":"é","n":10}`, at(t, text, "choices", 0, "message", "tool_calls", 0, "function", "arguments").Str())
	assert.Equal(t, "call_9", at(t, text, "choices", 0, "message", "tool_calls", 0, "id").Str())
	rebuilt := at(t, text, "choices", 0, "message", "tool_calls", 1, "id").Str()
	assert.True(t, strings.HasPrefix(rebuilt, "call_") && len(rebuilt) > 20)
	assert.True(t, at(t, text, "usage").IsNull(), "no counts are made up")
	assert.Contains(t, s.Report().Text(), "ids of tool calls")
	again, _ := serve(chatPath)
	assert.Equal(t, text, again.Body.String(), "the same every time")

	w, _ = serve(messagesPath)
	assert.Equal(t, "tool_use", at(t, w.Body.String(), "stop_reason").Str())
	assert.Equal(t, "tool_use", at(t, w.Body.String(), "content", 2, "type").Str())
	assert.Equal(t, `{"q":"é","n":10}`, at(t, w.Body.String(), "content", 1, "input").JSON())
	w, _ = serve(geminiPath)
	assert.Equal(t, "STOP", at(t, w.Body.String(), "candidates", 0, "finishReason").Str())
	assert.Equal(t, "rate", at(t, w.Body.String(), "candidates", 0, "content", "parts", 2, "functionCall", "name").Str())
	w, _ = serve(responsesPath)
	assert.Equal(t, "completed", at(t, w.Body.String(), "status").Str())
	assert.Equal(t, "call_9", at(t, w.Body.String(), "output", 1, "call_id").Str())
}

func TestThinkingKeepsItsPlaceAndSignature(t *testing.T) {
	result := `{"message":{"role":"assistant","parts":[{"type":"reasoning","content":"hm","signature":"c2ln"},{"type":"reasoning","content":"","signature":"ZW5j"},{"type":"text","content":"a"},{"type":"reasoning","content":"hm 2"},{"type":"tool_call","id":"x","name":"f","arguments":{}}]}}`
	h, s := modelServer(t, []tape.Record{model(1, asked(said("user", "hello")), result)})
	w := ask(h, messagesPath, hello[messagesPath])
	require.Equal(t, 200, w.Code)
	assert.Equal(t, `[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"redacted_thinking","data":"ZW5j"},{"type":"text","text":"a"},`+
		`{"type":"thinking","thinking":"hm 2","signature":""},{"type":"tool_use","id":"x","name":"f","input":{}}]`, at(t, w.Body.String(), "content").JSON())
	report := s.Report().Text()
	assert.Contains(t, report, "signatures of thinking")
	assert.Contains(t, report, "token counts")
	assert.Contains(t, report, "why the model stopped")

	// A signature that was recorded and is missing from the history would be refused
	// by the real API.
	history := func(sig string) string {
		return `{"model":"c","max_tokens":1,"messages":[{"role":"user","content":"hello"},{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"` + sig + `"},{"type":"text","text":"a"}]},{"role":"user","content":"go on"}]}`
	}
	second := asked(said("user", "hello"), `{"role":"assistant","parts":[{"type":"reasoning","content":"hm","signature":"c2ln"},{"type":"text","content":"a"}]}`, said("user", "go on"))
	h, _ = modelServer(t, []tape.Record{model(1, second, answered("x"))})
	w = ask(h, messagesPath, history(""))
	require.Equal(t, 422, w.Code)
	assert.Contains(t, w.Body.String(), "message 2, reasoning, its signature")
	assert.Equal(t, 200, ask(h, messagesPath, history("c2ln")).Code)
}

func TestRefusalsAndLengths(t *testing.T) {
	for reason, want := range map[string]string{"refusal": "content_filter", "max_tokens": "length", "MAX_TOKENS": "length", "end_turn": "stop", "content_filter": "content_filter", "": "stop"} {
		result := fmt.Sprintf(`{"message":%s,"finish_reason":%q}`, said("assistant", "no"), reason)
		h, _ := modelServer(t, []tape.Record{model(1, asked(said("user", "hello")), result), model(2, asked(said("user", "hello")), result)})
		w := ask(h, chatPath, hello[chatPath])
		assert.Equal(t, want, at(t, w.Body.String(), "choices", 0, "finish_reason").Str(), reason)
		if reason == "refusal" {
			assert.Equal(t, "no", at(t, w.Body.String(), "choices", 0, "message", "refusal").Str())
			assert.True(t, at(t, w.Body.String(), "choices", 0, "message", "content").IsNull())
		}
		w = ask(h, responsesPath, hello[responsesPath])
		if want == "length" {
			assert.Equal(t, "incomplete", at(t, w.Body.String(), "status").Str())
			assert.Equal(t, "max_output_tokens", at(t, w.Body.String(), "incomplete_details", "reason").Str())
		}
	}
}

func TestSeveralChoices(t *testing.T) {
	result := `{"messages":[` + said("assistant", "one") + `,` + said("assistant", "two") + `],"finish_reason":"stop"}`
	h, _ := modelServer(t, []tape.Record{model(1, asked(said("user", "hello")), result), model(2, asked(said("user", "hello")), result), model(3, asked(said("user", "hello")), result)})
	several := strings.Replace(hello[chatPath], "{", `{"n":2,`, 1)
	w := ask(h, chatPath, several)
	assert.Equal(t, "two", at(t, w.Body.String(), "choices", 1, "message", "content").Str())
	w = ask(h, chatPath, strings.Replace(several, "{", `{"stream":true,`, 1))
	assert.Equal(t, "two", at(t, string(assembledChat(eventsOf(t, w.Body.String())).Append(nil)), "choices", 1, "message", "content").Str())
	assert.True(t, strings.HasSuffix(w.Body.String(), "data: [DONE]\n\n"))
	w = ask(h, chatPath, hello[chatPath])
	assert.Equal(t, "onetwo", at(t, w.Body.String(), "choices", 0, "message", "content").Str(), "else they are parts of one answer")
}

// TestNoteOfAnswers is that a report names what was rebuilt, and lost on the way to
// another API.
func TestNoteOfAnswers(t *testing.T) {
	result := `{"message":{"role":"assistant","parts":[{"type":"reasoning","content":"","signature":"ZW5j"},{"type":"text","content":"a"},{"type":"media","value":{"image":"x"}}]}}`
	h, s := modelServer(t, []tape.Record{model(1, asked(said("user", "hello")), result)})
	require.Equal(t, 200, ask(h, chatPath, strings.Replace(hello[chatPath], "gpt-x", "gpt-y", 1)).Code)
	text, err := json.Marshal(s.Report())
	require.NoError(t, err)
	for _, want := range []string{"encrypted reasoning", "OpenAI chat completions has no place for it", "parts that are no text", "id and time of the response", "asked for gpt-y, recorded with gpt-x"} {
		assert.Contains(t, string(text), want)
	}
}
