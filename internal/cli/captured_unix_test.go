//go:build unix

package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestCapture(t *testing.T) {
	run := func(script string) captured {
		t.Helper()
		c, err := capture(t.Context(), []string{"sh", "-c", script}, []string{"GIVEN=x"}, time.Minute)
		require.NoError(t, err)
		return c
	}
	c := run(`echo "$GIVEN"; echo bad >&2; exit 7`)
	assert.Equal(t, captured{code: 7, stdout: "x\n", stderr: "bad\n", took: c.took}, c)
	assert.Equal(t, 128+9, run(`kill -9 $$`).code)
	assert.Equal(t, "", run(`cat`).stdout, "there is nothing to read")

	c = run(`head -c 2000000 /dev/zero; head -c 100000 /dev/zero | tr '\0' a >&2; echo end >&2`)
	assert.Len(t, c.stdout, maxStdout)
	assert.True(t, c.cut)
	assert.LessOrEqual(t, len(c.stderr), maxStderr+len("…"))
	assert.True(t, strings.HasSuffix(c.stderr, "aend\n"))

	// Something that the command left behind holds on to its output.
	c = run(`sleep 300 & echo started`)
	assert.Equal(t, 0, c.code)
	assert.Equal(t, "started\n", c.stdout)
	assert.False(t, c.timedOut)

	_, err := capture(t.Context(), []string{"no-such-command"}, nil, time.Minute)
	assert.Equal(t, exitUsage, exitCode(err))
	ctx, cancel := context.WithCancelCause(t.Context())
	interrupted := errors.New("interrupted")
	time.AfterFunc(50*time.Millisecond, func() { cancel(interrupted) })
	_, err = capture(ctx, []string{"sleep", "300"}, nil, time.Minute)
	assert.ErrorIs(t, err, interrupted)
}

// Who ends tape test ends the commands that it runs.
func TestInterruptEndsTheCommands(t *testing.T) {
	sumsSet(t, "")
	t.Setenv(childEnv, "1")
	for _, verb := range []string{"test tapes", "trim tapes/sums.jsonl --step 1 --check"} {
		t.Run(verb, func(t *testing.T) {
			_ = os.Remove("pid")
			words := append(append([]string{"tape"}, strings.Fields(verb)...), "--", "sh", "-c", `echo $$ > pid.tmp; mv pid.tmp pid; sleep 300`)
			self, err := os.Executable()
			require.NoError(t, err)
			cmd := exec.Command(self, words...)
			require.NoError(t, cmd.Start())
			assert.Eventually(t, func() bool { _, err := os.Stat("pid"); return err == nil }, 20*time.Second, 10*time.Millisecond)
			require.NoError(t, cmd.Process.Signal(syscall.SIGINT))
			_ = cmd.Wait()
			assert.Equal(t, exitUsage, cmd.ProcessState.ExitCode())
			pid, err := strconv.Atoi(strings.TrimSpace(read(t, filepath.Join(".", "pid"))))
			require.NoError(t, err)
			assert.Eventually(t, func() bool { return dead(pid) }, 10*time.Second, 10*time.Millisecond)
		})
	}
}
