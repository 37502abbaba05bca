package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/internal/regress"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/replay/rules"
)

// testFlags say how a set is run and reported.
type testFlags struct {
	session sessionFlags
	jobs    int
	timeout time.Duration
	formats []string
	update  bool
	asJSON  bool
}

func (a *app) testCmd() *cobra.Command {
	var flags testFlags
	cmd := &cobra.Command{
		Use:                   "test DIR|FILE... [flags] -- CMD...",
		DisableFlagsInUseLine: true,
		Short:                 "Run a command against each tape of a set",
		Long: `Run a command against each tape of a set, several at a time, each as tape run does,
and judge what it did by the expectations beside the tape. In a directory every
*.jsonl at any depth is a tape; NAME.jsonl has its expectations in
NAME.expect.yaml:

  exit_code: 0                     # of the command
  answer: "Booked."                # all of standard output, redacted
  answer_contains: ["BK-1001"]
  answer_matches: '^Booked'        # a regular expression
  drift: 0                         # as do misses, exhausted, gaps, unconsumed,
  live_calls: 0                    # live_calls and side_effects
  kinds: [tool]                    # records to replay, all by default
  timeout: 30s
  rules:                           # what the replay may take for the same
    - {tool: book, path: at, match: time, within: 5s}

Without it the replay is to be clean and the exit code 0. A member that does not
exist is an error.

--update makes what happened the expectation, exit code and answer only, and only
where the replay went as expected; it shows what it changes. Exit code 1 when a case
did not pass, 2 when one could not be run.`,
		Example: `  tape test tapes -j 4 --format junit=report.xml --format github -- python agent.py`,
		Args: func(cmd *cobra.Command, argv []string) error {
			if dash := cmd.ArgsLenAtDash(); dash < 1 || dash == len(argv) {
				return usage("call it as: tape test DIR|FILE... [flags] -- CMD...")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, argv []string) error {
			dash := cmd.ArgsLenAtDash()
			return a.test(cmd.Context(), argv[:dash], argv[dash:], &flags)
		},
	}
	f := cmd.Flags()
	f.IntVarP(&flags.jobs, "jobs", "j", runtime.GOMAXPROCS(0), "how many commands run at a time")
	f.DurationVar(&flags.timeout, "timeout", defaultTimeout, "how long each command may take")
	f.StringArrayVar(&flags.formats, "format", nil, "report as text, json, junit, sarif or github, to a file as in junit=FILE; may be given several times")
	f.BoolVar(&flags.update, "update", false, "make exit code and answer the expectation")
	flags.session.addAttempt(cmd)
	jsonFlag(cmd, &flags.asJSON)
	return cmd
}

func (a *app) test(ctx context.Context, paths, argv []string, flags *testFlags) error {
	outputs, err := a.testOutputs(flags)
	if err != nil {
		return err
	}
	switch {
	case flags.jobs < 1:
		return usage("--jobs is 1 or more, not %d", flags.jobs)
	case flags.timeout <= 0:
		return usage("--timeout is more than 0, not %s", flags.timeout)
	}
	// Once, before any command runs.
	if _, err := readRulesFlag(flags.session.rules); err != nil {
		return err
	}
	cases, err := regress.Find(paths)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	report := regress.Run(ctx, cases, flags.jobs, func(ctx context.Context, c *regress.Case) regress.Outcome {
		e := &c.Expectation
		var options []replay.Option
		if len(e.Kinds) > 0 {
			options = append(options, replay.WithKinds(e.Kinds...))
		}
		if len(e.Rules) > 0 {
			options = append(options, replay.WithRules(&rules.Policy{Rules: e.Rules}))
		}
		return a.attempt(ctx, c.Tape, argv, &flags.session, cmp.Or(time.Duration(e.Timeout), flags.timeout), options...)
	})
	var updates []regress.Update
	if flags.update {
		updates, err = report.UpdateExpectations()
	}
	for _, o := range outputs {
		if werr := o.write(a, report, updates); err == nil {
			err = werr
		}
	}
	if err != nil {
		return err
	}
	return testVerdict(report, updates, flags.update)
}

// testVerdict is the exit code of a run: the report has said why.
func testVerdict(report *regress.Report, updates []regress.Update, updated bool) error {
	failed := report.Counts.Failed > 0
	if updated {
		failed = slices.ContainsFunc(updates, func(u regress.Update) bool { return u.Refused != "" && u.Failed })
	}
	switch {
	case failed:
		return &exitError{code: exitNo}
	case report.Counts.Errors > 0:
		return &exitError{code: exitUsage}
	}
	return nil
}

// testOutput is one form of the report and where it goes.
type testOutput struct{ format, file string }

var testFormats = []string{"text", "json", "junit", "sarif", "github"}

// testOutputs reads --format. Of the forms only one can go to standard output, beside
// the lines for GitHub, which are to be among others.
func (a *app) testOutputs(flags *testFlags) ([]testOutput, error) {
	given := flags.formats
	if flags.asJSON {
		given = append(slices.Clone(given), "json")
	}
	var outputs []testOutput
	var onOut string
	for _, text := range given {
		format, file, _ := strings.Cut(text, "=")
		if !slices.Contains(testFormats, format) {
			return nil, usage("--format: %q is none of %q", format, testFormats)
		}
		o := testOutput{format, cmp.Or(file, "-")}
		if err := a.checkOutput(o.file); err != nil {
			return nil, usage("--format %s: %w", text, err)
		}
		if o.file == "-" && format != "github" {
			if onOut != "" {
				return nil, usage("--format: %s and %s cannot both go to standard output: use %s=FILE", onOut, format, format)
			}
			onOut = format
		}
		outputs = append(outputs, o)
	}
	if onOut == "" {
		outputs = append(outputs, testOutput{"text", "-"})
	}
	return outputs, nil
}

func (o testOutput) write(a *app, r *regress.Report, updates []regress.Update) error {
	return a.output(o.file, func(w io.Writer) error {
		switch o.format {
		case "junit":
			return r.JUnit(w)
		case "sarif":
			return r.SARIF(w)
		case "github":
			return r.GitHub(w)
		case "json":
			text, err := marshal(struct {
				*regress.Report
				Updates []regress.Update `json:"updates,omitempty"`
			}{r, updates})
			if err == nil {
				_, err = w.Write(text)
			}
			return err
		}
		t := terminal{width: defaultWidth}
		if o.file == "-" {
			t = a.terminal(a.Out)
		}
		_, err := fmt.Fprint(w, t.testText(r, updates))
		return err
	})
}
