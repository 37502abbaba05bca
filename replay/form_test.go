package replay

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

// askForm turns {"ask": TEXT} into the words of the tape.
func askForm(args json.RawMessage) (json.RawMessage, error) {
	var request struct {
		Ask    string          `json:"ask"`
		Params json.RawMessage `json:"params,omitempty"`
	}
	if err := json.Unmarshal(args, &request); err != nil {
		return nil, err
	}
	if request.Ask == "" {
		return args, nil
	}
	return encode(map[string]any{"messages": []any{map[string]any{"role": "user", "content": request.Ask}}, "params": request.Params})
}

func TestBothSidesAreComparedInANeutralForm(t *testing.T) {
	deck := parse(t,
		`{"seq":1,"tool":"chat","kind":"model","args":{"messages":[{"role":"user","content":"hi"}]},"result":1}`,
		`{"seq":2,"tool":"chat","kind":"model","args":{"ask":"mail jane.doe@corp.com"},"result":2}`,
		`{"seq":3,"tool":"chat","args":{"ask":"a tool of the same name"},"result":3}`,
	)
	s := start(t, deck, WithForm(tape.KindModel, askForm))
	for args, want := range map[string]string{
		`{"ask":"hi"}`: "1",
		`{"messages":[{"role":"user","content":"mail jane.doe@corp.com"}]}`: "2",
	} {
		got, err := s.Call(ctx, "chat", raw(args), never(t), WithKind(tape.KindModel))
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
	_, err := s.Call(ctx, "chat", raw(`{"ask":"a tool of the same name"}`), never(t))
	require.NoError(t, err, "other kinds keep their own form")
	require.NoError(t, s.Close())

	s = start(t, deck, WithForm(tape.KindModel, askForm))
	_, err = s.Call(ctx, "chat", raw(`{"ask":"hello"}`), never(t), WithKind(tape.KindModel))
	var drift *DriftError
	require.ErrorAs(t, err, &drift)
	assert.Equal(t, 1, drift.Seq)
	require.Len(t, drift.Differences, 1)
	assert.Equal(t, `messages[0].content "hi" -> "hello"`, drift.Differences[0].String())
	assert.JSONEq(t, `{"messages":[{"role":"user","content":"hello"}],"params":null}`, string(drift.LiveArgs))
	_, err = s.Call(ctx, "chat", raw(`[]`), never(t), WithKind(tape.KindModel))
	require.ErrorContains(t, err, "arguments of chat: neutral form: json:")
}

func TestAFormThatFailsNamesTheRecord(t *testing.T) {
	broken := func(json.RawMessage) (json.RawMessage, error) { return nil, errors.New("no request") }
	_, err := New(parse(t, `{"seq":4,"tool":"chat","kind":"model","args":{"a":1}}`), WithForm(tape.KindModel, broken))
	require.EqualError(t, err, `replay: record 4: member "args": neutral form: no request`)
	_, err = New(parse(t, `{"seq":4,"tool":"chat","kind":"model"}`), WithForm(tape.KindModel, broken))
	require.NoError(t, err, "null has no form")
	_, err = New(nil, WithForm("other", broken))
	require.ErrorContains(t, err, `unknown kind "other"`)
	_, err = New(nil, WithForm(tape.KindModel, nil))
	require.ErrorContains(t, err, "is nil")
}

func TestArgumentsByReferenceAreComparedInANeutralForm(t *testing.T) {
	text := `{"ask":"hi"}`
	source := bodySourceOf(text)
	body := source.ref(text, "args")
	deck := parse(t, `{"tool":"chat","kind":"model","result":1,"body":`+body+`}`)
	s := start(t, deck, WithForm(tape.KindModel, askForm), WithBodies(source))
	_, err := s.Call(ctx, "chat", raw(`{"messages":[{"role":"user","content":"hi"}]}`), never(t), WithKind(tape.KindModel))
	require.NoError(t, err)
	s = start(t, deck, WithForm(tape.KindModel, askForm))
	_, err = s.Call(ctx, "chat", raw(`{"ask":"hi"}`), never(t), WithKind(tape.KindModel))
	require.ErrorIs(t, err, ErrGap)
	assert.ErrorContains(t, err, "no source of bodies")
}

const turn = `"messages":[{"role":"user","content":"hi"}]`

// TestWhatNoRecordHasIsNotCompared: an instrumentation that wrote down no tools
// and not all parameters does not make every request of a program a drift.
func TestWhatNoRecordHasIsNotCompared(t *testing.T) {
	deck := parse(t, `{"tool":"chat","kind":"model","args":{`+turn+`,"params":{"temperature":0.5,"seed":null}}}`,
		`{"tool":"chat","kind":"model","args":{"messages":[]}}`)
	for name, c := range map[string]struct {
		live string
		want string
	}{
		"all the same":       {`{` + turn + `,"params":{"temperature":0.5}}`, ""},
		"more than recorded": {`{` + turn + `,"system":"s","tools":[],"params":{"temperature":0.5,"seed":4,"top_p":1,"stop":null}}`, "params.seed params.top_p system tools"},
		"another value":      {`{` + turn + `,"tools":[],"params":{"temperature":0.6}}`, "params.temperature 0.5 -> 0.6"},
		"another message":    {`{"messages":[{"role":"user","content":"ho"}],"params":{"temperature":0.5}}`, "messages[0].content"},
		"no messages":        {`{"params":{"temperature":0.5}}`, "messages"},
		"no object":          {`[1]`, "(whole)"},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, deck)
			_, err := s.Call(ctx, "chat", raw(c.live), never(t), WithKind(tape.KindModel))
			var paths []string
			for _, claim := range s.Report().Claims {
				paths = append(paths, claim.Path)
				assert.Equal(t, "not compared: no record of the tape has "+claim.Path, claim.Why)
			}
			if err != nil {
				var drift *DriftError
				require.ErrorAs(t, err, &drift)
				assert.Contains(t, drift.Differences[0].String(), c.want)
				return
			}
			assert.Equal(t, c.want, strings.Join(paths, " "))
		})
	}
}

