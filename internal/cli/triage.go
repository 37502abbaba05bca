package cli

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/internal/dry"
	"github.com/tapedeck/tapedeck/internal/policy"
	"github.com/tapedeck/tapedeck/internal/regress"
	"github.com/tapedeck/tapedeck/internal/triage"
	"github.com/tapedeck/tapedeck/tape"
)

// triageFlags say what a triage goes by.
type triageFlags struct {
	session                                      sessionFlags
	good, tools, policy, attribution, save, name string
	timeout                                      time.Duration
	asJSON                                       bool
}

func (a *app) triageCmd() *cobra.Command {
	var flags triageFlags
	cmd := &cobra.Command{
		Use:                   "triage FILE|ID [flags] [-- CMD...]",
		DisableFlagsInUseLine: true,
		Short:                 "Say all there is to know about a failed run, and what to do next",
		Long: `Look at a failed run in one go: what was in force (code, models, prompts, tools,
policies), why it failed and the evidence, whether the tape replays, what CMD does
with the recorded answers, how the run differs from the last good one and its tools
from those of now, and the commands to type next.

The last good run is looked up where the id is, or with --server or --store; --good
names it. --save puts the tape into a regression set, with expectations beside it.

Exit code 1 when the tape does not replay, or the replay of CMD was not clean.`,
		Example: `  tape --store tapes triage 60d56d13f2703003c03964a529396a36 --save tests -- python agent.py`,
		Args: func(cmd *cobra.Command, argv []string) error {
			dash := cmd.ArgsLenAtDash()
			if dash < 0 && len(argv) != 1 || dash >= 0 && (dash != 1 || len(argv) < 2) {
				return usage("call it as: tape triage FILE|ID [flags] [-- CMD...]")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, argv []string) error {
			return a.triage(cmd, argv[0], argv[1:], &flags)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.good, "good", "", "file or id of the last run that went well, in place of the one that is looked up")
	f.StringVar(&flags.tools, "tools", "", "file with the tool definitions of now")
	f.StringVar(&flags.policy, "policy", "", "file with the rules of now about calls, as for tape dry")
	f.StringVar(&flags.attribution, "failure-rules", "", "file with further rules about failures, as tape attribute --rules has it")
	f.StringVar(&flags.save, "save", "", "directory of a regression set to put the tape into")
	f.StringVar(&flags.name, "name", "", "name of the case in the set (default: service, failure class and part of the id)")
	flags.session.addAttempt(cmd)
	f.DurationVar(&flags.timeout, "timeout", defaultTimeout, "how long CMD may take")
	jsonFlag(cmd, &flags.asJSON)
	return cmd
}

func (a *app) triage(cmd *cobra.Command, arg string, argv []string, flags *triageFlags) error {
	in, err := a.triageInput(cmd, arg, flags)
	if err != nil {
		return err
	}
	if len(argv) > 0 {
		in.Command = argv
		if in.Outcome, err = a.triageRun(cmd.Context(), in, flags); err != nil {
			return err
		}
	}
	report, err := triage.Examine(in)
	if err != nil {
		return err
	}
	if flags.save != "" {
		name := flags.name
		if name == "" {
			name = report.CaseName()
		}
		if err := report.Save(flags.save, name, in.Tape); err != nil {
			return usage("--save: %w", err)
		}
	}
	report.Advise(in)
	if flags.asJSON {
		err = a.printJSON(report)
	} else {
		err = a.print(a.terminal(a.Out).triageText(report))
	}
	if err == nil && !report.Clean() {
		err = &exitError{code: exitNo}
	}
	return err
}

// triageInput reads all that was named.
func (a *app) triageInput(cmd *cobra.Command, arg string, flags *triageFlags) (*triage.Input, error) {
	in := &triage.Input{Name: arg, SurrogateKey: os.Getenv(surrogateKeyEnv)}
	var err error
	if in.Attributor, err = readRules(flags.attribution); err != nil {
		return nil, err
	}
	if flags.tools != "" {
		if in.Tools, err = dry.ReadTools(flags.tools); err != nil {
			return nil, err
		}
	}
	if flags.policy != "" {
		if in.Policy, err = policy.ReadFile(flags.policy); err != nil {
			return nil, err
		}
	}
	if in.Tape, err = a.tapeArg(cmd, arg); err != nil {
		return nil, err
	}
	_, statErr := os.Stat(arg)
	in.IsFile = arg == "-" || statErr == nil
	switch {
	case flags.good != "":
		in.GoodName = flags.good
		in.Good, err = a.goodTape(cmd, flags.good)
		return in, err
	case in.IsFile && a.store == "" && a.server == "" && a.Env("TAPE_SERVER") == "":
		in.NoGood = "not looked for: name it with --good, or say where runs are with --store or --server"
		return in, nil
	}
	in.Good, err = a.lastGood(cmd.Context(), in.Tape)
	if err != nil && (errors.Is(err, errNoGood) || exitCode(err) == exitUsage) {
		in.NoGood, err = err.Error(), nil
	}
	if in.Good != nil {
		in.GoodName = in.Good.Manifest.TraceID
	}
	return in, err
}

// triageRun runs the command against the tape.
func (a *app) triageRun(ctx context.Context, in *triage.Input, flags *triageFlags) (*regress.Outcome, error) {
	path, remove, err := temporary(func(path string) error { return tape.WriteFile(path, in.Tape) })
	if err != nil {
		return nil, err
	}
	defer remove()
	o := a.attempt(ctx, path, in.Command, &flags.session, flags.timeout)
	if o.Report != nil {
		// The file is gone by the time anyone reads this.
		o.Report.Tape.Path = in.Name
	}
	return &o, o.Err
}
