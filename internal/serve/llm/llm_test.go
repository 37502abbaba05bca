package llm

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/tape"
)

var protocols = map[string]Protocol{"chat": OpenAIChat{}, "responses": OpenAIResponses{}, "anthropic": Anthropic{}, "gemini": Gemini{}}

func parse(t testing.TB, text string) value.Value {
	v, err := value.Parse(text)
	require.NoError(t, err, text)
	return v
}

func TestFormIsTheSame(t *testing.T) {
	const want = `{"system":[{"role":"system","parts":[{"type":"text","content":"be brief"}]}],"messages":[{"role":"user","parts":[{"type":"text","content":"hi"},` +
		`{"type":"media","value":{"sha256":"2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"}}]},` +
		`{"role":"assistant","parts":[{"type":"text","content":"so"},{"type":"tool_call","id":"call_1","name":"f","arguments":{"n":1}}]},` +
		`{"role":"tool","parts":[{"type":"tool_call_response","id":"call_1","name":"f","result":{"a":1}}]}],"tools":["f","g"],"params":{"max_tokens":5}}`
	for name, args := range map[string]string{
		"as chat": `{"messages":[{"role":"system","content":"be brief"},{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGVsbG8="}}]},
			{"role":"assistant","content":"so","tool_calls":[{"id":"x","function":{"name":"f","arguments":"{\"n\": 1}"}}]},{"role":"tool","tool_call_id":"x","content":"{\"a\":1}"}],
			"tools":[{"type":"function","function":{"name":"g"}},{"type":"function","function":{"name":"f"}}],"params":{"max_completion_tokens":5,"tool_choice":"auto"}}`,
		"as blocks": `{"system":"be brief","messages":[{"role":"user","content":[{"type":"text","text":"hi"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGVsbG8="}}]},
			{"role":"assistant","content":[{"type":"tool_use","id":"y","name":"f","input":{"n":1}},{"type":"text","text":"so"}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"y","content":[{"type":"text","text":"{\"a\":1}"}]}]}],
			"tools":["f","g","f"],"params":{"maxOutputTokens":5,"is_stream":true}}`,
		"as contents": `{"system":[{"role":"system","parts":[{"text":"be brief"}]}],"messages":[{"role":"user","parts":[{"text":"hi"},{"inlineData":{"mimeType":"image/png","data":"aGVsbG8="}}]},
			{"role":"model","parts":[{"text":"so"},{"functionCall":{"id":"z","name":"f","args":{"n":1}}}]},{"role":"function","parts":[{"functionResponse":{"id":"z","name":"f","response":{"a":1}}}]}],
			"tools":[{"name":"f"},{"name":"g"}],"params":{"max_tokens":5}}`,
	} {
		got, err := Form([]byte(args))
		require.NoError(t, err)
		assert.JSONEq(t, want, string(got), name)
		again, err := Form(got)
		require.NoError(t, err)
		assert.Equal(t, string(got), string(again), "applied again, it changes nothing")
	}
	for _, args := range []string{`null`, `{"q":1}`, `"text"`, `[1]`, `{"input":["a"]}`} {
		got, err := Form([]byte(args))
		require.NoError(t, err)
		assert.Equal(t, args, string(got), "no conversation")
	}
	_, err := Form([]byte(`{"messages":`))
	require.Error(t, err)
}

func TestMediaWithoutData(t *testing.T) {
	for raw, want := range map[string]string{
		`{"type":"image_url","image_url":{"url":"https://x.example/a.png"}}`: `{"uri":"https://x.example/a.png"}`,
		`{"type":"input_file","file_id":"file-1"}`:                           `{"uri":"file-1"}`,
		`{"type":"image","detail":"low"}`:                                    `{"type":"image","detail":"low"}`,
		`{"fileData":{"mimeType":"a/b","fileUri":"gs://b/c"}}`:               `{"uri":"gs://b/c"}`,
		`{"a":{"a":{"a":{"a":{"a":{"a":{"data":"aGk="}}}}}}}`:                `{"a":{"a":{"a":{"a":{"a":{"a":{"data":"aGk="}}}}}}}`,
	} {
		assert.Equal(t, want, mediaForm(parse(t, raw)).JSON())
	}
	assert.Equal(t, mediaForm(parse(t, `{"data":"aGk="}`)).JSON(), mediaForm(parse(t, `{"data":"aGk"}`)).JSON(), "padding says nothing")
}

