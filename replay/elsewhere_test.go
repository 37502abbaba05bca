package replay_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// TestRequestsElsewhereAreListedAndCounted, by place, redacted and bounded; they make
// a replay unclean only where that was asked for.
func TestRequestsElsewhereAreListedAndCounted(t *testing.T) {
	for _, unclean := range []bool{false, true} {
		options := []replay.Option{}
		if unclean {
			options = append(options, replay.WithElsewhereUnclean())
		}
		session, err := replay.New(&tape.Tape{}, options...)
		require.NoError(t, err)
		for range 3 {
			session.RefusedElsewhere(replay.Elsewhere{Method: "POST", Host: "telemetry.example", Path: "/v1/events"})
		}
		session.RefusedElsewhere(replay.Elsewhere{Method: "GET", Host: "a.example", Path: "/" + strings.Repeat("é", 200)})
		session.RefusedElsewhere(replay.Elsewhere{Method: "GET", Host: "b.example", Path: "/bot/sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD"})
		for i := range 200 {
			session.RefusedElsewhere(replay.Elsewhere{Method: "CONNECT", Host: "z.example:" + string(rune('a'+i%26)) + strings.Repeat("x", i), Why: "no TLS"})
		}
		err = session.Close()
		report := session.Report()
		assert.Equal(t, 205, report.ElsewhereCount)
		require.Len(t, report.Elsewhere, 100)
		assert.Equal(t, "a.example", report.Elsewhere[0].Host)
		assert.Len(t, report.Elsewhere[0].Path, 199+len("…"))
		assert.NotContains(t, report.Text(), "abcdefghijkl")
		assert.Contains(t, report.Text(), "  refused elsewhere: POST telemetry.example/v1/events (3)\n")
		assert.Contains(t, report.Text(), ": no TLS (1)\n")
		assert.Equal(t, !unclean, report.Clean)
		if unclean {
			require.ErrorIs(t, err, replay.ErrUnclean)
			assert.ErrorContains(t, err, "205 refused elsewhere")
		} else {
			require.NoError(t, err)
		}
	}
}
