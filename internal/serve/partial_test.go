package serve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

// long is a request in the middle of a conversation.
const long = `{"model":"gpt-x","temperature":0.2,"messages":[{"role":"system","content":"be brief"},{"role":"user","content":"find the report of May"},
	{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"find","arguments":"{\"month\":5}"}}]},
	{"role":"tool","tool_call_id":"a","content":"the report of May is 40 pages long"},
	{"role":"user","content":[{"type":"text","text":"and this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aGVsbG8="}}]}],
	"tools":[{"type":"function","function":{"name":"find"}}]}`

// TestATapeThatHoldsAPartOfARequest matches by that part, and the report says what
// was not compared.
func TestATapeThatHoldsAPartOfARequest(t *testing.T) {
	user, call := said("user", "find the report of May"), `{"role":"assistant","parts":[{"type":"tool_call","id":"r","name":"find","arguments":{"month":5}}]}`
	reply := `{"role":"tool","parts":[{"type":"tool_call_response","id":"r","result":"the report of May is 40 pages long"}]}`
	last := `{"role":"user","parts":[{"type":"text","content":"and this?"},{"type":"media","value":{"type":"image_url","image_url":{"url":"data:image/png;base64,aGVsbG8="}}}]}`
	system := `"system":[` + said("system", "be brief") + `]`
	for name, c := range map[string]struct {
		args     string
		fidelity tape.Fidelity
		claims   []string
	}{
		"all of it": {args: `{` + system + `,"messages":[` + user + "," + call + "," + reply + "," + last + `],"tools":[{"name":"find"}],"params":{"temperature":0.2}}`},
		"no system, tools, parameters": {args: asked(user, call, reply, last),
			claims: []string{"system", "tools", "params.temperature"}},
		"no ids": {args: `{` + system + `,"messages":[` + strings.ReplaceAll(user+","+call+","+reply+","+last, `"id":"r",`, "") + `]}`,
			claims: []string{"tools"}},
		"no media":                 {args: `{` + system + `,"messages":[` + user + "," + call + "," + reply + "," + said("user", "and this?") + `]}`, claims: []string{"messages: media"}},
		"media without their data": {args: asked(user, call, reply, strings.Replace(last, `"url":"data:image/png;base64,aGVsbG8="`, `"detail":"low"`, 1)), claims: []string{"messages: media"}},
		"the end of it":            {args: `{` + system + `,"messages":[` + reply + "," + last + `]}`, claims: []string{"those before what the tape recorded"}},
		"cut texts": {args: asked(user, call, strings.Replace(reply, "is 40 pages long", "...[TRUNCATED]", 1), last),
			claims: []string{"what was cut from texts"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := model(1, c.args, answered("yes"))
			h, s := modelServer(t, []tape.Record{r})
			w := ask(h, chatPath, long)
			require.Equal(t, 200, w.Code, w.Body)
			require.NoError(t, s.Close())
			report := s.Report().Text()
			for _, claim := range c.claims {
				assert.Contains(t, report, claim)
			}
			if c.claims == nil {
				assert.NotContains(t, report, "not compared")
			}
			// What it holds is compared.
			h, _ = modelServer(t, []tape.Record{r})
			w = ask(h, chatPath, strings.Replace(long, "the report of May is 40", "the report of June is 40", 1))
			assert.Equal(t, 422, w.Code)
			h, _ = modelServer(t, []tape.Record{r})
			assert.Equal(t, 422, ask(h, chatPath, strings.Replace(long, "and this?", "and that?", 1)).Code)
		})
	}
}

// TestDotsAreNoCut unless the record says that something was cut.
func TestDotsAreNoCut(t *testing.T) {
	h, _ := modelServer(t, []tape.Record{model(1, asked(said("user", "wait...")), answered("x"))})
	assert.Equal(t, 422, ask(h, chatPath, strings.Replace(hello[chatPath], "hello", "wait... no", 1)).Code)
}

// TestALaterConversationIsNoEarlierOne: what came before is compared where the tape
// holds conversations from their beginning.
func TestALaterConversationIsNoEarlierOne(t *testing.T) {
	h, s := modelServer(t, []tape.Record{model(1, asked(said("user", "hello")), answered("x"))})
	w := ask(h, chatPath, `{"model":"gpt-x","messages":[{"role":"user","content":"other"},{"role":"assistant","content":"yes"},{"role":"user","content":"hello"}]}`)
	assert.Equal(t, 422, w.Code)
	assert.Contains(t, s.Report().Events[0].Message, "message 2")
}

