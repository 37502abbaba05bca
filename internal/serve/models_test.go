package serve

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// model is the record of a model call, in the neutral form.
func model(seq int, args, result string) tape.Record {
	return tape.Record{
		Seq: seq, Tool: "chat", Kind: tape.KindModel, Args: []byte(args), Result: []byte(result), Model: "gpt-x",
		Start: "2026-03-02T10:00:00Z", MS: 40,
	}
}

func said(role, text string) string {
	return fmt.Sprintf(`{"role":%q,"parts":[{"type":"text","content":%q}]}`, role, text)
}

func asked(messages ...string) string { return `{"messages":[` + strings.Join(messages, ",") + `]}` }

func answered(text string) string {
	return `{"message":` + said("assistant", text) + `,"finish_reason":"stop","usage":{"input_tokens":7,"output_tokens":3}}`
}

const (
	chatPath      = "/openai/v1/chat/completions"
	responsesPath = "/openai/v1/responses"
	messagesPath  = "/anthropic/v1/messages"
	geminiPath    = "/gemini/v1beta/models/gemini-x:generateContent"
)

// hello is the same request to every API.
var hello = map[string]string{
	chatPath:      `{"model":"gpt-x","messages":[{"role":"user","content":"hello"}]}`,
	responsesPath: `{"model":"gpt-x","input":"hello"}`,
	messagesPath:  `{"model":"claude-x","max_tokens":10,"messages":[{"role":"user","content":"hello"}]}`,
	geminiPath:    `{"contents":[{"parts":[{"text":"hello"}]}]}`,
}

func at(t *testing.T, text string, path ...any) value.Value {
	v, err := value.Parse(text)
	require.NoError(t, err, text)
	for _, p := range path {
		if n, ok := p.(int); ok {
			require.Less(t, n, v.Len(), "%v in %s", path, text)
			v = v.Items()[n]
			continue
		}
		v = v.At(p.(string))
	}
	return v
}

// TestOneTapeServesEveryAPI: whichever API a tape came from.
func TestOneTapeServesEveryAPI(t *testing.T) {
	where := map[string][]any{
		chatPath: {"choices", 0, "message", "content"}, responsesPath: {"output", 0, "content", 0, "text"},
		messagesPath: {"content", 0, "text"}, geminiPath: {"candidates", 0, "content", "parts", 0, "text"},
	}
	for path, request := range hello {
		h, s := modelServer(t, []tape.Record{model(1, asked(said("user", "hello")), answered("hé"))})
		w := ask(h, path, request)
		require.Equal(t, 200, w.Code, "%s %s", path, w.Body)
		assert.Equal(t, "hé", at(t, w.Body.String(), where[path]...).Str(), path)
		assert.Equal(t, "1", w.Header().Get("Tape-Seq"))
		assert.NoError(t, s.Close(), path)
	}
}

// TestStreamsSayWhatBodiesSay, for real answers by every API, whoever recorded them.
func TestStreamsSayWhatBodiesSay(t *testing.T) {
	for _, c := range cassettes(t) {
		if c.Status != 200 {
			continue
		}
		result := c.record(t).Result
		for path, body := range hello {
			streaming := strings.Replace(body, "{", `{"stream":true,"stream_options":{"include_usage":true},`, 1)
			url := path
			if path == geminiPath {
				url, streaming = strings.Replace(path, "generateContent", "streamGenerateContent?alt=sse", 1), body
			}
			h, s := modelServer(t, []tape.Record{model(1, asked(said("user", "hello")), string(result)), model(2, asked(said("user", "hello")), string(result))})
			whole, stream := ask(h, path, body), ask(h, url, streaming)
			require.Equal(t, 200, whole.Code, "%s %s", path, whole.Body)
			require.Equal(t, 200, stream.Code, "%s %s", path, stream.Body)
			require.NoError(t, s.Close())
			want, err := value.Parse(whole.Body.String())
			require.NoError(t, err)
			var got value.Value
			switch path {
			case geminiPath:
				// Texts in a row are one to a client that reads events.
				want = assembledGemini([]event{{data: want}})
				got = assembledGemini(eventsOf(t, stream.Body.String()))
			case messagesPath:
				got = assembledMessage(eventsOf(t, stream.Body.String()))
			case responsesPath:
				got = assembledResponse(eventsOf(t, stream.Body.String()))
			default:
				got = assembledChat(eventsOf(t, stream.Body.String()))
			}
			differences, err := replay.Diff(want.Append(nil), got.Append(nil))
			require.NoError(t, err)
			for _, d := range differences {
				switch leaf := index.ReplaceAllString(d.Path, "[]"); leaf {
				case "id", "responseId", "output[].id", "choices[].message.annotations":
				case "output[].call_id", "content[].id", "choices[].message.tool_calls[].id", "candidates[].content.parts[].functionCall.id":
					// Where the tape has none, they are made of the record's position.
				default:
					t.Errorf("%s: %s (%s)", path, d, c.Source)
				}
			}
		}
	}
}

