package replay

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A tool that makes up an id ties the calls after it to the run it was recorded
// in. A live call with an id of its own is refused, and the refusal says where
// and what: it is never answered with what belongs to another id.
func TestARandomIDInAResultMakesALaterCallDrift(t *testing.T) {
	const recorded, live = "6f1f4c1e-0d0a-4c8e-9a55-2f6b0f3d7a11", "c2b7a6d0-93be-4f4e-8b61-7d5e0a1c9f02"
	args := func(id string) string { return fmt.Sprintf(`{"order":{"id":%q},"amount":5}`, id) }
	lines := []string{
		`{"seq":1,"tool":"create","args":{},"result":{"id":"` + recorded + `"}}`,
		`{"seq":2,"tool":"pay","args":` + args(recorded) + `,"result":"paid"}`,
	}
	s := start(t, parse(t, lines...))
	got, err := s.Call(ctx, "create", raw(`{}`), never(t))
	require.NoError(t, err)
	assert.JSONEq(t, `{"id":"`+recorded+`"}`, string(got), "the recorded id is served, not a new one")

	got, err = s.Call(ctx, "pay", raw(args(live)), never(t))
	assert.Nil(t, got)
	var drift *DriftError
	require.ErrorAs(t, err, &drift)
	assert.Equal(t, 2, drift.Seq)
	require.Len(t, drift.Differences, 1)
	assert.Equal(t, fmt.Sprintf("order.id %q -> %q", recorded, live), drift.Differences[0].String())
	assert.ErrorContains(t, err, fmt.Sprintf("order.id %q -> %q", recorded, live))

	err = s.Close()
	require.ErrorIs(t, err, ErrDrift)
	require.ErrorIs(t, err, ErrUnconsumed, "what was recorded for the other id was not served")
}
