package dialect

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/logfold"
	"github.com/tapedeck/tapedeck/tape"
)

// Log records that travel inside a trace give the tape that they give beside it.
func TestFoldedRecordsGiveTheSameTape(t *testing.T) {
	samples, err := filepath.Glob("testdata/samples/*.logs.json")
	require.NoError(t, err)
	require.NotEmpty(t, samples)
	for _, file := range samples {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(strings.TrimSuffix(file, ".logs.json") + ".json")
			require.NoError(t, err)
			td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(text)
			require.NoError(t, err)
			text, err = os.ReadFile(file)
			require.NoError(t, err)
			ld, err := (&plog.JSONUnmarshaler{}).UnmarshalLogs(text)
			require.NoError(t, err)

			want := render(t, TranslateWithLogs(td, ld, Options{}))
			loose := logfold.Fold(td, ld)
			rest := plog.NewLogs()
			if loose > 0 {
				// What names no trace cannot travel in one.
				ld.CopyTo(rest)
				for _, rl := range rest.ResourceLogs().All() {
					for _, sl := range rl.ScopeLogs().All() {
						sl.LogRecords().RemoveIf(func(r plog.LogRecord) bool { return !r.TraceID().IsEmpty() })
					}
				}
			}
			before := td.SpanCount()
			assert.Equal(t, want, render(t, TranslateWithLogs(td, rest, Options{})))
			assert.Equal(t, before, td.SpanCount(), "the trace is not changed")
		})
	}
}

func render(t *testing.T, tapes []*tape.Tape) string {
	t.Helper()
	var buf bytes.Buffer
	for _, tp := range tapes {
		require.NoError(t, tape.NewWriter(&buf).WriteTape(tp))
	}
	return buf.String()
}
