package cli

import (
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/internal/diff"
	"github.com/tapedeck/tapedeck/tape"
)

// diffFlags say how two runs are compared.
type diffFlags struct {
	kinds    []string
	timing   time.Duration
	exactIDs bool
	rules    []string
}

func (f *diffFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringSliceVar(&f.kinds, "kind", nil, "compare records of these kinds only (tool, model, clock, random)")
	flags.DurationVar(&f.timing, "timing", 0, "a step that takes this much longer or shorter differs, such as 500ms; 0 does not compare times")
	rulesFlag(cmd, &f.rules)
	flags.BoolVar(&f.exactIDs, "exact-ids", false, "ids that a model gave to its calls must be the same, not only correspond one to one")
}

func (f *diffFlags) options() ([]diff.Option, error) {
	var options []diff.Option
	if f.timing < 0 {
		return nil, usage("--timing is 0 or more, not %s", f.timing)
	}
	if f.timing > 0 {
		options = append(options, diff.Timing(float64(f.timing)/float64(time.Millisecond)))
	}
	if len(f.rules) > 0 {
		set, err := rulesSet(f.rules)
		if err != nil {
			return nil, err
		}
		options = append(options, diff.Rules(set))
	}
	if f.exactIDs {
		options = append(options, diff.ExactIDs())
	}
	if len(f.kinds) > 0 {
		only := make([]tape.Kind, len(f.kinds))
		for i, k := range f.kinds {
			only[i] = tape.Kind(k)
			if !slices.Contains(tape.Kinds, only[i]) {
				return nil, usage("--kind: %q is none of %q", k, tape.Kinds)
			}
		}
		options = append(options, diff.Kinds(only...))
	}
	return options, nil
}

func (a *app) diffCmd() *cobra.Command {
	var asJSON, good bool
	var page string
	var flags diffFlags
	cmd := &cobra.Command{
		Use:   "diff A B | A REPORT | B --good",
		Short: "Say where two runs part",
		Long: `Compare two tapes step by step: where they part first, and every step that is
added, missing, moved or changed, with the paths that differ. Each argument is a
file, - for standard input, or a trace id, which is looked up with --server or
--store.

The second may be the report of a replay of the first, as tape run --report writes
it. With --good one tape is compared with the last run of the same service and
agent that succeeded, was kept and began before it.

Ids that a model gave to its calls may differ as long as they correspond one to
one. Exit code 1 when the runs differ.`,
		Example: `  tape diff good.jsonl failed.jsonl --html diff.html
  tape diff 60d56d13f2703003c03964a529396a36 --good`,
		Args: args(1, 2),
		RunE: func(cmd *cobra.Command, argv []string) error {
			if (len(argv) == 1) != good {
				return usage("diff: name two tapes, or one with --good")
			}
			if len(argv) == 2 && argv[0] == "-" && argv[1] == "-" {
				return usage("only one of the tapes can be on standard input")
			}
			if page != "" {
				if err := a.checkOutput(page); err != nil {
					return usage("--html: %w", err)
				}
			}
			report, err := a.diff(cmd, argv, &flags)
			if err != nil {
				return err
			}
			if page != "" {
				if err := a.output(page, report.HTML); err != nil {
					return err
				}
			}
			switch {
			case asJSON:
				err = a.printJSON(report)
			case page != "-":
				err = a.print(a.terminal(a.Out).diffText(report))
			}
			if err == nil && !report.Same {
				// The report has said it.
				err = &exitError{code: exitNo}
			}
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.Flags().BoolVar(&good, "good", false, "compare with the last good run of the same service and agent")
	cmd.Flags().StringVar(&page, "html", "", "file to write the comparison to, as a page that needs nothing else")
	flags.add(cmd)
	return cmd
}

// diff makes the comparison that the arguments ask for.
func (a *app) diff(cmd *cobra.Command, argv []string, flags *diffFlags) (*diff.Report, error) {
	options, err := flags.options()
	if err != nil {
		return nil, err
	}
	if len(argv) == 2 {
		if document, ok := readReport(argv[1]); ok {
			if len(flags.rules) > 0 {
				return nil, usage("--rules: %s is the report of a replay, which had its own rules", argv[1])
			}
			return a.diffReplay(cmd, argv, document)
		}
	}
	first, err := a.tapeArg(cmd, argv[0])
	if err != nil {
		return nil, err
	}
	names := slices.Clone(argv)
	var second *tape.Tape
	if len(argv) == 2 {
		second, err = a.tapeArg(cmd, argv[1])
	} else {
		second = first
		first, err = a.lastGood(cmd.Context(), second)
		names = []string{"the last good run", argv[0]}
	}
	if err != nil {
		return nil, err
	}
	report := diff.Tapes(first, second, options...)
	report.A.Name, report.B.Name = names[0], names[1]
	return report, nil
}

// readReport reads a file that is the report of a replay; ok is false for anything
// else.
func readReport(path string) (document []byte, ok bool) {
	const most = 64 << 20
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > most {
		return nil, false
	}
	document, err = os.ReadFile(path)
	return document, err == nil && diff.IsReport(document)
}

func (a *app) diffReplay(cmd *cobra.Command, argv []string, document []byte) (*diff.Report, error) {
	run, err := diff.ParseReport(document)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", argv[1], err)
	}
	t, err := a.tapeArg(cmd, argv[0])
	if err != nil {
		return nil, err
	}
	report, err := diff.Replayed(t, run)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", argv[1], err)
	}
	report.A.Name, report.B.Name = argv[0], argv[1]
	return report, nil
}
