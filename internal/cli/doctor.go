package cli

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

func (a *app) doctorCmd() *cobra.Command {
	var asJSON, failExpired bool
	var kinds []string
	var bodies string
	cmd := &cobra.Command{
		Use:   "doctor FILE|ID",
		Short: "Say whether a tape can be replayed, and what to switch on if not",
		Long: `Say of each step of a tape whether a strict replay would find it, how much of it
is left, why something is missing, and the switch of the instrumentation that
would have kept it. The argument is a file, - for standard input, or a trace id,
which is looked up with --server or --store. Exit code 1 when a strict replay
would meet a gap, or calls may be missing on the tape altogether.`,
		Args: args(1, 1),
		RunE: func(cmd *cobra.Command, argv []string) error {
			only, err := kindsFlag(kinds)
			if err != nil {
				return err
			}
			t, err := a.tapeArg(cmd, argv[0])
			if err != nil {
				return err
			}
			fetch, err := a.fetchBodies(cmd.Context(), argv[0], bodies)
			if err != nil {
				return err
			}
			report := examine(t, fetch, only, failExpired)
			if asJSON {
				err = a.printJSON(report)
			} else {
				err = a.print(a.terminal(a.Out).doctorText(&report))
			}
			if err == nil && !report.Replays {
				err = no("a strict replay of %s would meet %s", argv[0], count(report.Gaps(), "gap"))
			}
			return err
		},
	}
	jsonFlag(cmd, &asJSON)
	bodiesFlag(cmd, &bodies)
	cmd.Flags().StringSliceVar(&kinds, "kind", nil, "examine records of these kinds only (tool, model, clock, random), as tape run --kind replays them")
	cmd.Flags().BoolVar(&failExpired, "fail-expired", false, "records past their expiry are gaps")
	return cmd
}

// kindsFlag reads the kinds of a flag.
func kindsFlag(names []string) ([]tape.Kind, error) {
	var kinds []tape.Kind
	for _, name := range names {
		kind := tape.Kind(name)
		if !slices.Contains(tape.Kinds, kind) {
			return nil, usage("--kind: %q is none of %q", name, tape.Kinds)
		}
		kinds = append(kinds, kind)
	}
	return kinds, nil
}

// examine examines a tape, and tries whether a replay of it would begin.
func examine(t *tape.Tape, fetch func(tape.Body) ([]byte, error), kinds []tape.Kind, failExpired bool) doctor.Report {
	options := []doctor.Option{doctor.Kinds(kinds...), doctor.Bodies(fetch)}
	if failExpired {
		options = append(options, doctor.ExpiredAsGap())
	}
	report := doctor.Examine(t, options...)
	if _, err := replay.New(t, replay.WithKinds(kinds...), replay.WithSurrogateKey(os.Getenv(surrogateKeyEnv))); err != nil {
		report.Refuse(err)
	}
	return report
}

// doctorText renders a report: the verdict, a line a step, and the reasons.
func (t terminal) doctorText(r *doctor.Report) string {
	var b strings.Builder
	if r.TraceID != "" {
		fmt.Fprintf(&b, "run %s  %s\n", clean(r.TraceID), clean(string(r.Outcome)))
	}
	verdict := t.paint(green, "replays")
	if !r.Replays {
		verdict = t.paint(red, "does not replay") + ": " + count(r.Gaps(), "gap") + " in " + count(len(r.Records), "step")
	}
	b.WriteString(verdict + "\n")
	for _, k := range r.Kinds {
		fmt.Fprintf(&b, "  %-6s %s\n", clean(string(k.Kind)), gradeText(k))
	}
	if len(r.Records) > 0 {
		b.WriteString("\n" + t.doctorTable(r.Records))
	}
	if lacks := doctorGaps(r); len(lacks) > 0 {
		b.WriteString("\n")
		for _, line := range gapTexts(lacks) {
			b.WriteString("  " + clean(line) + "\n")
		}
	}
	return b.String()
}

// gradeText counts the records of a kind by grade: "3: 2 exact, 1 absent".
func gradeText(k doctor.Kind) string {
	var parts []string
	for _, g := range doctor.Grades {
		if n := k.Grades[g]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, g))
		}
	}
	return fmt.Sprintf("%d: %s", k.Records, strings.Join(parts, ", "))
}

func (t terminal) doctorTable(records []doctor.Record) string {
	rows := make([][]cell, len(records))
	for i, r := range records {
		answer, colour := "answered", ""
		switch parts := findingParts(r.Findings); {
		case !r.Replays:
			answer, colour = "gap: "+parts, red
		case parts != "":
			answer, colour = "answered, with a note on "+parts, yellow
		}
		rows[i] = []cell{{fmt.Sprint(r.Seq), ""}, {string(r.Kind), ""}, {r.Tool, ""}, {string(r.Fidelity), ""}, {answer, colour}}
	}
	return t.table([]column{{title: "step", right: true}, {title: "kind"}, {title: "tool", share: 1}, {title: "grade"}, {title: "strict replay"}}, rows)
}

// findingParts names the parts of a record that something is wrong with.
func findingParts(findings []doctor.Finding) string {
	var parts []string
	for _, f := range findings {
		if !slices.Contains(parts, f.What) {
			parts = append(parts, f.What)
		}
	}
	return strings.Join(parts, ", ")
}

// doctorGaps lists all findings as gaps, so that what many steps lack for one
// reason is said once.
func doctorGaps(r *doctor.Report) []tape.Gap {
	var out []tape.Gap
	add := func(seq int, findings []doctor.Finding) {
		for _, f := range findings {
			out = append(out, tape.Gap{Seq: seq, What: f.What, Why: f.Why, Fix: f.Fix})
		}
	}
	for _, rec := range r.Records {
		add(rec.Seq, rec.Findings)
	}
	add(0, r.Run)
	return out
}
