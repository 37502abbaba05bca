package replay

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBreaks(t *testing.T) {
	var seen []Break
	actions := []Action{Next(), Instead(AnswerResult("instead")), Quit()}
	s := start(t, fiveCalls(t), WithBreak(2, func(_ context.Context, at Break) Action {
		seen = append(seen, at)
		return actions[len(seen)-1]
	}))
	got, err := s.Call(ctx, "t", 1, nil)
	require.NoError(t, err)
	assert.JSONEq(t, `{"a":1}`, string(got))
	require.Empty(t, seen, "the first step does not break")

	got, err = s.Call(ctx, "t", 2, nil)
	require.NoError(t, err)
	assert.JSONEq(t, `{"a":2}`, string(got))
	require.Len(t, seen, 1)
	assert.Equal(t, 2, seen[0].Seq)
	assert.Equal(t, "2", string(seen[0].Args))
	assert.JSONEq(t, `{"a":2}`, string(seen[0].Result))
	assert.Equal(t, 1, seen[0].Stats.TapeHits, "it has not been answered yet")
	require.Len(t, seen[0].Answered, 1)
	assert.Equal(t, 1, seen[0].Answered[0].Seq)

	got, err = s.Call(ctx, "u", 3, nil)
	require.NoError(t, err)
	assert.Equal(t, `"instead"`, string(got))
	assert.Equal(t, []Overridden{{3, 3, "u", "step 3", "result"}}, s.Report().Overridden)

	_, err = s.Call(ctx, "w", 5, nil)
	require.NoError(t, err, "it went on after the answer")
	require.Len(t, seen, 2)
}

func TestABreakQuits(t *testing.T) {
	s := start(t, fiveCalls(t), WithBreak(1, func(context.Context, Break) Action { return Quit() }))
	_, err := s.Call(ctx, "t", 1, nil)
	require.ErrorIs(t, err, ErrQuit)
	_, err = s.Call(ctx, "u", 3, nil)
	require.ErrorIs(t, err, ErrQuit, "nothing is answered after it")
	closed := s.Close()
	require.ErrorIs(t, closed, ErrQuit)
	require.ErrorContains(t, closed, "quit at a break")
	assert.False(t, s.Report().Clean)
}

// A call that drifts from the step, or for which the step is a gap, is held too:
// that is when one wants to look.
func TestABreakStopsAtADrift(t *testing.T) {
	var verdict error
	s := start(t, fiveCalls(t), WithBreak(3, func(_ context.Context, at Break) Action {
		verdict = at.Verdict
		return Continue()
	}))
	_, err := s.Call(ctx, "u", 33, nil)
	require.ErrorIs(t, err, ErrDrift)
	var drift *DriftError
	require.True(t, errors.As(verdict, &drift))
	assert.Equal(t, 3, drift.Seq)
}

func TestBreaksThatMakeNoSense(t *testing.T) {
	_, err := New(fiveCalls(t), WithBreak(0, func(context.Context, Break) Action { return Continue() }))
	require.ErrorContains(t, err, "break at step 0")
	_, err = New(fiveCalls(t), WithBreak(1, nil))
	require.ErrorContains(t, err, "a function")
	s := start(t, fiveCalls(t), WithBreak(1, func(context.Context, Break) Action { return Instead(AnswerRecorded()) }))
	_, err = s.Call(ctx, "t", 1, nil)
	require.ErrorContains(t, err, "it changes nothing")
}
