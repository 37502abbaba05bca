package packages

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// overlay is the root of this machine under an empty layer that takes all changes.
func overlay(t *testing.T) root {
	t.Helper()
	layers := memory(t)
	for _, dir := range []string{"upper", "work", "root"} {
		require.NoError(t, os.Mkdir(filepath.Join(layers, dir), 0o755)) //nolint:gosec // a root that all can enter
	}
	r := root(filepath.Join(layers, "root"))
	output(t, "mount", "-t", "overlay", "-o", "lowerdir=/,upperdir="+layers+"/upper,workdir="+layers+"/work", "overlay", string(r))
	r.furnish(t)
	return r
}

// install unpacks the package and runs its scripts.
func (r root) install(t *testing.T, deb string) {
	t.Helper()
	content, err := os.ReadFile(deb)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(r.path("/tmp/tapedeck.deb"), content, 0o644))
	r.run(t, "dpkg", "--install", "/tmp/tapedeck.deb")
}

func TestDebFromInstallationToPurge(t *testing.T) {
	deb := built(t, "*.deb")
	r := overlay(t)
	r.install(t, deb)

	assert.Equal(t, "tapedeck tapedeck 750\n", r.run(t, "stat", "-c", "%U %G %a", "/var/lib/tapedeck"))
	assert.Contains(t, r.run(t, "getent", "passwd", "tapedeck"), ":/var/lib/tapedeck:/usr/sbin/nologin\n")
	r.run(t, "systemd-analyze", "verify", "/usr/lib/systemd/system/otelcol-tape.service")
	r.run(t, "otelcol-tape", "validate", "--config=/etc/tapedeck/config.yaml")
	assert.Contains(t, r.run(t, "otelcol-tape", "--version"), version(t))
	assert.Contains(t, r.run(t, "tape", "version"), version(t))

	r.recordsARun(t, "tapedeck:tapedeck")

	// An upgrade leaves what an operator has changed.
	edited := append([]byte("# edited\n"), []byte(read(t, "config.yaml"))...)
	require.NoError(t, os.WriteFile(r.path("/etc/tapedeck/config.yaml"), edited, 0o644))
	r.install(t, deb)
	kept, err := os.ReadFile(r.path("/etc/tapedeck/config.yaml"))
	require.NoError(t, err)
	assert.Equal(t, edited, kept)

	r.run(t, "dpkg", "--remove", "tapedeck")
	assert.NoFileExists(t, r.path("/usr/bin/otelcol-tape"))
	assert.FileExists(t, r.path("/etc/tapedeck/config.yaml"))
	assert.DirExists(t, r.path("/var/lib/tapedeck/tapes"))

	r.run(t, "dpkg", "--purge", "tapedeck")
	assert.NoDirExists(t, r.path("/etc/tapedeck"))
	assert.NoDirExists(t, r.path("/var/lib/tapedeck"))
}
