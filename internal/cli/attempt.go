package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/regress"
	"github.com/tapedeck/tapedeck/replay"
)

// defaultTimeout ends a command that runs against a tape without anyone looking.
const defaultTimeout = 5 * time.Minute

// addAttempt adds what verbs that run commands unattended say about their sessions.
func (f *sessionFlags) addAttempt(cmd *cobra.Command) {
	f.mode = replay.ModeStrict.String()
	flags := cmd.Flags()
	flags.StringVar(&f.order, "order", "content", "content accepts calls in any order, strict only in the recorded one")
	flags.StringVar(&f.completion, "completion", "free", "free answers at once, recorded lets calls complete as recorded")
	flags.StringSliceVar(&f.kinds, "kind", nil, "replay records of these kinds only (tool, model, clock, random) to the command")
	flags.StringVar(&f.codeVersion, "code-version", "", "version of the code that the command runs, for the report")
	flags.BoolVar(&f.failExpired, "fail-expired", false, "treat records past their expiry as gaps")
	flags.BoolVar(&f.failRedacted, "fail-redacted", false, "treat records with a placeholder in their answer as gaps")
	flags.StringSliceVar(&f.unserved, "allow-unserved", nil, "tools that models may ask for and that need not be answered from the tape, by name")
	rulesFlag(cmd, &f.rules)
	bodiesFlag(cmd, &f.bodies)
	f.addHooks(cmd)
}

// attempt runs a command against the tape in a file as tape run does, but on streams
// of its own and in a process group of its own. What it wrote is redacted, since it
// goes to reports and files that others read.
func (a *app) attempt(ctx context.Context, path string, argv []string, flags *sessionFlags, timeout time.Duration, more ...replay.Option) regress.Outcome {
	// The command is in a group that the keys of the terminal do not reach: who ends us
	// means it too.
	ctx, ignore := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer ignore()
	session, err := a.open(path, flags, more...)
	if err != nil {
		return regress.Outcome{Err: err}
	}
	options, err := flags.serving()
	if err != nil {
		return regress.Outcome{Err: err}
	}
	env, stop, err := a.serving(ctx, session, flags, options...)
	if err != nil {
		return regress.Outcome{Err: err}
	}
	hooks, remove, err := a.hookTools(flags)
	if err != nil {
		return regress.Outcome{Err: errors.Join(err, stop())}
	}
	defer remove()
	ended, err := capture(ctx, argv, append(env, hooks...), timeout)
	if stopErr := stop(); err == nil {
		err = stopErr
	}
	// The verdict is in the report.
	_ = session.Close()
	if err != nil {
		return regress.Outcome{Err: err}
	}
	redacted := func(text string) string {
		text, _ = redact.Default().Text(strings.TrimSpace(text))
		return text
	}
	return regress.Outcome{
		Report: session.Report(), ExitCode: ended.code, TimedOut: ended.timedOut, Duration: ended.took,
		Answer: redacted(strings.ToValidUTF8(ended.stdout, "\ufffd")), AnswerCut: ended.cut, Errors: redacted(ended.stderr),
	}
}

// temporary writes a tape where a session can open it.
func temporary(write func(path string) error) (path string, remove func(), err error) {
	file, err := os.CreateTemp("", "tape-*.jsonl")
	if err != nil {
		return "", nil, err
	}
	path = file.Name()
	remove = func() { _ = os.Remove(path) }
	if err = file.Close(); err == nil {
		err = write(path)
	}
	if err != nil {
		remove()
		return "", nil, err
	}
	return path, remove, nil
}
