package replay

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

func TestClockAndRandom(t *testing.T) {
	record := start(t, nil, WithMode(ModeRecord), ticking())
	now, err := record.Now(ctx)
	require.NoError(t, err)
	drawn, err := record.Random(ctx, 32)
	require.NoError(t, err)
	assert.Len(t, drawn, 32)
	require.NoError(t, record.Close())
	_, err = record.Random(ctx, -1)
	require.Error(t, err)

	again := start(t, record.Tape())
	later, err := again.Now(ctx)
	require.NoError(t, err)
	assert.True(t, now.Equal(later))
	same, err := again.Random(ctx, 32)
	require.NoError(t, err)
	assert.Equal(t, drawn, same)
	_, err = again.Now(ctx)
	require.ErrorIs(t, err, ErrExhausted)
	assert.Equal(t, tape.KindClock, record.Tape().Records[0].Kind)
	assert.Equal(t, tape.KindRandom, record.Tape().Records[1].Kind)
}

func TestDoDecodes(t *testing.T) {
	s := start(t, parse(t, `{"tool":"t","args":1,"result":{"n":5}}`, `{"tool":"t","args":2,"result":"text"}`, `{"tool":"t","args":3,"result":{"n":6},"error":"x"}`, `{"tool":"t","args":4}`))
	type answer struct{ N int }
	got, err := Do[answer](ctx, s, "t", 1, nil)
	require.NoError(t, err)
	assert.Equal(t, answer{5}, got)
	_, err = Do[answer](ctx, s, "t", 2, nil)
	require.ErrorContains(t, err, "result of t")
	got, err = Do[answer](ctx, s, "t", 3, nil)
	require.ErrorIs(t, err, ErrRecorded)
	assert.Equal(t, answer{6}, got, "what came back beside the failure")
	record := start(t, nil, WithMode(ModeRecord))
	broken := errors.New("broken")
	_, err = Do(ctx, record, "t", 1, func(context.Context) (answer, error) { return answer{}, broken })
	require.ErrorIs(t, err, broken)
	_, err = Do(ctx, record, "t", 2, func(context.Context) (answer, error) { return answer{3}, broken })
	require.ErrorIs(t, err, broken)
	assert.Nil(t, record.Tape().Records[0].Result, "a zero value beside a failure is no result")
	assert.Equal(t, `{"N":3}`, string(record.Tape().Records[1].Result))
	pointer, err := Do[*answer](ctx, s, "t", 4, nil)
	require.NoError(t, err)
	assert.Nil(t, pointer)
}
