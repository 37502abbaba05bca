package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tapedeck/tapedeck/internal/regress"
)

var statusWords = map[regress.Status]struct{ word, colour string }{
	regress.Passed: {"ok  ", green},
	regress.Failed: {"FAIL", red},
	regress.Broken: {"ERR ", red},
}

// maxStderrLines is how much of a failing command's standard error people are shown.
const maxStderrLines = 5

// testText renders the run of a set: a line a case, and why those failed that did.
func (t terminal) testText(r *regress.Report, updates []regress.Update) string {
	var b strings.Builder
	width := 0
	for i := range r.Results {
		width = max(width, cells(clean(r.Results[i].Name)))
	}
	for i := range r.Results {
		res := &r.Results[i]
		look := statusWords[res.Status]
		fmt.Fprintf(&b, "%s  %s  %s\n", t.paint(look.colour, look.word), pad(clean(res.Name), width), millis(res.Seconds*1000))
		for _, f := range res.Failures {
			fmt.Fprintf(&b, "      %s\n", clip(clean(oneLine(f.Message)), max(40, 2*t.width)))
		}
		if len(res.Failures) > 0 && res.Errors != "" {
			lines := strings.Split(res.Errors, "\n")
			for _, line := range lines[max(0, len(lines)-maxStderrLines):] {
				fmt.Fprintf(&b, "      %s\n", t.paint(faint, "stderr: "+clip(clean(line), max(40, t.width-14))))
			}
		}
	}
	for _, u := range updates {
		if u.Refused != "" {
			fmt.Fprintf(&b, "not updated: %s: %s\n", clean(u.Expect), clean(oneLine(u.Refused)))
		}
		for _, c := range u.Changes {
			was := "(absent)"
			if c.Was != "" {
				was = fmt.Sprintf("%q", c.Was)
			}
			fmt.Fprintf(&b, "updated: %s: %s: %s -> %q\n", clean(u.Expect), c.Member, was, c.Is)
		}
	}
	verdict := t.paint(green, "passed")
	if !r.Passed {
		verdict = t.paint(red, "not passed")
	}
	c := r.Counts
	fmt.Fprintf(&b, "%s: %s, %d passed, %d failed, %s, in %s\n", verdict, count(c.Cases, "case"), c.Passed, c.Failed, count(c.Errors, "error"), millis(r.Seconds*1000))
	if facts := testFacts(r); facts != "" {
		b.WriteString(facts)
	}
	return b.String()
}

// testFacts says which experiment a run was, and what it says nothing about.
func testFacts(r *regress.Report) string {
	var experiments, blind []string
	for i := range r.Results {
		report := r.Results[i].Report
		if report == nil {
			continue
		}
		if e := string(report.Experiment); !slices.Contains(experiments, e) {
			experiments = append(experiments, e)
		}
		for _, spot := range report.CannotSee {
			if !slices.Contains(blind, spot) {
				blind = append(blind, spot)
			}
		}
	}
	if len(experiments) == 0 {
		return ""
	}
	slices.Sort(experiments)
	return fmt.Sprintf("experiment %s; cannot see: %s\n", strings.Join(experiments, ", "), strings.Join(blind, ", "))
}