// assembledResponse is made of the deltas alone: the last event has it all again.
func assembledResponse(events []event) value.Value {
	var out value.Value
	items := map[int64]value.Value{}
	texts := map[string]string{}
	for _, e := range events {
		n, _ := e.data.At("output_index").Int64()
		key := fmt.Sprint(n, e.data.At("content_index").Text(), e.data.At("summary_index").Text())
		switch name := e.data.At("type").Str(); {
		case name == "response.output_item.done":
			items[n] = e.data.At("item")
		case strings.HasSuffix(name, ".delta"):
			texts[key] += e.data.At("delta").Str()
		case name == "response.output_text.done" || name == "response.reasoning_summary_text.done":
			if texts[key] != e.data.At("text").Str() {
				return value.Str("the deltas do not make the text")
			}
		case name == "response.function_call_arguments.done":
			if texts[key] != e.data.At("arguments").Str() {
				return value.Str("the deltas do not make the arguments")
			}
		case name == "response.completed" || name == "response.incomplete":
			out = e.data.At("response")
		}
	}
	list := make([]value.Value, len(items))
	for n, item := range items {
		list[n] = item
	}
	return out.With("output", value.List(list...))
}

func assembledGemini(events []event) value.Value {
	var out value.Value
	var parts []value.Value
	candidate := value.Obj()
	for _, e := range events {
		for _, m := range e.data.Members() {
			out = out.With(m.Name, m.Value)
		}
		for _, c := range e.data.At("candidates").Items() {
			for _, m := range c.Members() {
				candidate = candidate.With(m.Name, m.Value)
			}
			for _, p := range c.At("content").At("parts").Items() {
				last := len(parts) - 1
				if last >= 0 && p.Has("text") && parts[last].Has("text") && p.Has("thought") == parts[last].Has("thought") {
					parts[last] = parts[last].With("text", value.Str(parts[last].At("text").Str()+p.At("text").Str()))
					continue
				}
				parts = append(parts, p)
			}
		}
	}
	candidate = candidate.With("content", value.Obj(value.M("parts", value.List(parts...)), value.M("role", value.Str("model"))))
	return out.With("candidates", value.List(candidate))
}

