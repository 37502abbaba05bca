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

// put copies a package to a place in the root and returns that.
func (r root) put(t *testing.T, file string) string {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	place := filepath.Join("/tmp", filepath.Base(file))
	require.NoError(t, os.WriteFile(r.path(place), content, 0o600))
	return place
}

// answers checks what both packages promise once they are installed.
func (r root) answers(t *testing.T) {
	t.Helper()
	assert.Equal(t, "tapedeck tapedeck 750\n", r.run(t, "stat", "-c", "%U %G %a", "/var/lib/tapedeck"))
	assert.Contains(t, r.run(t, "getent", "passwd", "tapedeck"), ":/var/lib/tapedeck:/usr/sbin/nologin\n")
	r.run(t, "systemd-analyze", "verify", "/usr/lib/systemd/system/otelcol-tape.service")
	r.run(t, "otelcol-tape", "validate", "--config=/etc/tapedeck/config.yaml")
	assert.Contains(t, r.run(t, "otelcol-tape", "--version"), version(t))
	assert.Contains(t, r.run(t, "tape", "version"), version(t))
	r.recordsARun(t, "tapedeck:tapedeck")
}

// edit changes the configuration as an operator does, and returns what to compare it
// with later.
func (r root) edit(t *testing.T) []byte {
	t.Helper()
	edited := append([]byte("# edited\n"), read(t, "config.yaml")...)
	require.NoError(t, os.WriteFile(r.path("/etc/tapedeck/config.yaml"), edited, 0o644)) //nolint:gosec // as it is shipped
	return edited
}

func (r root) assertContent(t *testing.T, want []byte, path string) {
	t.Helper()
	got, err := os.ReadFile(r.path(path))
	require.NoError(t, err)
	assert.Equal(t, want, got, path)
}

func TestDebFromInstallationToPurge(t *testing.T) {
	file := built(t, "*.deb")
	r := overlay(t)
	deb := r.put(t, file)
	r.run(t, "dpkg", "--install", deb)
	r.answers(t)

	edited := r.edit(t)
	r.run(t, "dpkg", "--install", deb)
	r.assertContent(t, edited, "/etc/tapedeck/config.yaml")

	r.run(t, "dpkg", "--remove", "tapedeck")
	assert.NoFileExists(t, r.path("/usr/bin/otelcol-tape"))
	r.assertContent(t, edited, "/etc/tapedeck/config.yaml")
	assert.DirExists(t, r.path("/var/lib/tapedeck/tapes"))

	r.run(t, "dpkg", "--purge", "tapedeck")
	assert.NoDirExists(t, r.path("/etc/tapedeck"))
	assert.NoDirExists(t, r.path("/var/lib/tapedeck"))
}

// Dependencies are left out of account, as this machine's packages may be those of dpkg.
func TestRPMFromInstallationToRemoval(t *testing.T) {
	file := built(t, "*.rpm")
	r := overlay(t)
	rpm := r.put(t, file)
	r.run(t, "rpm", "--install", "--nodeps", "--nosignature", rpm)
	r.answers(t)

	edited := r.edit(t)
	r.run(t, "rpm", "--upgrade", "--force", "--nodeps", "--nosignature", rpm)
	r.assertContent(t, edited, "/etc/tapedeck/config.yaml")
	assert.Equal(t, "tapedeck tapedeck 750\n", r.run(t, "stat", "-c", "%U %G %a", "/var/lib/tapedeck"))

	r.run(t, "rpm", "--erase", "tapedeck")
	assert.NoFileExists(t, r.path("/usr/bin/otelcol-tape"))
	r.assertContent(t, edited, "/etc/tapedeck/config.yaml.rpmsave")
	assert.DirExists(t, r.path("/var/lib/tapedeck/tapes"))
}
