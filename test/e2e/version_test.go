package e2e

import (
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/buildinfo"
	"github.com/tapedeck/tapedeck/internal/harness"
)

// Whoever reports a fault can say what was run: both binaries name the release and
// the commit.
func TestVersionSaysTheCommit(t *testing.T) {
	head, err := exec.CommandContext(t.Context(), "git", "rev-parse", "HEAD").Output()
	if err != nil {
		t.Skip("not in a checkout")
	}
	commit := strings.TrimSpace(string(head))
	want := buildinfo.Release + "+" + commit[:12]

	out, _, code, err := harness.Run(t.Context(), bin(t), "otelcol-tape", nil, "--version")
	require.NoError(t, err)
	assert.Zero(t, code)
	assert.Contains(t, out, "otelcol-tape version "+want)

	out, _, code, err = harness.Run(t.Context(), bin(t), "tape", nil, "version", "--json")
	require.NoError(t, err)
	assert.Zero(t, code)
	var said struct{ Version, Commit string }
	require.NoError(t, json.Unmarshal([]byte(out), &said))
	assert.Equal(t, commit, said.Commit)
	assert.Contains(t, said.Version, want)
}