// TestVerdictsSpeakTheWordsOfTheAPI and are none that an SDK tries again.
func TestVerdictsSpeakTheWordsOfTheAPI(t *testing.T) {
	for path, request := range hello {
		h, s := modelServer(t, []tape.Record{model(1, asked(said("user", "goodbye")), answered("bye"))})
		w := ask(h, path, request)
		require.Equal(t, 422, w.Code, "%s %s", path, w.Body)
		assert.Equal(t, "false", w.Header().Get("x-should-retry"))
		text := w.Body.String()
		assert.Contains(t, text, "tape_drift")
		assert.Contains(t, text, "http://127.0.0.1/v1/calls/1")
		assert.Contains(t, text, `message 1, text of user`)
		message := at(t, text, "error", "message").Str()
		assert.Contains(t, message, `message 1, text of user "goodbye" -> "hello"`, path)
		if path == messagesPath {
			assert.Equal(t, "error", at(t, text, "type").Str())
		}
		if path == geminiPath {
			assert.Equal(t, "422", at(t, text, "error", "code").Text())
		}

		r := httptest.NewRequest(http.MethodGet, "http://127.0.0.1/v1/calls/1", nil)
		full := httptest.NewRecorder()
		h.ServeHTTP(full, r)
		require.Equal(t, 200, full.Code)
		assert.Equal(t, "messages[0].parts[0].content", at(t, full.Body.String(), "differences", 0, "path").Str())
		assert.Contains(t, full.Body.String(), `"live_args"`)
		r.Header.Set("Accept", "text/plain")
		full = httptest.NewRecorder()
		h.ServeHTTP(full, r)
		assert.Contains(t, full.Body.String(), "message 1, text of user")
		require.ErrorIs(t, s.Close(), replay.ErrDrift)
	}
	h, _ := modelServer(t, nil)
	w := ask(h, chatPath, hello[chatPath])
	assert.Equal(t, 404, w.Code)
	assert.Equal(t, "tape_miss", at(t, w.Body.String(), "error", "code").Str())
	for path := range map[string]bool{"/v1/calls/7": true, "/v1/calls/x": true, "/v1/calls/": true} {
		full := httptest.NewRecorder()
		h.ServeHTTP(full, httptest.NewRequest(http.MethodGet, "http://127.0.0.1"+path, nil))
		assert.Equal(t, 404, full.Code)
	}

	h, _ = modelServer(t, []tape.Record{model(1, asked(said("user", "hello")), answered("hi"))})
	ask(h, chatPath, hello[chatPath])
	w = ask(h, messagesPath, hello[messagesPath])
	assert.Equal(t, 410, w.Code)
	assert.Equal(t, "tape_exhausted", at(t, w.Body.String(), "error", "code").Str())

	gap := model(1, asked(said("user", "hello")), "")
	gap.Fidelity = tape.FidelityAbsent
	h, _ = modelServer(t, []tape.Record{gap})
	w = ask(h, chatPath, hello[chatPath])
	assert.Equal(t, 424, w.Code, w.Body)
	assert.Equal(t, "tape_gap", at(t, w.Body.String(), "error", "code").Str())

	h, s := modelServer(t, []tape.Record{model(1, asked(said("user", "hello")), `{"usage":{"input_tokens":1}}`)})
	w = ask(h, chatPath, hello[chatPath])
	assert.Equal(t, 424, w.Code, w.Body)
	require.ErrorIs(t, s.Close(), replay.ErrGap)
}

