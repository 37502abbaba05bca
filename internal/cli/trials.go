package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/tapedeck/tapedeck/internal/serve"
	"github.com/tapedeck/tapedeck/replay"
)

// forkReport is what --json and --report have of a fork.
type forkReport struct {
	Fork    int              `json:"fork"`
	Tally   replay.Tally     `json:"tally"`
	Reports []*replay.Report `json:"reports"`
}

// derivedPath is the file of a trial's tape.
func (f *worldFlags) derivedPath(trial int) string {
	if f.trials == 1 {
		return f.derive
	}
	return filepath.Join(f.derive, fmt.Sprintf("trial-%03d.jsonl", trial))
}

// fork runs a command several times from a step of a tape on, and counts how it
// ended. Its exit code is 1 where a trial did not come to the fork or was refused a
// call, else that of the first command that did not end well.
func (a *app) fork(ctx context.Context, file string, argv []string, flags *sessionFlags, world *worldFlags, env []string, options []serve.Option) error {
	if world.trials < 1 {
		return usage("--trials %d: want 1 or more", world.trials)
	}
	if world.derive != "" && world.trials > 1 {
		if err := os.MkdirAll(world.derive, 0o700); err != nil {
			return err
		}
	}
	out := forkReport{Fork: world.fork}
	var outcomes []string
	diverged, firstCode := 0, exitOK
	for trial := 1; trial <= world.trials; trial++ {
		more, err := a.worldOptions(world, trial)
		if err != nil {
			return err
		}
		session, err := a.open(file, flags, more...)
		if err != nil {
			return err
		}
		code, err := a.trial(ctx, session, argv, env, flags, options)
		if err != nil {
			return errors.Join(err, session.Close())
		}
		closed := session.Close()
		out.Reports = append(out.Reports, session.Report())
		switch {
		case closed == nil:
			outcomes = append(outcomes, fmt.Sprintf("exit code %d", code))
			if firstCode == exitOK {
				firstCode = code
			}
		case errors.Is(closed, replay.ErrUnclean):
			diverged++
			if !flags.asJSON {
				a.note("trial %d: %s", trial, closed)
			}
		default:
			return closed
		}
	}
	out.Tally = replay.Count(outcomes, diverged)
	if err := a.reportFork(&out, flags); err != nil {
		return err
	}
	switch {
	case diverged > 0:
		return &exitError{code: exitNo}
	case firstCode != exitOK:
		return &exitError{code: firstCode}
	}
	return nil
}

// trial runs the command once.
func (a *app) trial(ctx context.Context, session *replay.Session, argv, env []string, flags *sessionFlags, options []serve.Option) (code int, err error) {
	more, stop, err := a.serving(ctx, session, flags, options...)
	if err != nil {
		return 0, err
	}
	code, err = a.runChild(argv, append(more, env...))
	if stopErr := stop(); stopErr != nil {
		a.note("%s", stopErr)
	}
	return code, err
}

// reportFork writes the tally, and the report of the last trial for people.
func (a *app) reportFork(out *forkReport, flags *sessionFlags) error {
	text, err := marshal(out)
	if err != nil {
		return err
	}
	if flags.report != "" {
		if err := a.output(flags.report, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			return err
		}
	}
	if !flags.asJSON {
		var b strings.Builder
		for i, r := range out.Reports {
			if i == len(out.Reports)-1 || !r.Clean {
				b.WriteString(r.Text())
			}
		}
		b.WriteString(fmt.Sprintf("fork at step %d: ", out.Fork) + out.Tally.Text())
		text = []byte(cleanLines(b.String()))
	}
	_, err = a.Err.Write(text)
	return err
}
