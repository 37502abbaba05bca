//go:build unix

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRunHooksToolsForAsLongAsTheCommandRuns(t *testing.T) {
	t.Setenv(childEnv, "1")
	t.Setenv("TMPDIR", t.TempDir())
	words := []string{"--", os.Args[0], "env", "PYTHONPATH", "env", "NODE_OPTIONS"}
	r := tapeCmd(t, "", append([]string{"PYTHONPATH=/mine", "NODE_OPTIONS=--no-warnings", "run", "testdata/bare.jsonl"}, words...)...)
	lines := strings.Split(r.out, "\n")
	require.Len(t, lines, 3, r.out)
	assert.True(t, strings.HasPrefix(lines[0], "PYTHONPATH="+os.Getenv("TMPDIR")), lines[0])
	assert.True(t, strings.HasSuffix(lines[0], "/python:/mine"), lines[0])
	assert.True(t, strings.HasPrefix(lines[1], `NODE_OPTIONS=--require "`+os.Getenv("TMPDIR")), lines[1])
	assert.True(t, strings.HasSuffix(lines[1], `/node/preload.cjs" --no-warnings`), lines[1])
	left, err := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "*"))
	require.NoError(t, err)
	assert.Empty(t, left, "the hooks are gone with the command")

	r = tapeCmd(t, "", append([]string{"run", "testdata/bare.jsonl", "--no-hooks"}, words...)...)
	assert.Equal(t, "PYTHONPATH=\nNODE_OPTIONS=\n", r.out)
}
