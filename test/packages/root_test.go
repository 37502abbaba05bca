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

func (r root) path(p string) string { return filepath.Join(string(r), p) }

func (r root) run(t *testing.T, args ...string) string {
	t.Helper()
	return output(t, "chroot", append([]string{string(r)}, args...)...)
}

// memory is an empty file system in memory. It wants a mount namespace of its own
// (TAPEDECK_OUTER_NAMESPACE names the one outside), so that what is mounted ends with
// the process.
func memory(t *testing.T) string {
	t.Helper()
	namespace, err := os.Readlink("/proc/self/ns/mnt")
	require.NoError(t, err)
	if outer := os.Getenv("TAPEDECK_OUTER_NAMESPACE"); outer == "" || outer == namespace {
		t.Skip("mounting needs root and a mount namespace of its own: run make check-package")
	}
	// Not t.TempDir, which would remove what is mounted if that could not be unmounted.
	dir, err := os.MkdirTemp("", "scratch")
	require.NoError(t, err)
	output(t, "mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", dir)
	t.Cleanup(func() {
		assert.NoError(t, exec.Command("umount", "--recursive", dir).Run()) //nolint:noctx // that of the test has ended
		assert.NoError(t, os.Remove(dir))
	})
	return dir
}

// furnish gives a root what programs expect, but nothing of the machine that they could
// change: a /proc that is read-only, and three devices.
func (r root) furnish(t *testing.T) {
	t.Helper()
	for _, dir := range []string{"/proc", "/dev"} {
		require.NoError(t, os.MkdirAll(r.path(dir), 0o755)) //nolint:gosec // as it is everywhere
	}
	output(t, "mount", "-t", "proc", "-o", "ro", "proc", r.path("/proc"))
	for device, minor := range map[string]string{"null": "3", "zero": "5", "urandom": "9"} {
		output(t, "rm", "-f", r.path("/dev/"+device))
		output(t, "mknod", "-m", "666", r.path("/dev/"+device), "c", "1", minor)
	}
}

// collector is a directory with an otelcol-tape that starts the one in the root as a
// user, with the directories that its configuration has by default.
func (r root) collector(t *testing.T, user string) string {
	t.Helper()
	bin := t.TempDir()
	script := "#!/bin/sh\nunset TAPE_DIR TAPE_SPOOL\nexec chroot --userspec=" + user + " '" + string(r) + "' /usr/bin/otelcol-tape \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "otelcol-tape"), []byte(script), 0o755)) //nolint:gosec // it is executed
	return bin
}

// recordsARun starts the collector as a user, with the configuration that came with it,
// and asks the tape beside it for a run that failed.
func (r root) recordsARun(t *testing.T, user string) {
	t.Helper()
	ports, err := harness.FreePorts(1)
	require.NoError(t, err)
	t.Setenv("TAPE_HEALTH", "127.0.0.1:"+ports[0])
	c, err := harness.Start(t.Context(), r.collector(t, user), "/etc/tapedeck/config.yaml", t.TempDir(),
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
