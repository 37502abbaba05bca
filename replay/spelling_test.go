package replay

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// TestSpellingChangesNothing: what a call finds by its very words it finds in any
// other words too, and nothing else.
func TestSpellingChangesNothing(t *testing.T) {
	deck := parse(t, `{"seq":1,"tool":"t","args":{"a":1,"b":"x"},"result":1}`, `{"seq":2,"tool":"t","args":{"b":"x","a":1},"result":2}`,
		`{"seq":3,"tool":"u","args":{"a":1,"b":"x"},"result":3}`, `{"seq":4,"tool":"t","kind":"model","args":{"a":1,"b":"x"},"result":4}`,
		`{"seq":5,"tool":"n","result":5}`)
	s := start(t, deck)
	for i, c := range []struct {
		tool, args string
		kind       tape.Kind
		want       string
	}{
		{"t", `{"b":"x","a":1}`, "", "1"}, {"t", `{"a":1,"b":"x"}`, "", "2"}, {"u", `{"a":1,"b":"x"}`, "", "3"},
		{"t", `{"a":1,"b":"x"}`, tape.KindModel, "4"}, {"n", ``, "", "5"},
	} {
		answer, err := s.Ask(ctx, Request{Tool: c.tool, Args: raw(c.args), Kind: c.kind})
		require.NoError(t, err, i)
		assert.Equal(t, c.want, string(answer.Result))
	}
	_, err := s.Ask(ctx, Request{Tool: "t", Args: raw(`{"a":1,"b":"x"}`)})
	require.ErrorIs(t, err, ErrExhausted)
}

// TestWhatRunsLiveIsRedactedWhateverTheTapeHolds: a tape whose recorder left a
// secret in its arguments does not make another one.
func TestWhatRunsLiveIsRedactedWhateverTheTapeHolds(t *testing.T) {
	const args = `{"to":"jane.doe@corp.com"}`
	redaction := start(t, nil, WithMode(ModeRecord)).Tape().Manifest.Redaction
	key, err := tape.Key("mail", []byte(args))
	require.NoError(t, err)
	deck := parse(t, fmt.Sprintf(`{"seq":1,"tool":"mail","key":%q,"args":%s,"result":1}`, key, args))
	deck.Manifest = &tape.Manifest{Tape: tape.Version, Redaction: redaction}
	s := start(t, deck, WithMode(ModeReplayRecord))
	for range 2 {
		_, err = s.Call(ctx, "mail", raw(args), answers(2))
		require.NoError(t, err)
	}
	require.NoError(t, s.Close())
	recorded := s.Tape().Records[1]
	assert.JSONEq(t, `{"to":"[REDACTED:email]"}`, string(recorded.Args))
	assert.Equal(t, []string{"args.to"}, recorded.Redacted)
}