// TestCrossedIdsDrift: ids stand for each other one to one.
func TestCrossedIdsDrift(t *testing.T) {
	call := `{"role":"assistant","parts":[{"type":"tool_call","id":"r1","name":"f","arguments":{"n":1}},{"type":"tool_call","id":"r2","name":"f","arguments":{"n":2}}]}`
	replies := `{"role":"tool","parts":[{"type":"tool_call_response","id":"r1","result":"one"},{"type":"tool_call_response","id":"r2","result":"two"}]}`
	live := func(first, second string) string {
		return `{"model":"gpt-x","messages":[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"x","type":"function","function":{"name":"f","arguments":"{\"n\":1}"}},{"id":"y","type":"function","function":{"name":"f","arguments":"{\"n\":2}"}}]},
			{"role":"tool","tool_call_id":"x","content":"` + first + `"},{"role":"tool","tool_call_id":"y","content":"` + second + `"}]}`
	}
	h, s := modelServer(t, []tape.Record{model(1, asked(said("user", "go"), call, replies), answered("x"))})
	assert.Equal(t, 422, ask(h, chatPath, live("two", "one")).Code)
	assert.Contains(t, s.Report().Events[0].Message, `message 3, tool result of f "one" -> "two"`)
	assert.Equal(t, 200, ask(h, chatPath, live("one", "two")).Code)
}

// TestGoingOnFromAResponse: the history of a response that is only named is put
// together again, and a tape that recorded what was new alone matches too.
func TestGoingOnFromAResponse(t *testing.T) {
	first := `{"message":{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"f","arguments":{}}]},"finish_reason":"tool_calls"}`
	call := `{"role":"assistant","parts":[{"type":"tool_call","id":"c1","name":"f","arguments":{}}]}`
	reply := `{"role":"tool","parts":[{"type":"tool_call_response","id":"c1","result":"42"}]}`
	for name, second := range map[string]string{"the whole conversation": asked(said("user", "hello"), call, reply), "what was new": asked(reply)} {
		for _, stream := range []string{"", `"stream":true,`} {
			h, s := modelServer(t, []tape.Record{model(1, asked(said("user", "hello")), first), model(2, second, answered("done"))})
			w := ask(h, responsesPath, strings.Replace(hello[responsesPath], "{", "{"+stream, 1))
			require.Equal(t, 200, w.Code, name)
			text := w.Body.String()
			text = text[strings.Index(text, `"resp_`)+1:]
			text = text[:strings.IndexByte(text, '"')]
			w = ask(h, responsesPath, fmt.Sprintf(`{"model":"gpt-x","previous_response_id":%q,"input":[{"type":"function_call_output","call_id":"c1","output":"42"}]}`, text))
			require.Equal(t, 200, w.Code, "%s %s", name, w.Body)
			assert.Equal(t, "done", at(t, w.Body.String(), "output", 0, "content", 0, "text").Str())
			assert.Zero(t, s.Stats().Unconsumed)
			require.ErrorIs(t, s.Close(), replay.ErrUnserved, "f ran outside the tape")
		}
	}
	h, _ := modelServer(t, []tape.Record{model(1, asked(said("user", "hello")), first), model(2, asked(said("user", "hello"), call, reply), answered("done"))})
	w := ask(h, responsesPath, hello[responsesPath])
	item := at(t, w.Body.String(), "output", 0, "id").Str()
	w = ask(h, responsesPath, fmt.Sprintf(`{"model":"gpt-x","input":[{"role":"user","content":"hello"},{"type":"item_reference","id":%q},{"type":"function_call_output","call_id":"c1","output":"42"}]}`, item))
	assert.Equal(t, 200, w.Code, w.Body)
	w = ask(h, responsesPath, `{"model":"gpt-x","previous_response_id":"resp_unknown","input":"x"}`)
	assert.NotEqual(t, 200, w.Code)
}

// TestDriftOfAnEnd is told against as much as the tape holds.
func TestDriftOfAnEnd(t *testing.T) {
	reply := `{"role":"tool","parts":[{"type":"tool_call_response","id":"r","name":"find","result":"40 pages"}]}`
	h, s := modelServer(t, []tape.Record{model(1, asked(reply, said("user", "and this?")), answered("yes"))})
	require.Equal(t, 422, ask(h, chatPath, long).Code)
	event := s.Report().Events[0]
	require.Len(t, event.Differences, 2, event.Message)
	assert.Contains(t, event.Message, `message 1, tool result of find "40 pages" -> "the report of May`)
}

