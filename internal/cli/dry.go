package cli

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/internal/dry"
	"github.com/tapedeck/tapedeck/internal/policy"
)

func (a *app) dryCmd() *cobra.Command {
	var asJSON, failExpired bool
	var kinds []string
	var tools, rules, bodies string
	var allowed liveFlags
	cmd := &cobra.Command{
		Use:   "dry FILE|ID",
		Short: "Say what a replay would do, before anything starts",
		Long: `Say of each step of a tape whether a replay would answer it from the tape, could
not, or would run it live; whether its arguments fit the tool's schema of then and,
with --tools, of now; and, with --policy, whether the call would be allowed, denied, or
need an approval. A recorded approval is shown and never counts. Nothing runs.

Exit code 1 when a step could not be answered or may not run, arguments do not fit a
schema, a tool is gone, or the policy does not allow a call as it is.`,
		Example: `  tape dry failed.jsonl --tools tools.json --policy policy.yaml
  tape dry failed.jsonl --fork 3 --isolated --allow search`,
		Args: args(1, 1),
		RunE: func(cmd *cobra.Command, argv []string) error {
			options := dry.Options{ExpiredAsGap: failExpired, Fork: allowed.fork, SurrogateKey: os.Getenv(surrogateKeyEnv)}
			var err error
			if options.Kinds, err = kindsFlag(kinds); err != nil {
				return err
			}
			if tools != "" {
				if options.Tools, err = dry.ReadTools(tools); err != nil {
					return err
				}
			}
			if rules != "" {
				if options.Policy, err = policy.ReadFile(rules); err != nil {
					return err
				}
			}
			if allowed.any() {
				live, err := allowed.live()
				if err != nil {
					return err
				}
				options.Live = &live
			}
			t, err := a.tapeArg(cmd, argv[0])
			if err != nil {
				return err
			}
			if options.Bodies, err = a.fetchBodies(cmd.Context(), argv[0], bodies); err != nil {
				return err
			}
			report, err := dry.Run(t, options)
			if err != nil {
				return usage("%w", err)
			}
			if asJSON {
				err = a.printJSON(report)
			} else {
				err = a.print(a.terminal(a.Out).dryText(report, options.Policy != nil))
			}
			if err == nil && !report.Good {
				err = no("a replay of %s would not go through: %s", argv[0], dryProblems(report))
			}
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	bodiesFlag(cmd, &bodies)
	flags := cmd.Flags()
	flags.StringVar(&tools, "tools", "", "file with the tool definitions of now: a list, or as MCP, OpenAI, Anthropic or Gemini write them")
	flags.StringVar(&rules, "policy", "", "file with rules that allow, deny or want an approval (YAML with CEL expressions)")
	flags.StringSliceVar(&kinds, "kind", nil, "look at records of these kinds only (tool, model, clock, random)")
	flags.BoolVar(&failExpired, "fail-expired", false, "records past their expiry are not served")
	allowed.add(cmd)
	return cmd
}

// dryProblems sums up what is wrong.
func dryProblems(r *dry.Report) string {
	var parts []string
	c := r.Counts
	for _, p := range []struct {
		n    int
		what string
	}{
		{c.Nowhere, "not on the tape"}, {c.Refused, "refused to run live"}, {c.MisfitThen, "misfit the schema of then"},
		{c.MisfitNow, "misfit the schema of now"}, {c.Gone, "of tools that are gone"}, {c.Denied, "denied"},
		{c.NeedApproval, "without the approval they need"}, {c.Undecided, "undecided by the policy"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	for _, f := range r.Run {
		if f.Gap {
			parts = append(parts, f.What+" missing")
		}
	}
	return strings.Join(parts, ", ")
}

// dryText renders a report: a table of the steps, and what is to say of some.
func (t terminal) dryText(r *dry.Report, judged bool) string {
	var b strings.Builder
	if r.TraceID != "" {
		fmt.Fprintf(&b, "run %s  %s\n", clean(r.TraceID), clean(string(r.Outcome)))
	}
	c := r.Counts
	fmt.Fprintf(&b, "%s: %d from the tape, %d that it cannot answer, %d live, %d refused\n",
		count(c.Steps, "step"), c.FromTape, c.Nowhere, c.Live, c.Refused)
	if c.Expired+c.Redacted > 0 {
		fmt.Fprintf(&b, "of the answers %d are past their expiry, %d have a redacted value\n", c.Expired, c.Redacted)
	}
	columns := []column{{title: "step", right: true}, {title: "kind"}, {title: "tool", share: 1}, {title: "answer"}, {title: "then"}, {title: "now"}}
	if judged {
		columns = append(columns, column{title: "policy"})
	}
	rows := make([][]cell, len(r.Steps))
	for i := range r.Steps {
		s := &r.Steps[i]
		row := []cell{{fmt.Sprint(s.Seq), ""}, {string(s.Kind), ""}, {s.Tool, ""}, sourceCell(s), checkCell(s.Then), checkCell(s.Now)}
		if judged {
			row = append(row, policyCell(s))
		}
		rows[i] = row
	}
	if len(rows) > 0 {
		b.WriteString("\n" + t.table(columns, rows))
	}
	var remarks strings.Builder
	for i := range r.Steps {
		writeRemarks(&remarks, &r.Steps[i])
	}
	for _, f := range r.Run {
		fmt.Fprintf(&remarks, "  run: %s\n", clean(findingText(f)))
	}
	for _, s := range r.Schemas {
		fmt.Fprintf(&remarks, "  %s: the schema of %s cannot be used: %s\n", clean(s.Tool), s.When, clean(oneLine(s.Why)))
	}
	if remarks.Len() > 0 {
		b.WriteString("\n" + remarks.String())
	}
	return b.String()
}

func findingText(f doctor.Finding) string {
	text := f.What + ": " + f.Why
	if f.Fix != "" {
		text += " (to fix: " + f.Fix + ")"
	}
	return text
}

func sourceCell(s *dry.Step) cell {
	switch s.Source {
	case dry.FromNowhere:
		return cell{"none", red}
	case dry.FromWorld:
		return cell{"live", yellow}
	case dry.Refused:
		return cell{"refused", red}
	}
	if s.Failed {
		return cell{"tape, a failure", ""}
	}
	return cell{"tape", ""}
}

func checkCell(c *dry.Check) cell {
	switch {
	case c == nil:
		return cell{"", ""}
	case c.Status == dry.Fits:
		return cell{"fits", ""}
	case c.Status == dry.NotKnown:
		return cell{"?", faint}
	}
	return cell{string(c.Status), red}
}

func policyCell(s *dry.Step) cell {
	switch {
	case s.Undecided != "":
		return cell{"undecided", red}
	case s.Policy == nil:
		return cell{"", ""}
	case s.Policy.Effect == policy.Allow:
		return cell{"allow", ""}
	}
	return cell{string(s.Policy.Effect), red}
}

// writeRemarks says what the table has no room for.
func writeRemarks(b *strings.Builder, s *dry.Step) {
	say := func(format string, args ...any) {
		fmt.Fprintf(b, "  step %d: %s\n", s.Seq, clean(oneLine(fmt.Sprintf(format, args...))))
	}
	for _, f := range s.Findings {
		say("%s", findingText(f))
	}
	if s.Why != "" {
		say("%s", s.Why)
	}
	for _, c := range []struct {
		when  string
		check *dry.Check
	}{{"then", s.Then}, {"now", s.Now}} {
		if c.check == nil {
			continue
		}
		for _, fault := range c.check.Faults {
			say("the arguments do not fit the schema of %s: %s", c.when, fault)
		}
	}
	if s.Policy != nil {
		for _, reason := range s.Policy.Rules {
			if s.Policy.Effect == policy.Allow {
				continue
			}
			text := reason.Rule
			if reason.Message != "" {
				text += ": " + reason.Message
			}
			if reason.Doubt != "" {
				text += " (could not be decided: " + reason.Doubt + ")"
			}
			say("%s by rule %s", s.Policy.Effect, text)
		}
	}
	if s.Undecided != "" {
		say("the policy cannot judge it: %s", s.Undecided)
	}
	if s.RecordedApproval != "" {
		say("was approved then as %s, which does not count now", s.RecordedApproval)
	}
}