func TestPlaces(t *testing.T) {
	const args = `{"system":[{"role":"system","parts":[]}],"messages":[{"role":"user","parts":[{"type":"text","content":"a"},{"type":"media","value":{}},{"type":"other","value":{}}]},
		{"role":"assistant","parts":[{"type":"reasoning","content":"r"},{"type":"tool_call","id":"call_1","name":"f","arguments":{}}]},
		{"role":"tool","parts":[{"type":"tool_call_response","result":1}]}]}`
	for path, want := range map[string]string{
		"system[0].parts[0].content": "system prompt", "tools[1]": "tools offered", "params": "parameters", "params.top_p": "parameter top_p",
		"params.stop[0]": "parameter stop: [0]", "messages": "messages", "messages[0]": "message 1, of role user", "messages[1].role": "message 2, its role",
		"messages[0].parts[0].content": "message 1, text of user", "messages[0].parts[1].value.sha256": "message 1, medium: sha256",
		"messages[0].parts[2].value.x": "message 1, part 3: x", "messages[1].parts[0].content": "message 2, reasoning",
		"messages[1].parts[1].arguments.a.b": "message 2, arguments of f: a.b", "messages[1].parts[1].name": "message 2, call of f, its name",
		"messages[2].parts[0].result[3].x": "message 3, tool result: [3].x", "messages[2].parts": "message 3",
		"messages[9]": "", "messages[x]": "", "messages[-1]": "", "other": "", "": "",
	} {
		assert.Equal(t, want, Place(path, []byte(args)), path)
	}
	assert.Empty(t, Place("messages[0]", []byte(`{`)))
}

func TestPiecesAreCutOnRuneBorders(t *testing.T) {
	for _, text := range []string{"", "a", strings.Repeat("日本語🙂", 2000), strings.Repeat("x", 1<<20), "\xff\xfe" + strings.Repeat("\x80", 100)} {
		var got strings.Builder
		n := 0
		require.NoError(t, pieces(text, func(s string) error {
			n++
			assert.NotEmpty(t, s)
			assert.Equal(t, utf8.ValidString(text), utf8.ValidString(s))
			got.WriteString(s)
			return nil
		}))
		assert.Equal(t, text, got.String())
		assert.LessOrEqual(t, n, maxChunks+1)
	}
	failed := fmt.Errorf("gone")
	assert.ErrorIs(t, pieces("abc", func(string) error { return failed }), failed)
}

func TestWriteJSONWritesWhatValuesAre(t *testing.T) {
	long := strings.Repeat("é\"\n\x01\xff日", textPiece/4)
	for _, v := range []value.Value{
		{}, value.Obj(), value.List(), value.Str(""), value.Str(long), value.Float(1.5), value.Boolean(true),
		value.Obj(value.M("a", value.List(value.Obj(), value.List(), value.Str(long), value.Value{})), value.M(long, value.Int(1))),
		parse(t, `{"a": [ 1, {"b" : "`+strings.Repeat("x", 600)+`"} ], "c":null}`),
	} {
		var out bytes.Buffer
		require.NoError(t, WriteJSON(&out, v))
		assert.Equal(t, v.JSON(), out.String())
	}
}