// TestRedactedOnBothSides: what the tape redacted is redacted in the live request
// too before they are compared.
func TestRedactedOnBothSides(t *testing.T) {
	const secret = "sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGH"
	h, s := modelServer(t, []tape.Record{model(1, asked(said("user", "use "+secret)), answered("x"))})
	require.Equal(t, 200, ask(h, chatPath, strings.Replace(hello[chatPath], "hello", "use "+secret, 1)).Code)
	require.NoError(t, s.Close())
	h, s = modelServer(t, []tape.Record{model(1, asked(said("user", "use nothing")), answered("x"))})
	w := ask(h, chatPath, strings.Replace(hello[chatPath], "hello", "use "+secret, 1))
	assert.Equal(t, 422, w.Code)
	assert.NotContains(t, w.Body.String()+s.Report().Text(), secret)
	require.ErrorIs(t, s.Close(), replay.ErrDrift)
}

// TestRulesSpeakOfTheNeutralForm, whichever API a request comes by.
func TestRulesSpeakOfTheNeutralForm(t *testing.T) {
	policy, err := rules.Parse("rules.yaml", []byte("rules:\n  - kind: model\n    path: messages[0].parts[0].content\n    match: ignore\n"))
	require.NoError(t, err)
	for path, request := range hello {
		s, err := replay.New(&tape.Tape{Records: []tape.Record{
			model(1, asked(said("user", "it is ten"), said("assistant", "a")), answered("one")), model(2, asked(said("user", "it is eleven")), answered("two")),
		}}, append(Options(), replay.WithRules(policy))...)
		require.NoError(t, err)
		h := New(s)
		w := ask(h, path, request)
		require.Equal(t, 200, w.Code, "%s %s", path, w.Body)
		assert.Equal(t, "2", w.Header().Get("Tape-Seq"))
		w = ask(h, path, request)
		assert.Equal(t, 410, w.Code, "%s %s", path, w.Body)
	}
}

// TestStrictOrderOfModels: the record that is due, or a drift from it; what was not
// due is still there when it is.
func TestStrictOrderOfModels(t *testing.T) {
	s, err := replay.New(&tape.Tape{Records: []tape.Record{
		model(1, asked(said("user", "first")), answered("one")), model(2, asked(said("user", "hello")), answered("two")),
	}}, append(Options(), replay.WithOrder(replay.OrderStrict))...)
	require.NoError(t, err)
	h := New(s)
	assert.Equal(t, 422, ask(h, chatPath, hello[chatPath]).Code)
	assert.Equal(t, 200, ask(h, chatPath, strings.Replace(hello[chatPath], "hello", "first", 1)).Code)
	assert.Equal(t, 200, ask(h, messagesPath, hello[messagesPath]).Code)
	assert.Equal(t, 1, s.Stats().DriftEvents)
}

// TestAClientWithoutIds, as Gemini's are, is told by names and order.
func TestAClientWithoutIds(t *testing.T) {
	call := `{"role":"assistant","parts":[{"type":"tool_call","id":"r1","name":"f","arguments":{"n":1}},{"type":"tool_call","id":"r2","name":"g","arguments":{}}]}`
	replies := `{"role":"tool","parts":[{"type":"tool_call_response","id":"r1","result":{"out":1}},{"type":"tool_call_response","id":"r2","result":{"out":2}}]}`
	live := func(second string) string {
		return `{"contents":[{"role":"user","parts":[{"text":"go"}]},{"role":"model","parts":[{"functionCall":{"name":"f","args":{"n":1}}},{"functionCall":{"name":"g","args":{}}}]},
			{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"out":1}}},{"functionResponse":{"name":"g","response":{"out":` + second + `}}}]}]}`
	}
	h, s := modelServer(t, []tape.Record{model(1, asked(said("user", "go"), call, replies), answered("x"))})
	assert.Equal(t, 422, ask(h, geminiPath, live("3")).Code)
	event := s.Report().Events[0]
	assert.Contains(t, event.Message, "message 3, tool result of g: out 2 -> 3")
	assert.Len(t, event.Differences, 1)
	assert.Equal(t, 200, ask(h, geminiPath, live("2")).Code)
}
