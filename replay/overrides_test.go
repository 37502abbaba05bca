package replay

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

func fiveCalls(t *testing.T) *tape.Tape {
	return parse(t,
		`{"seq":1,"tool":"t","args":1,"result":{"a":1}}`,
		`{"seq":2,"tool":"t","args":2,"result":{"a":2}}`,
		`{"seq":3,"tool":"u","args":3,"result":"abcdefgh"}`,
		`{"seq":4,"tool":"v","args":4,"result":null,"error":{"code":"404","message":"gone"}}`,
		`{"seq":5,"tool":"w","args":5,"result":5}`,
	)
}

func TestFaults(t *testing.T) {
	s := start(t, fiveCalls(t),
		OverrideTool("t", AnswerRecorded().Malformed().Times(1)),
		OverrideStep(3, AnswerRecorded().Cut()),
		OverrideTool("v", AnswerRecorded().After(20*time.Millisecond)),
		OverrideStep(5, AnswerError("500", "down")),
	)
	type object struct{ A int }
	_, err := Do[object](ctx, s, "t", 1, nil)
	require.ErrorContains(t, err, "result of t: invalid character '{'")
	got, err := Do[object](ctx, s, "t", 2, nil)
	require.NoError(t, err, "only the first answer is malformed")
	assert.Equal(t, object{2}, got)

	text, err := s.Call(ctx, "u", 3, nil)
	require.ErrorIs(t, err, ErrCut)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	assert.Equal(t, `"abcd`, string(text))

	begin := time.Now()
	_, err = s.Call(ctx, "v", 4, nil)
	require.EqualError(t, err, "404: gone", "a delayed answer is the recorded one")
	assert.GreaterOrEqual(t, time.Since(begin), 20*time.Millisecond)

	r := s.Report()
	assert.Equal(t, []Overridden{{1, 1, "t", "tool t", "malformed"}, {3, 3, "u", "step 3", "cut"}, {4, 4, "v", "tool v", "delay 20ms"}}, r.Overridden)
	assert.Equal(t, []IdleOverride{{"step 5", "error 500"}}, r.IdleOverrides)
	assert.Contains(t, r.Text(), "override of step 3 at step 3, u: cut\n")
	assert.Contains(t, r.Text(), "override of step 5 never applied: error 500\n")
}

func TestADelayEndsWithTheContext(t *testing.T) {
	s := start(t, fiveCalls(t), OverrideStep(1, AnswerRecorded().After(time.Hour)))
	short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	_, err := s.Call(short, "t", 1, nil)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestOverridesThatMakeNoSense(t *testing.T) {
	for want, answer := range map[string]Substitute{
		"it changes nothing":                             AnswerRecorded(),
		"delay -1s is negative":                          AnswerRecorded().After(-time.Second),
		"an answer is malformed or cut, not both":        AnswerResult(1).Cut().Malformed(),
		"0 times is less than once":                      AnswerResult(1).Times(0),
		"a failure has no result to be malformed or cut": AnswerError("1", "").Cut(),
		"json: unsupported type: chan int":               AnswerResult(make(chan int)),
	} {
		_, err := New(fiveCalls(t), OverrideStep(1, answer))
		require.EqualError(t, err, "replay: override of step 1: "+want)
	}
}

func TestReadOverrides(t *testing.T) {
	path := filepath.Join(t.TempDir(), "overrides.yaml")
	read := func(text string) ([]Option, error) {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return ReadOverrides(path)
	}
	options, err := read(`
overrides:
  - step: 1
    result: {a: 7}
    delay: 1ms
  - tool: t
    error: {code: "503", message: down, type: Unavailable}
    times: 1
  - step: 3
    result: null
  - step: 5
    cut: true
`)
	require.NoError(t, err)
	s := start(t, fiveCalls(t), options...)
	got, err := s.Call(ctx, "t", 1, nil)
	require.NoError(t, err)
	assert.Equal(t, `{"a":7}`, string(got))
	_, err = s.Call(ctx, "t", 2, nil)
	var failure *RecordedError
	require.ErrorAs(t, err, &failure)
	assert.Equal(t, "503", failure.Code)
	assert.Equal(t, "Unavailable", failure.Type)
	got, err = s.Call(ctx, "u", 3, nil)
	require.NoError(t, err)
	assert.Equal(t, `null`, string(got))

	for text, want := range map[string]string{
		"overrides:\n- step: 1\n":                         "line 2: overrides[0]: it changes nothing",
		"overrides:\n- result: 1\n":                       "line 2: overrides[0]: want one of step, key and tool",
		"overrides:\n- {step: 1, tool: t, result: 1}\n":   "line 2: overrides[0]: want one of step, key and tool",
		"overrides:\n- {step: -1, result: 1}\n":           "line 2: overrides[0]: there is no step -1",
		"overrides:\n- {step: 1, result: 1, error: {}}\n": "line 2: overrides[0]: an answer is a result or an error, not both",
		"overrides:\n- {step: 1, delay: soon}\n":          "line 2: cannot unmarshal !!str `soon`",
		"overrides:\n- {step: 1, resutl: 1}\n":            "line 2: field resutl not found",
		"overrides: []\n":                                 "there are no overrides in it",
		"":                                                "there is nothing in it",
	} {
		_, err := read(text)
		require.ErrorContains(t, err, path+": "+want, text)
	}
	_, err = New(fiveCalls(t), OverrideTool("x", AnswerResult(1)))
	require.True(t, err != nil && !errors.Is(err, os.ErrNotExist))
}
