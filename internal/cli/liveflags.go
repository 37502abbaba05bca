package cli

import (
	"log/slog"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// liveFlags say which calls of a replay may really run.
type liveFlags struct {
	isolated, sideEffects bool
	tools, kinds          []string
	fork                  int
}

func (f *liveFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&f.isolated, "isolated", false, "declare that calls here can reach nothing that must not change; nothing runs live without it")
	flags.StringSliceVar(&f.tools, "allow", nil, "tool that may run live, by its name; may repeat")
	flags.StringSliceVar(&f.kinds, "allow-kind", nil, "kind of calls that may run live beside the tools: model, clock, random")
	flags.BoolVar(&f.sideEffects, "allow-side-effects", false, "let allowed tools run live that have side effects, or may have some")
	flags.IntVar(&f.fork, "fork", 0, "answer what came before this step from the tape, and let every call from there on run live")
}

// any reports whether anything is said about live calls.
func (f *liveFlags) any() bool {
	return f.isolated || f.sideEffects || len(f.tools)+len(f.kinds) > 0 || f.fork != 0
}

// live is what the flags allow.
func (f *liveFlags) live() (replay.Live, error) {
	l := replay.Live{Isolated: f.isolated, Tools: f.tools, SideEffects: f.sideEffects}
	for _, k := range f.kinds {
		kind := tape.Kind(k)
		if !slices.Contains(tape.Kinds, kind) || kind == tape.KindTool {
			return l, usage("--allow-kind: %q is none of %q; tools are allowed by name, with --allow", k, tape.Kinds[1:])
		}
		l.Kinds = append(l.Kinds, kind)
	}
	return l, nil
}

// worldFlags are what tape run and tape serve have beyond other replays: answers that
// are not as recorded, and calls that are not answered from the tape.
type worldFlags struct {
	liveFlags
	live                          bool
	substitute, derive, overrides string
	audit                         string
	// log is the audit log, opened for the first trial.
	log     *slog.Logger
	breakAt int
	// trials is 1 where nothing can be run again.
	trials int
}

func (f *worldFlags) add(cmd *cobra.Command) {
	f.trials = 1
	f.liveFlags.add(cmd)
	flags := cmd.Flags()
	flags.BoolVar(&f.live, "live", false, "let the allowed tools and kinds run live, and answer all other calls from the tape")
	flags.StringVar(&f.substitute, "substitute", "", "file that says which accounts and tenants stand in for which in live calls")
	flags.StringVar(&f.audit, "audit", "", "file to append a line for each live call to, as JSON; standard error if there is none")
	flags.StringVar(&f.derive, "derive", "", "file to write what came of it to, as a tape; with several trials a directory")
	flags.StringVar(&f.overrides, "override", "", "file of answers to give in place of recorded ones, and of faults")
	flags.IntVar(&f.breakAt, "break", 0, "stop before the call of this step is answered, show it and ask on the terminal")
}

// addTrials is for verbs that run a command.
func (f *worldFlags) addTrials(cmd *cobra.Command) {
	cmd.Flags().IntVar(&f.trials, "trials", 1, "run the command this often from the fork, and count how it ended")
}

// options are the options of the session of a trial, counted from 1.
func (f *worldFlags) options(trial int) (options []replay.Option, err error) {
	live, err := f.liveFlags.live()
	if err != nil {
		return nil, err
	}
	if f.substitute != "" {
		if live.Substitution, err = replay.ReadSubstitution(f.substitute); err != nil {
			return nil, err
		}
	}
	switch {
	case f.fork != 0 && f.live:
		return nil, usage("--live and --fork are two kinds of replay: name one")
	case f.fork != 0:
		options = append(options, replay.WithFork(f.fork, live))
	case f.live:
		options = append(options, replay.WithLive(live))
	case f.any() || f.substitute != "" || f.derive != "":
		return nil, usage("nothing runs live here: say --live, or --fork STEP, beside what is allowed to")
	case f.trials != 1:
		return nil, usage("--trials counts how a fork ends: name its step with --fork")
	}
	if f.breakAt != 0 && f.trials > 1 {
		return nil, usage("--break stops one run, not several: leave --trials out")
	}
	if f.derive != "" {
		options = append(options, replay.WithDerived(f.derivedPath(trial)))
	}
	if f.audit != "" && f.log == nil {
		// Each line is one write; the file is open as long as the process.
		file, err := os.OpenFile(f.audit, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return nil, err
		}
		f.log = slog.New(slog.NewJSONHandler(file, nil))
	}
	if f.log != nil {
		options = append(options, replay.WithAuditLog(f.log))
	}
	if f.overrides != "" {
		overrides, err := replay.ReadOverrides(f.overrides)
		if err != nil {
			return nil, err
		}
		options = append(options, overrides...)
	}
	return options, nil
}