func TestAnswersOfPlainRecorders(t *testing.T) {
	for name, result := range map[string]string{
		"chat body":      `{"choices":[{"message":{"role":"assistant","content":"hi"},"finish_reason":"stop"}],"model":"m","usage":{"prompt_tokens":3,"completion_tokens":1}}`,
		"message body":   `{"role":"assistant","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","model":"m","usage":{"input_tokens":3,"output_tokens":1}}`,
		"responses body": `{"output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":"hi"}]}],"model":"m","usage":{"input_tokens":3,"output_tokens":1}}`,
		"gemini body":    `{"candidates":[{"content":{"role":"model","parts":[{"text":"hi"}]}}],"model":"m","usage":{"promptTokenCount":3}}`,
		"text":           `"hi"`,
		"output":         `{"output":"hi","model":"m"}`,
	} {
		a, err := ReadAnswer(&tape.Record{Seq: 1, Model: "m"}, []byte(result), "seed", 1)
		require.NoError(t, err, name)
		require.Len(t, a.Choices, 1)
		assert.Equal(t, "assistant", a.Choices[0].Role, name)
		assert.Equal(t, "hi", a.Choices[0].Parts[0].Text, name)
		assert.Equal(t, "m", a.Model)
	}
	for _, result := range []string{`null`, `{}`, `{"usage":{}}`, `7`, `{"messages":[]}`} {
		_, err := ReadAnswer(&tape.Record{Seq: 1}, []byte(result), "seed", 1)
		require.ErrorIs(t, err, ErrNoAnswer, result)
	}
	_, err := ReadAnswer(&tape.Record{Seq: 4}, []byte(`{`), "seed", 1)
	require.ErrorContains(t, err, "record 4")
}

// FuzzRequests: whatever comes is a request or an error that says why, and its form
// is one that does not change again.
func FuzzRequests(f *testing.F) {
	f.Add(`{"messages":[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"x","content":[{"type":"text","text":"{}"}]}],"tools":[{"function":{"name":"f"}}],"stop":"a","n":2}`)
	f.Add(`{"input":[{"type":"function_call","call_id":"a","name":"f","arguments":"{"},{"type":"reasoning","summary":[{"text":"x"}]},{"type":"item_reference","id":"y"}],"instructions":"z"}`)
	f.Add(`{"contents":[{"parts":[{"functionCall":{"name":"f"}},{"inlineData":{"data":"%%%"}}]}],"systemInstruction":{"parts":[{"text":"s"}]},"tools":[{"googleSearch":{}}]}`)
	f.Add(`{"system":[{"type":"text","text":"s"}],"messages":[{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"s"},{"type":"tool_use","id":"","name":"","input":7}]}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		v, err := value.Parse(text)
		if err != nil {
			return
		}
		for name, p := range protocols {
			q, err := p.Read(v)
			if err != nil {
				assert.NotEmpty(t, err.Error())
				continue
			}
			once, err := Form(q.Args())
			require.NoError(t, err, name)
			again, err := Form(once)
			require.NoError(t, err, name)
			assert.Equal(t, string(once), string(again), name)
		}
		if formed, err := Form([]byte(text)); err == nil {
			require.True(t, json.Valid(formed))
		}
	})
}

// FuzzAnswers: whatever a tape holds, every protocol writes JSON, and events of it.
func FuzzAnswers(f *testing.F) {
	f.Add(`{"message":{"role":"assistant","parts":[{"type":"text","content":"é"},{"type":"tool_call","name":"f","arguments":"x"},{"type":"reasoning","content":"","signature":"s"}]},"finish_reason":"tool_calls","usage":{"input_tokens":1}}`)
	f.Add(`{"messages":[{"role":"tool","parts":[{"type":"tool_call_response","id":"a","result":[1]}]},{"parts":[{"type":"other","value":{"type":"x"}},{"type":"media","value":{}}],"finish_reason":"SAFETY"}]}`)
	f.Add(`{"choices":[{"message":{"content":null,"tool_calls":[{}]}},7]}`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, choices := range []int{1, 3} {
			for name, p := range protocols {
				a, err := ReadAnswer(&tape.Record{Seq: 1}, []byte(text), "seed", choices)
				if err != nil {
					return
				}
				q := &Request{Choices: choices, Usage: true, Body: value.Obj()}
				check := func(v value.Value) {
					var out bytes.Buffer
					require.NoError(t, WriteJSON(&out, v))
					require.True(t, json.Valid(out.Bytes()), "%s: %s", name, out.String())
				}
				check(p.Write(q, a))
				require.NoError(t, p.Stream(q, a, func(_ string, data value.Value) error { check(data); return nil }))
			}
		}
	})
}