// TestAConversationWithTools drifts at the leaf that differs, in words.
func TestAConversationWithTools(t *testing.T) {
	args := `{"system":[{"role":"system","parts":[{"type":"text","content":"be brief"}]}],"messages":[` + said("user", "weather?") +
		`,{"role":"assistant","parts":[{"type":"tool_call","id":"rec_1","name":"search","arguments":{"q":"oslo"}},{"type":"tool_call","id":"rec_2","name":"rate","arguments":{}}]}` +
		`,{"role":"tool","parts":[{"type":"tool_call_response","id":"rec_1","result":"{\"temp\":4}"}]},{"role":"tool","parts":[{"type":"tool_call_response","id":"rec_2","name":"rate","result":"11.5"}]}]` +
		`,"tools":[{"name":"search"},{"name":"rate"}],"params":{"temperature":0.5}}`
	chat := `{"model":"gpt-x","temperature":0.5,"max_tokens":7,"messages":[{"role":"developer","content":"be brief"},{"role":"user","content":"weather?"},
		{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"search","arguments":"{\"q\": \"oslo\"}"}},{"id":"b","type":"function","function":{"name":"rate","arguments":"{}"}}]},
		{"role":"tool","tool_call_id":"b","content":"11.5"},{"role":"tool","tool_call_id":"a","content":"{\"temp\": 4}"}],
		"tools":[{"type":"function","function":{"name":"rate","parameters":{}}},{"type":"function","function":{"name":"search"}}]}`
	anthropic := `{"model":"claude-x","temperature":0.5,"max_tokens":7,"system":[{"type":"text","text":"be brief"}],"messages":[{"role":"user","content":"weather?"},
		{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"search","input":{"q":"oslo"}},{"type":"tool_use","id":"b","name":"rate","input":{}}]},
		{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":[{"type":"text","text":"{\"temp\":4}"}]},{"type":"tool_result","tool_use_id":"b","content":"11.5"}]}],
		"tools":[{"name":"rate","input_schema":{}},{"name":"search","input_schema":{}}]}`
	gemini := `{"generationConfig":{"temperature":0.5,"maxOutputTokens":7},"systemInstruction":{"parts":[{"text":"be brief"}]},"contents":[{"role":"user","parts":[{"text":"weather?"}]},
		{"role":"model","parts":[{"functionCall":{"id":"a","name":"search","args":{"q":"oslo"}}},{"functionCall":{"id":"b","name":"rate"}}]},
		{"role":"user","parts":[{"functionResponse":{"id":"a","name":"search","response":{"temp":4}}},{"functionResponse":{"id":"b","name":"rate","response":"11.5"}}]}],
		"tools":[{"functionDeclarations":[{"name":"search"},{"name":"rate"}]}]}`
	responses := `{"model":"gpt-x","temperature":0.5,"max_output_tokens":7,"instructions":"be brief","input":[{"role":"user","content":[{"type":"input_text","text":"weather?"}]},
		{"type":"function_call","call_id":"a","name":"search","arguments":"{\"q\":\"oslo\"}"},{"type":"function_call","call_id":"b","name":"rate","arguments":"{}"},
		{"type":"function_call_output","call_id":"a","output":"{\"temp\":4}"},{"type":"function_call_output","call_id":"b","output":"11.5"}],
		"tools":[{"type":"function","name":"rate"},{"type":"function","name":"search"}]}`
	for path, request := range map[string]string{chatPath: chat, messagesPath: anthropic, geminiPath: gemini, responsesPath: responses} {
		h, s := modelServer(t, []tape.Record{model(1, args, answered("4 degrees"))})
		w := ask(h, path, request)
		require.Equal(t, 200, w.Code, "%s %s", path, w.Body)
		require.NoError(t, s.Close())
		assert.Contains(t, s.Report().Text(), "params.max_tokens", "a parameter that the tape never recorded is not compared, and that is said")

		for from, want := range map[string]string{
			"oslo":     `message 2, arguments of search: q "oslo" -> "bergen"`,
			"be brief": `system prompt "be brief" -> "bergen"`,
			"weather?": `message 1, text of user "weather?" -> "bergen"`,
			"11.5":     `message 3, tool result of rate "11.5" -> "bergen"`,
		} {
			h, s := modelServer(t, []tape.Record{model(1, args, answered("4 degrees"))})
			w := ask(h, path, strings.ReplaceAll(request, from, "bergen"))
			require.Equal(t, 422, w.Code, "%s %s", path, w.Body)
			event := s.Report().Events[0]
			assert.Contains(t, event.Message, want, path)
			assert.Len(t, event.Differences, 1, path)
		}
		h, s = modelServer(t, []tape.Record{model(1, args, answered("4 degrees"))})
		w = ask(h, path, strings.ReplaceAll(strings.Replace(request, "0.5", "0.7", 1), `"name":"rate"`, `"name":"rates"`))
		require.Equal(t, 422, w.Code)
		text := s.Report().Events[0].Message
		assert.Contains(t, text, "parameter temperature 0.5 -> 0.7", path)
		assert.Contains(t, text, `tools offered "rate" -> "rates"`, path)
	}
}
