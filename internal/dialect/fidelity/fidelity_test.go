package fidelity_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/dialect/fidelity"
	"github.com/tapedeck/tapedeck/tape"
)

func translate(td ptrace.Traces, ld plog.Logs) []*tape.Tape {
	return dialect.TranslateWithLogs(td, ld, dialect.Options{})
}

func TestEverySampleAndCaptureGivesTheRightTape(t *testing.T) {
	r, err := fidelity.Measure("..", translate)
	require.NoError(t, err)
	var table strings.Builder
	require.NoError(t, fidelity.Print(&table, r.Scores))
	t.Log("\n" + table.String())
	for _, m := range r.Misses {
		t.Errorf("%s: %s: %s", m.Case, m.Field, m.What)
	}
	assert.Empty(t, r.Stale, "exceptions without a miss")
	for _, s := range r.Scores {
		if s.Origin == "captures" {
			assert.NotContains(t, s.Instrumentation, "`", "%s: the instrumentation of a capture has a name", s.Case)
		}
	}
}

func TestThePageIsThatOfTheCode(t *testing.T) {
	r, err := fidelity.Measure("..", translate)
	require.NoError(t, err)
	var page strings.Builder
	require.NoError(t, fidelity.Markdown(&page, r.Scores, r.Exceptions))
	written, err := os.ReadFile("../../../docs/fidelity.md")
	require.NoError(t, err)
	assert.Equal(t, page.String(), string(written), "run make fidelity")
}

func TestMeasuringNothingIsAnError(t *testing.T) {
	_, err := fidelity.Measure(t.TempDir(), translate)
	assert.ErrorContains(t, err, "no recordings in")
}