func TestThePolicyNamesTheParametersOfModelCalls(t *testing.T) {
	deck := parse(t, `{"tool":"chat","kind":"model","args":{`+turn+`,"params":{"temperature":0.5,"top_p":1}},"result":1}`,
		`{"tool":"chat","kind":"model","args":{`+turn+`,"params":{"temperature":0.5,"top_p":2}},"result":2}`)
	call := func(s *Session, live string) (string, error) {
		got, err := s.Call(ctx, "chat", raw(live), never(t), WithKind(tape.KindModel))
		return string(got), err
	}
	policy := &rules.Policy{Model: rules.Model{Params: []string{"temperature"}}}
	s := start(t, deck, WithRules(policy))
	for _, want := range []string{"1", "2"} {
		got, err := call(s, `{`+turn+`,"params":{"temperature":0.5,"top_p":7}}`)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := call(s, `{`+turn+`,"params":{"temperature":0.5,"top_p":7}}`)
	require.ErrorIs(t, err, ErrExhausted)
	_, err = call(start(t, deck, WithRules(policy)), `{`+turn+`,"params":{"temperature":0.6,"top_p":7}}`)
	var drift *DriftError
	require.ErrorAs(t, err, &drift)
	assert.Equal(t, []Difference{{Path: "params.temperature", Recorded: raw("0.5"), Live: raw("0.6")}}, drift.Differences)

	none := start(t, deck, WithRules(&rules.Policy{Model: rules.Model{Params: []string{}}}))
	_, err = call(none, `{`+turn+`}`)
	require.NoError(t, err)
	_, err = call(none, `{"messages":["else"]}`)
	require.ErrorIs(t, err, ErrDrift, "never by the endpoint alone")
	_, err = New(nil, WithRules(nil))
	require.ErrorContains(t, err, "the rules are nil")
}
