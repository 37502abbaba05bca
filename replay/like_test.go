package replay_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// TestADriftIsToldFromTheRecordThatWasMeant where the caller knows it and it is left;
// else from the earliest. It answers nothing.
func TestADriftIsToldFromTheRecordThatWasMeant(t *testing.T) {
	session, err := replay.New(&tape.Tape{Records: []tape.Record{
		{Seq: 1, Tool: "http", Args: json.RawMessage(`{"url":"a"}`)}, {Seq: 2, Tool: "http", Args: json.RawMessage(`{"url":"b"}`)},
		{Seq: 3, Tool: "other", Args: json.RawMessage(`{"url":"b"}`)},
	}})
	require.NoError(t, err)
	for _, c := range []struct{ like, from int }{{0, 1}, {2, 2}, {3, 1}, {9, 1}} {
		_, err = session.Ask(t.Context(), replay.Request{Tool: "http", Args: json.RawMessage(`{"url":"c"}`), Like: c.like})
		var drift *replay.DriftError
		require.ErrorAs(t, err, &drift)
		assert.Equal(t, c.from, drift.Seq)
	}
	answer, err := session.Ask(t.Context(), replay.Request{Tool: "http", Args: json.RawMessage(`{"url":"b"}`)})
	require.NoError(t, err)
	assert.Equal(t, 2, answer.Seq)
	_, err = session.Ask(t.Context(), replay.Request{Tool: "http", Args: json.RawMessage(`{"url":"c"}`), Like: 2})
	var drift *replay.DriftError
	require.ErrorAs(t, err, &drift)
	assert.Equal(t, 1, drift.Seq, "the one that was meant is used up")
}
