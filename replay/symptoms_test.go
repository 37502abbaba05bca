package replay

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// TestComposedAccentsMatchByARuleOnly: texts that look alike are not the same, unless
// a rule says so.
func TestComposedAccentsMatchByARuleOnly(t *testing.T) {
	deck := parse(t, `{"tool":"t","args":{"s":"caf\u00e9 > bar"}}`)
	const live = `{"s":"cafe\u0301 \u003e bar"}`
	_, err := start(t, deck).Call(ctx, "t", raw(live), never(t))
	require.ErrorIs(t, err, ErrDrift)
	answer, err := start(t, deck, withRules(t, `{path: s, match: nfc}`)).Ask(ctx, Request{Tool: "t", Args: raw(live)})
	require.NoError(t, err)
	assert.Equal(t, []string{"nfc at s"}, answer.Rules)
}

// TestAContinuationIsKnownByItsToolResult: requests without any text of a user
// differ by what a tool returned, and by which call it answers.
func TestAContinuationIsKnownByItsToolResult(t *testing.T) {
	continuation := func(id, result string) string {
		return `{"messages":[{"role":"tool","parts":[{"type":"tool_call_response","id":"` + id + `","result":"` + result + `"}]}]}`
	}
	deck := parse(t,
		`{"tool":"chat","kind":"model","args":`+continuation("a", "sunny")+`,"result":1}`,
		`{"tool":"chat","kind":"model","args":`+continuation("a", "rain")+`,"result":2}`,
		`{"tool":"chat","kind":"model","args":`+continuation("b", "rain")+`,"result":3}`)
	s := start(t, deck)
	for _, c := range []struct {
		id, result string
		want       int
	}{{"b", "rain", 3}, {"a", "rain", 2}, {"a", "sunny", 1}} {
		got, err := Do[int](ctx, s, "chat", raw(continuation(c.id, c.result)), nil, WithKind(tape.KindModel))
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
	require.NoError(t, s.Close())
}

// TestIdentifiersAreNotTakenForSecrets: redaction leaves ids alone, so calls that
// differ in nothing else stay apart.
func TestIdentifiersAreNotTakenForSecrets(t *testing.T) {
	ids := []string{
		"6f1f4c1e-0d0a-4c8e-9a55-2f6b0f3d7a11", "c2b7a6d0-93be-4f4e-8b61-7d5e0a1c9f02", "4bf92f3577b34da6a3ce929d0e0e4736",
		"call_8jLkXoPq2RsTuVwXyZaBcD01", "toolu_01A09q90qw90lq917835lq9", "chatcmpl-9abcDEF123456789",
	}
	record := start(t, nil, WithMode(ModeRecord))
	for i, id := range ids {
		_, err := record.Call(ctx, "get", map[string]string{"id": id, "request_id": id}, answers(i))
		require.NoError(t, err)
	}
	s := start(t, record.Tape())
	for i := range ids {
		i = len(ids) - 1 - i
		got, err := Do[int](ctx, s, "get", map[string]string{"id": ids[i], "request_id": ids[i]}, nil)
		require.NoError(t, err)
		assert.Equal(t, i, got)
	}
	require.NoError(t, s.Close())
	assert.Zero(t, s.Report().RedactedMatched)
}

// TestAReplayRunsNothing: whatever the verdict, and whatever the program offers to
// run.
func TestAReplayRunsNothing(t *testing.T) {
	deck := parse(t, `{"seq":1,"tool":"pay","args":{"n":1},"result":1,"side_effect":true}`, `{"seq":2,"tool":"scan","args":{"n":1},"fidelity":"absent","side_effect":true}`)
	s := start(t, deck)
	ran := 0
	for _, c := range []struct{ tool, args string }{
		{"pay", `{"n":2}`}, {"pay", `{"n":1}`}, {"pay", `{"n":1}`}, {"scan", `{"n":1}`}, {"wipe", `{}`},
	} {
		_, _ = s.Call(ctx, c.tool, raw(c.args), func(context.Context) (any, error) { ran++; return nil, nil }, WithSideEffect(true))
	}
	assert.Zero(t, ran)
	stats := s.Stats()
	assert.Zero(t, stats.LiveToolCalls+stats.RealSideEffects)
	assert.Equal(t, []int{1, 1, 1, 1, 1}, []int{stats.TapeHits, stats.DriftEvents, stats.Exhausted, stats.Gaps, stats.TapeMisses})
}
