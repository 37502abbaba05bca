package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/conversation"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// The runs ask the same, so that only their order tells the answers apart.
func TestAConversationReplaysRunAfterRun(t *testing.T) {
	plain := func(m *tape.Manifest) { m.Redaction = nil }
	joined, err := conversation.Join("c", []*tape.Tape{run(t, 2, 2, plain), run(t, 1, 1, plain)}, nil)
	require.NoError(t, err)
	s, err := replay.New(joined, replay.WithOrder(replay.OrderStrict))
	require.NoError(t, err)
	for _, want := range []string{"10", "20", "21"} {
		got, err := s.Call(t.Context(), "fetch", map[string]any{"n": 1}, nil)
		require.NoError(t, err)
		assert.Equal(t, want, string(got))
	}
	require.NoError(t, s.Close(), "nothing is left over")
}
