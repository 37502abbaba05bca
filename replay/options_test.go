package replay

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// TestSecretsMatchRedacted: both sides are redacted by the same policy, whoever
// recorded, and no secret is in an error or a report. Ids are no secrets.
func TestSecretsMatchRedacted(t *testing.T) {
	for name, line := range map[string]string{
		"recorded in the clear": `{"tool":"t","args":{"api_key":"s3cr3t-abcdef","call_id":"call_Wx7Oslo0001"}}`,
		"recorded redacted":     `{"tool":"t","args":{"api_key":"[REDACTED:api_key]","call_id":"call_Wx7Oslo0001"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, parse(t, line))
			_, err := s.Call(ctx, "t", map[string]string{"api_key": "s3cr3t-other!", "call_id": "call_Wx7Oslo0002"}, nil)
			var drift *DriftError
			require.ErrorAs(t, err, &drift)
			assert.Equal(t, []Difference{{Path: "call_id", Recorded: raw(`"call_Wx7Oslo0001"`), Live: raw(`"call_Wx7Oslo0002"`)}}, drift.Differences)
			report, err := json.Marshal(s.Report())
			require.NoError(t, err)
			assert.NotContains(t, string(report)+string(drift.LiveArgs)+string(drift.RecordedArgs), "s3cr3t")
			_, err = s.Call(ctx, "t", map[string]string{"api_key": "s3cr3t-third!", "call_id": "call_Wx7Oslo0001"}, nil)
			require.NoError(t, err)
		})
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	_, err := Open(dir + "/none.jsonl")
	require.ErrorIs(t, err, os.ErrNotExist)
	require.NoError(t, os.WriteFile(dir+"/v9.jsonl", []byte(`{"tape":"9"}`), 0o600))
	_, err = Open(dir + "/v9.jsonl")
	require.ErrorIs(t, err, tape.ErrVersion)
	for name, options := range map[string][]Option{
		"mode":             {WithMode(7)},
		"order":            {WithOrder(-1)},
		"completion":       {WithCompletion(5, 0)},
		"guard":            {WithCompletion(CompletionRecorded, -1)},
		"audit log":        {WithAuditLog(nil)},
		"clock":            {WithTime(nil)},
		"experiment":       {WithExperiment("banana")},
		"kind":             {WithKinds("tol")},
		"override of step": {OverrideStep(3, AnswerResult(1))},
		"override of key":  {OverrideKey("t:000000000000", AnswerResult(1))},
		"override of tool": {OverrideTool("u", AnswerResult(1))},
		"override answer":  {OverrideTool("t", AnswerResult(make(chan int)))},
	} {
		_, err := New(parse(t, `{"tool":"t"}`), options...)
		require.Error(t, err, name)
	}
	_, err = New(parse(t, `{"tool":"t","expires":"soon"}`))
	require.ErrorContains(t, err, `record 1: member "expires"`)
	_, err = New(&tape.Tape{Records: []tape.Record{{Tool: "t", Args: raw("{")}}})
	require.ErrorContains(t, err, `record 1: member "args"`)
	_, err = New(parse(t, `{"tape":"1","redaction":{"policy":"p","rules":{"version":99}}}`))
	require.ErrorContains(t, err, "redaction policy of the tape")
}

func TestOverrides(t *testing.T) {
	deck := parse(t, `{"seq":1,"tool":"t","args":1,"result":"a"}`, `{"seq":2,"tool":"t","args":1,"result":"b"}`, `{"seq":3,"tool":"t","args":2,"result":"c"}`,
		`{"seq":4,"tool":"u","fidelity":"absent","args":0}`)
	key, err := tape.Key("t", []byte("1"))
	require.NoError(t, err)
	s := start(t, deck, OverrideTool("t", AnswerResult("tool")), OverrideKey(key, AnswerResult("key")),
		OverrideStep(2, AnswerError("500", "down")), OverrideTool("u", AnswerResult(map[string]int{"n": 1})))
	got, err := s.Call(ctx, "t", 1, never(t))
	require.NoError(t, err)
	assert.Equal(t, `"key"`, string(got))
	_, err = s.Call(ctx, "t", 1, never(t))
	var failure *RecordedError
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, "500", failure.Code)
	assert.True(t, failure.Overridden)
	got, err = s.Call(ctx, "t", 2, never(t))
	require.NoError(t, err)
	assert.Equal(t, `"tool"`, string(got))
	_, err = s.Call(ctx, "t", 3, never(t))
	require.ErrorIs(t, err, ErrMiss, "an override changes what came back, not what was asked")
	got, err = s.Call(ctx, "u", 0, never(t))
	require.NoError(t, err, "an override fills a gap")
	assert.Equal(t, `{"n":1}`, string(got))
	assert.Equal(t, []Overridden{
		{1, 1, "t", "key " + key, "result"}, {2, 2, "t", "step 2", "error 500"}, {3, 3, "t", "tool t", "result"}, {5, 4, "u", "tool u", "result"},
	}, s.Report().Overridden)
}

func TestNames(t *testing.T) {
	for _, mode := range []Mode{ModeStrict, ModeReplayRecord, ModeRecord} {
		var back Mode
		text, err := mode.MarshalText()
		require.NoError(t, err)
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, mode, back)
	}
	order, err := ParseOrder("strict")
	require.NoError(t, err)
	assert.Equal(t, OrderStrict, order)
	completion, err := ParseCompletion("recorded")
	require.NoError(t, err)
	assert.Equal(t, CompletionRecorded, completion)
	_, err = ParseMode("lenient")
	require.EqualError(t, err, `unknown mode "lenient", want one of ["strict" "replay+record" "record"]`)
	assert.Equal(t, "unknown(9)", Mode(9).String())
}

func TestOnlySomeKinds(t *testing.T) {
	deck := parse(t, `{"tool":"chat","kind":"model"}`, `{"tool":"t","result":1}`)
	s := start(t, deck, WithKinds(tape.KindTool))
	_, err := s.Call(ctx, "t", nil, never(t))
	require.NoError(t, err)
	require.NoError(t, s.Close(), "the model call is not waited for")
	assert.Contains(t, s.Report().Text(), `only records of kind ["tool"]`)

	s = start(t, deck, WithKinds(tape.KindTool), WithMode(ModeReplayRecord))
	got, err := s.Call(ctx, "chat", nil, answers("hi"), WithKind(tape.KindModel))
	require.NoError(t, err)
	assert.Equal(t, `"hi"`, string(got))
	assert.Equal(t, 1, s.Stats().TapeMisses)
}

// TestAKeyThatIsNotItsRecords: a tape with a policy is believed in its keys, and
// in its words.
func TestAKeyThatIsNotItsRecords(t *testing.T) {
	policy := start(t, nil, WithMode(ModeRecord)).Tape().Manifest.Redaction
	deck := parse(t, `{"tool":"t","key":"t:000000000000","args":1}`)
	deck.Manifest = &tape.Manifest{Tape: "1", Redaction: policy}
	_, err := start(t, deck).Call(ctx, "t", raw(" 1"), nil)
	require.ErrorContains(t, err, "the record's key is not theirs")
	_, err = start(t, deck).Call(ctx, "t", 1, nil)
	require.NoError(t, err)
	deck.Manifest.Redaction = nil
	_, err = start(t, deck).Call(ctx, "t", 1, nil)
	require.NoError(t, err)
}
