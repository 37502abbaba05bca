package packages

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/harness"
)

// root is a scratch root: whatever happens in it, the machine stays as it is.
type root string

// scratch lays an empty layer over the root of this machine. It wants a mount namespace
// of its own (TAPEDECK_OUTER_NAMESPACE names the one outside), so that its mounts end with the process, and nothing of the machine but
// that read-only layer is in reach: no /dev, no /sys, and a /proc that is read-only.
func scratch(t *testing.T) root {
	t.Helper()
	if os.Getuid() != 0 {
		t.Skip("installing needs root")
	}
	namespace, err := os.Readlink("/proc/self/ns/mnt")
	require.NoError(t, err)
	if outer := os.Getenv("TAPEDECK_OUTER_NAMESPACE"); outer == "" || outer == namespace {
		t.Skip("installing needs a mount namespace of its own: run make check-package")
	}
	// Not t.TempDir, which would remove what is mounted if that could not be unmounted.
	layers, err := os.MkdirTemp("", "scratch")
	require.NoError(t, err)
	output(t, "mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", layers)
	t.Cleanup(func() {
		assert.NoError(t, exec.Command("umount", "--recursive", layers).Run()) //nolint:noctx // that of the test has ended
		assert.NoError(t, os.Remove(layers))
	})
	for _, dir := range []string{"upper", "work", "root"} {
		require.NoError(t, os.Mkdir(filepath.Join(layers, dir), 0o755)) //nolint:gosec // a root that all can enter
	}
	r := root(filepath.Join(layers, "root"))
	output(t, "mount", "-t", "overlay", "-o", "lowerdir=/,upperdir="+layers+"/upper,workdir="+layers+"/work", "overlay", string(r))
	output(t, "mount", "-t", "proc", "-o", "ro", "proc", r.path("/proc"))
	require.NoError(t, os.MkdirAll(r.path("/dev"), 0o755)) //nolint:gosec // as it is everywhere
	for device, minor := range map[string]string{"null": "3", "zero": "5", "urandom": "9"} {
		output(t, "rm", "-f", r.path("/dev/"+device))
		output(t, "mknod", "-m", "666", r.path("/dev/"+device), "c", "1", minor)
	}
	return r
}

func (r root) path(p string) string { return filepath.Join(string(r), p) }

func (r root) run(t *testing.T, args ...string) string {
	t.Helper()
	return output(t, "chroot", append([]string{string(r)}, args...)...)
}

// install unpacks the package and runs its scripts.
func (r root) install(t *testing.T, deb string) {
	t.Helper()
	content, err := os.ReadFile(deb)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(r.path("/tmp/tapedeck.deb"), content, 0o644))
	r.run(t, "dpkg", "--install", "/tmp/tapedeck.deb")
}

// service is a directory with an otelcol-tape that starts the installed one in the root
// as the user of the unit, with the directories that its configuration has by default.
func (r root) service(t *testing.T) string {
	t.Helper()
	bin := t.TempDir()
	script := "#!/bin/sh\nunset TAPE_DIR TAPE_SPOOL\nexec chroot --userspec=tapedeck:tapedeck '" + string(r) + "' /usr/bin/otelcol-tape \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "otelcol-tape"), []byte(script), 0o755))
	return bin
}

func TestDebFromInstallationToPurge(t *testing.T) {
	deb := built(t, "*.deb")
	r := scratch(t)
	r.install(t, deb)

	assert.Equal(t, "tapedeck tapedeck 750\n", r.run(t, "stat", "-c", "%U %G %a", "/var/lib/tapedeck"))
	assert.Contains(t, r.run(t, "getent", "passwd", "tapedeck"), ":/var/lib/tapedeck:/usr/sbin/nologin\n")
	r.run(t, "systemd-analyze", "verify", "/usr/lib/systemd/system/otelcol-tape.service")
	r.run(t, "otelcol-tape", "validate", "--config=/etc/tapedeck/config.yaml")
	assert.Contains(t, r.run(t, "otelcol-tape", "--version"), version(t))
	assert.Contains(t, r.run(t, "tape", "version"), version(t))

	r.recordsARun(t)

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

// recordsARun starts the installed collector with the configuration that came with it
// and asks the installed tape for a run that failed.
func (r root) recordsARun(t *testing.T) {
	t.Helper()
	ports, err := harness.FreePorts(1)
	require.NoError(t, err)
	t.Setenv("TAPE_HEALTH", "127.0.0.1:"+ports[0])
	c, err := harness.Start(t.Context(), r.service(t), "/etc/tapedeck/config.yaml", t.TempDir(),
		"processors::tape::root_settle=100ms")
	require.NoError(t, err)

	status, _, err := harness.Get(t.Context(), "http://127.0.0.1:"+ports[0])
	require.NoError(t, err)
	assert.Equal(t, 200, status)

	status, err = c.SendJSON(t.Context(), failedRun(time.Now()))
	require.NoError(t, err)
	require.Equal(t, 200, status)

	require.NoError(t, harness.Eventually(t.Context(), 20*time.Second, func() (bool, error) {
		return strings.Contains(r.run(t, "tape", "ls", "--server", c.API, "--outcome", "failed"), trace), nil
	}))
	require.NoError(t, c.Stop())
}

const trace = "5b8efff798038103d269b633813fc60c"

// failedRun is a run of one agent, whose only tool fails, as OTLP/JSON.
func failedRun(end time.Time) []byte {
	return fmt.Appendf(nil, `{"resourceSpans": [{
  "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": "packaged"}}]},
  "scopeSpans": [{"spans": [
    {"traceId": %[1]q, "spanId": "0000000000000001", "name": "invoke_agent packaged", "kind": 1,
     "startTimeUnixNano": "%[2]d", "endTimeUnixNano": "%[4]d", "status": {"code": 2},
     "attributes": [{"key": "gen_ai.operation.name", "value": {"stringValue": "invoke_agent"}}]},
    {"traceId": %[1]q, "spanId": "0000000000000002", "parentSpanId": "0000000000000001", "name": "execute_tool search", "kind": 1,
     "startTimeUnixNano": "%[2]d", "endTimeUnixNano": "%[3]d", "status": {"code": 2, "message": "out of reach"},
     "attributes": [
       {"key": "gen_ai.operation.name", "value": {"stringValue": "execute_tool"}},
       {"key": "gen_ai.tool.name", "value": {"stringValue": "search"}},
       {"key": "gen_ai.tool.call.arguments", "value": {"stringValue": "{}"}}]}]}]}]}`,
		trace, end.Add(-2*time.Second).UnixNano(), end.Add(-time.Second).UnixNano(), end.UnixNano())
}
