package dialect

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/tapedeck/tapedeck/internal/dialect/fidelity"
)

var update = flag.Bool("update", false, "write the golden tapes anew")

// One golden tape a dialect shows what a reader of tapes gets, byte for byte.
func TestGoldenTapes(t *testing.T) {
	samples, err := fidelity.ReadSamples("testdata/samples")
	require.NoError(t, err)
	described, err := fidelity.ReadSamples("testdata/described")
	require.NoError(t, err)
	anyAgent := fidelity.Case{Name: "any_agent_real", Traces: realTraces(t)["any-agent"], Logs: plog.NewLogs()}
	for _, c := range append(slices.Concat(samples, described), anyAgent) {
		if strings.HasSuffix(c.Name, " without logs") {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			got := jsonl(t, TranslateWithLogs(c.Traces, c.Logs, Options{}))
			name := filepath.Join("testdata", "golden", c.Name+".jsonl")
			if *update {
				require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o755))
				require.NoError(t, os.WriteFile(name, []byte(got), 0o644))
			}
			want, err := os.ReadFile(name)
			require.NoError(t, err)
			assert.Equal(t, string(want), got)
		})
	}
}
