package fidelity_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/dialect/fidelity"
)

func TestEverySampleAndCaptureGivesTheRightTape(t *testing.T) {
	samples, err := fidelity.ReadSamples("../testdata/samples")
	require.NoError(t, err)
	described, err := fidelity.ReadSamples("../testdata/described")
	require.NoError(t, err)
	captures, err := fidelity.ReadCaptures("../testdata/captures")
	require.NoError(t, err)
	exceptions, err := fidelity.ReadExceptions("testdata/exceptions.json")
	require.NoError(t, err)
	var scores []fidelity.Score
	for _, c := range slices.Concat(samples, described, captures) {
		scores = append(scores, c.Compare(dialect.TranslateWithLogs(c.Traces, c.Logs, dialect.Options{})))
	}
	var table strings.Builder
	require.NoError(t, fidelity.Print(&table, scores))
	t.Log("\n" + table.String())
	misses, stale := fidelity.Unexplained(scores, exceptions)
	for _, m := range misses {
		t.Errorf("%s: %s: %s", m.Case, m.Field, m.What)
	}
	assert.Empty(t, stale, "exceptions without a miss")
}
