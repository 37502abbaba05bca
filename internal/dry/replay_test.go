package dry_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/internal/dry"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// What a dry replay says of each step is what a mock replay does with the recorded
// call, on every golden tape of the translation.
func TestADryReplaySaysWhatAMockReplayDoes(t *testing.T) {
	files, err := filepath.Glob("../dialect/testdata/golden/*.jsonl")
	require.NoError(t, err)
	var hits, gaps int
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, recorded := range tapesIn(t, file) {
				stats := walked(t, recorded)
				hits += stats.TapeHits
				gaps += stats.Gaps
			}
		})
	}
	assert.Greater(t, hits, 300)
	assert.Greater(t, gaps, 50)
}

// tapesIn are the tapes of a golden file, which may hold several, each with a manifest.
func tapesIn(t *testing.T, file string) (tapes []*tape.Tape) {
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	const manifest = "\n{\"tape\":"
	for _, rest := range strings.Split("\n"+string(text), manifest)[1:] {
		one, err := tape.ReadAll(strings.NewReader(manifest + rest))
		require.NoError(t, err)
		if len(one.Records) > 0 {
			tapes = append(tapes, one)
		}
	}
	return tapes
}

// walked makes each recorded call once, and compares what comes of it with what a dry
// replay says.
func walked(t *testing.T, recorded *tape.Tape) replay.Stats {
	said, err := dry.Run(recorded, dry.Options{})
	require.NoError(t, err)
	session, err := replay.New(recorded)
	require.NoError(t, err)
	for i := range recorded.Records {
		r, step := &recorded.Records[i], &said.Steps[i]
		args := r.Args
		if slices.ContainsFunc(step.Findings, func(f doctor.Finding) bool { return f.What == "args" && f.Gap }) {
			// The program made the call with some, which are not on the tape.
			args = []byte(`{"never":"captured"}`)
		}
		answer, err := session.Ask(t.Context(), replay.Request{Kind: r.KindOf(), Tool: r.Tool, Args: args})
		if step.Source == dry.FromTape {
			assert.NoError(t, err, "step %d", step.Seq)
			assert.Equal(t, step.Seq, answer.Seq)
			continue
		}
		assert.Equal(t, dry.FromNowhere, step.Source, "step %d", step.Seq)
		assert.ErrorIs(t, err, replay.ErrGap, "step %d", step.Seq)
	}
	_ = session.Close() // Where there are gaps it is not clean.
	stats := session.Stats()
	assert.Equal(t, said.Counts.FromTape, stats.TapeHits)
	assert.Equal(t, said.Counts.Nowhere, stats.Gaps)
	assert.Equal(t, said.Counts.Redacted, stats.RedactedServed)
	assert.Equal(t, said.Counts.Expired, stats.ExpiredServed)
	assert.Zero(t, stats.Unconsumed)
	return stats
}
