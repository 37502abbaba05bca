package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/internal/suggest"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/replay/rules"
)

// rulesFlag adds --rules, for every verb that replays or compares.
func rulesFlag(cmd *cobra.Command, to *[]string) {
	cmd.Flags().StringArrayVar(to, "rules", nil, "file with rules by which calls may differ from records (docs/replay-rules.md); may be given again")
}

// readRulesFlag reads the files of --rules as one policy, the rules of the first file
// first.
func readRulesFlag(files []string) (*rules.Policy, error) {
	all := &rules.Policy{}
	for _, file := range files {
		policy, err := rules.ReadFile(file)
		if err != nil {
			return nil, usage("--rules: %w", err)
		}
		all.Add(policy)
	}
	return all, nil
}

// rulesSet makes the rules of --rules ready.
func rulesSet(files []string) (*rules.Set, error) {
	all, err := readRulesFlag(files)
	if err != nil {
		return nil, err
	}
	set, err := rules.Compile(all)
	if err != nil {
		return nil, usage("--rules: %w", err)
	}
	return set, nil
}

func (a *app) rulesCmd() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rules",
		Short: "Propose rules for a replay policy",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return notAVerb("rules " + args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.rulesSuggestCmd())
	return cmd
}

func (a *app) rulesSuggestCmd() *cobra.Command {
	var out string
	var least int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "suggest REPORT...",
		Short: "Propose rules that explain drifts which occur again and again",
		Long: `Read reports that tape run --report wrote, and print a policy file that would explain
the drifts in them: for each place the narrowest rule that takes every pair of values
seen there for the same. Nothing is applied: read it, keep what is right, and give it
to tape run --rules. Places that no rule explains are named in comments.`,
		Example: `  tape run failed.jsonl --report r1.json -- python agent.py
  tape rules suggest r1.json r2.json -o rules.yaml`,
		Args: args(1, -1),
		RunE: func(_ *cobra.Command, argv []string) error {
			if least < 1 {
				return usage("--min: want at least 1")
			}
			var sources []suggest.Source
			for _, path := range argv {
				report, err := a.readReport(path)
				if err != nil {
					return err
				}
				sources = append(sources, suggest.Source{Name: path, Report: report})
			}
			places := suggest.From(sources, least)
			return a.output(out, func(w io.Writer) error {
				text := suggest.Policy(places, len(sources))
				if asJSON {
					var err error
					if text, err = marshal(struct {
						Places []suggest.Place `json:"places"`
					}{append([]suggest.Place{}, places...)}); err != nil {
						return err
					}
				}
				_, err := w.Write(text)
				return err
			})
		},
	}
	outFlag(cmd, &out)
	cmd.Flags().IntVar(&least, "min", 2, "propose a rule for what drifted at least this often")
	jsonFlag(cmd, &asJSON)
	return cmd
}

// readReport reads the report of a replay.
func (a *app) readReport(path string) (*replay.Report, error) {
	name, in := path, a.In
	if path == "-" {
		name = "standard input"
	} else {
		file, err := os.Open(path)
		if err != nil {
			return nil, err
		}
		defer func() { _ = file.Close() }()
		in = file
	}
	text, err := io.ReadAll(in)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	report := &replay.Report{}
	if err := json.Unmarshal(text, report); err != nil {
		return nil, fmt.Errorf("%s: no report of a replay: %w", name, err)
	}
	if report.Experiment == "" {
		return nil, fmt.Errorf("%s: %w", name, errNoReport)
	}
	return report, nil
}

var errNoReport = errors.New(`no report of a replay: member "experiment" is missing`)
