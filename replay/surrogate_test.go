package replay

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/tape"
)

func TestATapeWithSurrogatesIsReplayedWithTheirKey(t *testing.T) {
	const key = "a key of thirty-two bytes or more"
	policy, err := redact.New(redact.Config{Surrogate: &redact.Surrogate{Key: key}})
	require.NoError(t, err)
	live := map[string]any{"to": "jane.doe@corp.com", "subject": "hello"}
	raw, err := json.Marshal(live)
	require.NoError(t, err)
	args, hits := policy.JSON(raw)
	require.Len(t, hits, 1)
	k, err := tape.Key("send_mail", args)
	require.NoError(t, err)
	result, _ := policy.JSON([]byte(`{"sent_to":"jane.doe@corp.com"}`))
	tp := &tape.Tape{
		Manifest: &tape.Manifest{Tape: tape.Version, Redaction: policy.Manifest()},
		Records:  []tape.Record{{Seq: 1, Tool: "send_mail", Key: k, Args: args, Result: result}},
	}

	_, err = New(tp)
	require.ErrorIs(t, err, redact.ErrKeyNeeded)
	_, err = New(tp, WithSurrogateKey("another key of thirty-two bytes or so"))
	require.ErrorIs(t, err, redact.ErrKeyWrong)

	s, err := New(tp, WithSurrogateKey(key))
	require.NoError(t, err)
	answer, err := s.Call(t.Context(), "send_mail", live, nil)
	require.NoError(t, err)
	assert.JSONEq(t, string(result), string(answer))
	assert.NotContains(t, string(answer), "jane")
	require.NoError(t, s.Close())
	assert.Equal(t, 1, s.Stats().RedactedServed)
}
