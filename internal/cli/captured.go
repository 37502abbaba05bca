package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Bounds of what is kept of a command's output, in bytes: of standard output the
// beginning, of standard error the end.
const (
	maxStdout = 1 << 20
	maxStderr = 16 << 10
)

// waitDelay is how long the output of a command is waited for after its end, when
// something it started holds on to it.
const waitDelay = 2 * time.Second

// captured is how a command ended that ran on streams of its own.
type captured struct {
	code     int
	timedOut bool
	stdout   string
	// cut is set when there was more on standard output.
	cut    bool
	stderr string
	took   time.Duration
}

// capture runs a command in a process group of its own, with nothing to read and
// more environment. When it takes too long or ctx ends, the group is killed, as is
// what is left of it when the command has ended. The error is for a command that did
// not start, or for ctx.
func capture(ctx context.Context, argv, env []string, timeout time.Duration) (captured, error) {
	limited, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(limited, argv[0], argv[1:]...)
	cmd.Env = append(os.Environ(), env...)
	out, errs := &head{most: maxStdout}, &tail{most: maxStderr}
	cmd.Stdout, cmd.Stderr = out, errs
	cmd.WaitDelay = waitDelay
	ownGroup(cmd)
	cmd.Cancel = func() error { return killGroup(cmd.Process) }
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return captured{}, usage("the command did not start: %w", err)
	}
	err := cmd.Wait()
	// An error means that nothing was left.
	_ = killGroup(cmd.Process)
	if ctx.Err() != nil {
		return captured{}, context.Cause(ctx)
	}
	c := captured{
		stdout: out.text.String(), cut: out.cut, stderr: errs.String(), took: time.Since(began),
		timedOut: limited.Err() != nil && err != nil,
	}
	if errors.Is(err, exec.ErrWaitDelay) {
		// The command had ended well; only its output was held on to.
		err = nil
	}
	c.code, err = childCode(err)
	return c, err
}

// head keeps the beginning of what is written. The buffer is a field because its
// ReadFrom would take all there is.
type head struct {
	text bytes.Buffer
	most int
	cut  bool
}

func (h *head) Write(p []byte) (int, error) {
	kept := p
	if room := h.most - h.text.Len(); len(p) > room {
		kept, h.cut = p[:room], true
	}
	_, _ = h.text.Write(kept)
	return len(p), nil
}

// tail keeps the end of what is written.
type tail struct {
	text []byte
	most int
	cut  bool
}

func (t *tail) Write(p []byte) (int, error) {
	t.text = append(t.text, p...)
	if n := len(t.text) - t.most; n > 0 {
		t.text, t.cut = append(t.text[:0], t.text[n:]...), true
	}
	return len(p), nil
}

func (t *tail) String() string {
	text := strings.ToValidUTF8(string(t.text), "")
	if t.cut {
		text = "…" + text
	}
	return text
}
