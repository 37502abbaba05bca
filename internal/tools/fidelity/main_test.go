package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestTheScoreIsPrintedAndWritten(t *testing.T) {
	out := filepath.Join(t.TempDir(), "fidelity.md")
	var printed bytes.Buffer
	require.NoError(t, run(&printed, "../../dialect", out))
	written, err := os.ReadFile(out)
	require.NoError(t, err)
	assert.Equal(t, printed.String(), string(written))
	assert.Contains(t, printed.String(), "| `vercel_ai` |")
}

func TestAMissWithoutAReasonFails(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(dir, "testdata", "samples"), os.DirFS("../../dialect/testdata/samples")))
	exceptions := filepath.Join(dir, "fidelity", "testdata", "exceptions.json")
	require.NoError(t, os.MkdirAll(filepath.Dir(exceptions), 0o755))
	for _, from := range []string{"described", "captures"} {
		require.NoError(t, os.CopyFS(filepath.Join(dir, "testdata", from), os.DirFS("../../dialect/testdata/"+from)))
	}
	require.NoError(t, os.WriteFile(exceptions, []byte(`[{"case":"cagent","field":"id","reason":"it is right"}]`), 0o644))
	out := filepath.Join(dir, "fidelity.md")
	err := run(&bytes.Buffer{}, dir, out)
	require.Error(t, err)
	assert.ErrorContains(t, err, "openinference_claude_agent_sdk: models")
	assert.ErrorContains(t, err, "cagent: id: the exception applies no more")
	assert.NoFileExists(t, out)
}
