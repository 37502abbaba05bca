package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tapedeck/tapedeck/internal/diff"
)

// maxDiffSteps bounds the steps that are shown to people; --json has them all.
const maxDiffSteps = 200

// diffText renders a comparison: what was compared, where it parts, and each step
// that differs.
func (t terminal) diffText(r *diff.Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "A  %s\n", sideText(&r.A))
	fmt.Fprintf(&b, "B  %s\n", sideText(&r.B))
	if r.Experiment != "" {
		fmt.Fprintf(&b, "experiment %s\n", clean(string(r.Experiment)))
	}
	verdict := t.paint(green, "no difference")
	if !r.Same {
		verdict = t.paint(red, "they differ")
	}
	c := r.Counts
	fmt.Fprintf(&b, "%s: %d alike, %d changed, %d moved, %d missing, %d added\n", verdict, c.Same, c.Changed, c.Moved, c.Missing, c.Added)
	if c.RenamedIDs > 0 {
		fmt.Fprintf(&b, "note: %s of the model correspond to other ones\n", count(c.RenamedIDs, "id"))
	}
	if c.NotCompared > 0 {
		fmt.Fprintf(&b, "note: %s never captured on one side, and not compared\n", count(c.NotCompared, "part"))
	}
	for _, h := range r.RuleHits {
		fmt.Fprintf(&b, "by rule %s: %d\n", clean(h.Rule), h.Hits)
	}
	for _, claim := range r.Claims {
		fmt.Fprintf(&b, "claim: %s\n", clean(claim.String()))
	}
	if r.First != nil {
		fmt.Fprintf(&b, "first divergence: A %s, B %s\n", refText(r.First.A), refText(r.First.B))
	}
	if len(r.Context) > 0 {
		b.WriteString("\naround the runs\n" + t.changesText(r.Context))
	}
	if len(r.Run) > 0 {
		b.WriteString("\nthe runs as a whole\n" + t.changesText(r.Run))
	}
	for i := range r.Steps {
		if i == maxDiffSteps {
			fmt.Fprintf(&b, "\nand %s more; --json lists all\n", count(len(r.Steps)-i, "step"))
			break
		}
		b.WriteString("\n" + t.diffStep(&r.Steps[i]))
	}
	return b.String()
}

func sideText(s *diff.Side) string {
	text := clean(cmp.Or(s.Name, s.TraceID, "-"))
	if s.TraceID != "" && s.TraceID != s.Name {
		text += "  " + clean(s.TraceID)
	}
	text += "  " + count(s.Records, "step")
	if s.MS > 0 {
		text += ", " + millis(s.MS)
	}
	if facts := pairs("outcome", string(s.Outcome), "code", s.CodeVersion); facts != "" {
		text += ", " + clean(facts)
	}
	return text
}

func refText(r *diff.Ref) string {
	switch {
	case r == nil:
		return "had ended"
	case r.Seq == 0:
		return clean(r.Tool)
	}
	return fmt.Sprintf("step %d %s", r.Seq, clean(r.Tool))
}

var statusLooks = map[diff.Status]struct{ sign, colour string }{
	diff.Added:   {"+", green},
	diff.Missing: {"-", red},
	diff.Moved:   {">", yellow},
	diff.Changed: {"~", yellow},
}

func (t terminal) diffStep(s *diff.Step) string {
	look := statusLooks[s.Status]
	var where string
	switch {
	case s.A == nil:
		where = "B " + refText(s.B)
	case s.B == nil || s.B.Seq == 0:
		where = "A " + refText(s.A)
	case s.A.Seq == s.B.Seq && s.A.Tool == s.B.Tool:
		where = refText(s.A)
	default:
		where = fmt.Sprintf("A %s, B %s", refText(s.A), refText(s.B))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", t.paint(look.colour, look.sign+" "+string(s.Status)), where)
	if s.Message != "" {
		fmt.Fprintf(&b, "    %s\n", clip(clean(oneLine(s.Message)), max(20, t.width-4)))
	}
	b.WriteString(t.changesText(s.Changes))
	if s.More > 0 {
		fmt.Fprintf(&b, "    and %d more\n", s.More)
	}
	return b.String()
}

// changesText shows each change on a line where it fits, else on three.
func (t terminal) changesText(list []diff.Change) string {
	var b strings.Builder
	for i := range list {
		c := &list[i]
		place, was, is := clean(c.Place()), valueText(c.A), valueText(c.B)
		line := fmt.Sprintf("    %s: %s -> %s", place, was, is)
		if cells(line) <= t.width {
			fmt.Fprintf(&b, "    %s: %s -> %s\n", place, t.paint(red, was), t.paint(green, is))
			continue
		}
		was, is = around(was, is)
		room := max(20, t.width-8)
		fmt.Fprintf(&b, "    %s:\n      - %s\n      + %s\n", place, t.paint(red, clip(was, room)), t.paint(green, clip(is, room)))
	}
	return b.String()
}

// around leaves out what two long values begin with alike, but for a little, so that
// the place where they differ is seen.
func around(a, b string) (string, string) {
	const before = 24
	x, y := []rune(a), []rune(b)
	n := 0
	for n < len(x) && n < len(y) && x[n] == y[n] {
		n++
	}
	if n -= before; n <= before {
		return a, b
	}
	return "…" + string(x[n:]), "…" + string(y[n:])
}

func valueText(v []byte) string {
	if v == nil {
		return "(absent)"
	}
	return clean(compact(v))
}
