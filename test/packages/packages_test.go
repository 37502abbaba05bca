// Package packages tests what `make package` built, as its receivers find it: unpacked,
// installed, started, upgraded and removed.
//
// TAPEDECK_PACKAGES names the directory; `make check-package` sets it. Installing needs
// root and takes place in an overlay of this machine's root, which stays as it is.
package packages

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/buildinfo"
)

// built is the one file in the directory of packages that fits the pattern.
func built(t *testing.T, pattern string) string {
	t.Helper()
	dir := os.Getenv("TAPEDECK_PACKAGES")
	if dir == "" {
		t.Skip("TAPEDECK_PACKAGES is not set: run make check-package")
	}
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	require.NoError(t, err)
	require.Len(t, found, 1, "%s in %s", pattern, dir)
	return found[0]
}

// output is what a command prints, which must succeed.
func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).CombinedOutput()
	require.NoError(t, err, "%s %s\n%s", name, strings.Join(args, " "), out)
	return string(out)
}

// version is what binaries of the checked-out commit say.
func version(t *testing.T) string {
	t.Helper()
	return buildinfo.Release + "+" + output(t, "git", "rev-parse", "HEAD")[:12]
}

func TestChecksumsHold(t *testing.T) {
	sums := built(t, "checksums.txt")
	text, err := os.ReadFile(sums)
	require.NoError(t, err)
	named := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		want, name, ok := strings.Cut(strings.TrimSpace(line), "  ")
		require.True(t, ok, line)
		content, err := os.ReadFile(filepath.Join(filepath.Dir(sums), name))
		require.NoError(t, err)
		got := sha256.Sum256(content)
		assert.Equal(t, want, hex.EncodeToString(got[:]), name)
		named[name] = true
	}
	for _, pattern := range []string{"*.tar.gz", "*.deb", "*.rpm", "tape_*.json", "otelcol-tape_*.json"} {
		assert.True(t, named[filepath.Base(built(t, pattern))], pattern)
	}
}

func TestArchiveHasWhatAFirstRunNeeds(t *testing.T) {
	archive, dir := built(t, "*.tar.gz"), t.TempDir()
	output(t, "tar", "-xzf", archive, "-C", dir, "--strip-components=1")
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md", "deploy/local.yaml"} {
		assert.FileExists(t, filepath.Join(dir, name))
	}
	assert.Contains(t, output(t, filepath.Join(dir, "tape"), "version"), version(t))
	assert.Contains(t, output(t, filepath.Join(dir, "otelcol-tape"), "--version"), version(t))
	output(t, filepath.Join(dir, "otelcol-tape"), "validate", "--config", filepath.Join(dir, "deploy/local.yaml"))
}

func TestSBOMNamesWhatIsLinked(t *testing.T) {
	for pattern, want := range map[string][]string{
		"tape_*.cdx.json":         {"github.com/spf13/cobra", "go.opentelemetry.io/collector/pdata"},
		"otelcol-tape_*.cdx.json": {"go.opentelemetry.io/collector/otelcol", "go.opentelemetry.io/collector/receiver/otlpreceiver"},
	} {
		text, err := os.ReadFile(built(t, pattern))
		require.NoError(t, err)
		var bom struct {
			BOMFormat  string
			Components []struct {
				Name, Version, PURL string
				Evidence            struct{ Licenses []any }
			}
		}
		require.NoError(t, json.Unmarshal(text, &bom), pattern)
		assert.Equal(t, "CycloneDX", bom.BOMFormat)
		var names []string
		licensed := 0
		for _, c := range bom.Components {
			names = append(names, c.Name)
			assert.NotEmpty(t, c.Version, c.Name)
			assert.NotEmpty(t, c.PURL, c.Name)
			licensed += min(1, len(c.Evidence.Licenses))
		}
		assert.Greater(t, licensed, len(names)*9/10, "modules whose license was recognised, of %d", len(names))
		assert.Subset(t, names, want, pattern)
	}
}
