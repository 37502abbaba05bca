package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/internal/attribution"
	"github.com/tapedeck/tapedeck/tape"
)

func (a *app) attributeCmd() *cobra.Command {
	var asJSON bool
	var good, rules string
	cmd := &cobra.Command{
		Use:   "attribute FILE|ID",
		Short: "Say why the calls of a run failed",
		Long: `Say why each failed call of a tape failed, and the run: the classes that fit, the
earliest cause first, each with its evidence. The argument is a file, - for
standard input, or a trace id, which is looked up with --server or --store.

--good names the tape of the last run that went well: a failing tool whose schema
differs from the one there is a schema_mismatch. --rules adds rules of your own,
in YAML:

  rules:
    - class: external_timeout      # one of the failure classes
      tools: ["search_*"]          # globs; any tool where there are none
      codes: [E_SLOW]              # error code or type as a whole, or
      phrases: ["gave up after"]   # in the message, on word borders, or
      pattern: 'after [0-9]+ s'    # a regular expression over the message
  approval_tools: ["pay_*"]        # tools that need an approval_id`,
		Args: args(1, 1),
		RunE: func(cmd *cobra.Command, argv []string) error {
			if argv[0] == "-" && good == "-" {
				return usage("only one of the tapes can be on standard input")
			}
			attributor, err := readRules(rules)
			if err != nil {
				return err
			}
			t, err := a.tapeArg(cmd, argv[0])
			if err != nil {
				return err
			}
			before, err := a.goodTape(cmd, good)
			if err != nil {
				return err
			}
			report := attributor.Examine(t, attribution.NewGood(before))
			if asJSON {
				return a.printJSON(report)
			}
			return a.print(a.terminal(a.Out).attributeText(&report))
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().StringVar(&good, "good", "", "file or id of the tape of the last run that went well, to compare tool schemas with")
	cmd.Flags().StringVar(&rules, "rules", "", "YAML file with further rules")
	return cmd
}

// readRules makes an attributor of a file of rules, of the built-in ones alone
// where there is none.
func readRules(path string) (*attribution.Attributor, error) {
	var config attribution.Config
	if path != "" {
		text, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		if config, err = attribution.ParseConfig(text); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
	}
	return attribution.New(config)
}

// goodTape reads the tape to compare with, nil where none is named. One that does
// not serve its purpose is used all the same, with a note.
func (a *app) goodTape(cmd *cobra.Command, arg string) (*tape.Tape, error) {
	if arg == "" {
		return nil, nil
	}
	t, err := a.tapeArg(cmd, arg)
	if err != nil {
		return nil, err
	}
	switch m := t.Manifest; {
	case m == nil || len(m.Tools) == 0:
		a.note("%s lists no tools, so there are no schemas to compare with, at most their versions", arg)
	case m.Outcome != tape.OutcomeSucceeded && m.Outcome != tape.OutcomeRecovered:
		a.note("%s is of a run that %s, which is hardly a good one", arg, m.Outcome)
	}
	return t, nil
}

func (t terminal) attributeText(r *attribution.Report) string {
	var b strings.Builder
	if r.TraceID != "" {
		fmt.Fprintf(&b, "run %s  %s\n", clean(r.TraceID), clean(string(r.Outcome)))
	}
	if r.Good != "" {
		fmt.Fprintf(&b, "compared with %s\n", clean(r.Good))
	}
	switch {
	case r.Run == nil && len(r.Records) == 0:
		b.WriteString("no call failed\n")
		return b.String()
	case r.Run == nil:
		b.WriteString("the run did not fail\n")
	case r.Run.Seq == 0:
		b.WriteString("the run\n" + t.failureText(r.Run))
	case r.Outcome == tape.OutcomeRecovered:
		fmt.Fprintf(&b, "the run recovered from step %d: %s\n", r.Run.Seq, t.paint(bold, r.Run.Class))
	default:
		fmt.Fprintf(&b, "the run failed at step %d: %s\n", r.Run.Seq, t.paint(bold, r.Run.Class))
	}
	for i := range r.Records {
		f := &r.Records[i]
		fmt.Fprintf(&b, "\nstep %d, %s\n", f.Seq, clean(f.Tool))
		b.WriteString(t.failureText(f))
	}
	return b.String()
}

// failureText is what a failure said, and a line for each class that fits.
func (t terminal) failureText(f *attribution.Failure) string {
	var b strings.Builder
	if f.Reason != "" {
		fmt.Fprintf(&b, "  said: %s\n", clip(clean(oneLine(f.Reason)), max(20, t.width-8)))
	}
	for i, found := range f.Findings {
		mark, class := " ", found.Class
		if i == 0 {
			mark, class = ">", t.paint(red, class)
		}
		line := "  " + mark + " " + class
		if found.Evidence != "" {
			line += ": " + clean(oneLine(found.Evidence))
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}
