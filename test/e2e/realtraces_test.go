package e2e

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/harness"
)

// Every real export goes through the real collector: each run is decided, tapes
// and summaries add up, every tape can be read. docs/real-traces.md has the whole
// table.
func TestRealTracesAddUp(t *testing.T) {
	const others = "../../internal/dialect/testdata/real/"
	for _, want := range []struct {
		dir                                 string
		spans, runs, kept, summaries, calls int
	}{
		{others + "agentevals", 452, 5, 0, 5, 5},
		{others + "any-agent", 50, 7, 0, 7, 7},
		{others + "langfuse", 138, 19, 0, 19, 19},
		{others + "openinference", 15, 15, 0, 10, 10},
		{others + "packet-panic", 265, 2, 1, 1, 2},
		{"testdata/tau-bench", 3818, 200, 125, 75, 200},
	} {
		t.Run(filepath.Base(want.dir), func(t *testing.T) {
			t.Parallel()
			m, err := harness.Measure(context.Background(), bin(t), config, quick, want.dir)
			require.NoError(t, err)
			assert.Equal(t, want.spans, m.Spans)
			assert.Equal(t, want.runs, m.Traces)
			assert.Equal(t, want.kept, m.KeptRuns())
			assert.Equal(t, want.summaries, m.Summaries)
			assert.Equal(t, want.runs-want.calls, m.NoCalls)
			assert.Zero(t, m.Dropped)
		})
	}
}
