package cli

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/tapedeck/tapedeck/internal/triage"
)

// maxTriageSteps bounds the differences with a good run that are shown.
const maxTriageSteps = 5

// maxTriageTools bounds the tools that are listed.
const maxTriageTools = 20

// triageText renders a triage, from what was to what is to be done.
func (t terminal) triageText(r *triage.Report) string {
	inner := t
	inner.width -= 2
	var b strings.Builder
	section := func(title, text string) {
		if text != "" {
			fmt.Fprintf(&b, "\n%s\n%s", t.paint(bold, title), text)
		}
	}
	fmt.Fprintf(&b, "run %s  %s  %s\n", clean(cmp.Or(r.Force.TraceID, "without id")), clean(cmp.Or(string(r.Force.Outcome), "outcome unknown")), count(r.Force.Records, "step"))
	section("in force", t.forceText(&r.Force))
	if len(r.Problems) > 0 {
		fmt.Fprintf(&b, "\n%s: %s; tape verify lists them\n", t.paint(red, "the tape does not agree with itself"), count(len(r.Problems), "problem"))
	}
	section("why", indent(inner.attributeText(&r.Why)))
	section("replay", t.triageReplay(r))
	section("last good run", inner.triageGood(r))
	section("tools of now", t.triageTools(r))
	fmt.Fprintf(&b, "\ncannot see: %s\n", strings.Join(r.CannotSee, ", "))
	if r.Saved != nil {
		fmt.Fprintf(&b, "saved: %s, with %s\n", clean(r.Saved.Tape), clean(r.Saved.Expect))
	}
	var next strings.Builder
	for _, n := range r.Next {
		fmt.Fprintf(&next, "  %s\n      %s\n", clean(n.Command), t.paint(faint, n.Why))
	}
	section("next", next.String())
	return b.String()
}

func indent(text string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := range lines {
		if lines[i] != "" {
			lines[i] = "  " + lines[i]
		}
	}
	return strings.Join(lines, "\n") + "\n"
}

func (t terminal) forceText(f *triage.Force) string {
	var b strings.Builder
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(&b, "  %-10s %s\n", name, clip(clean(oneLine(value)), max(20, t.width-13)))
		}
	}
	line("service", strings.TrimSpace(f.Service+" "+f.Environment))
	line("agent", strings.TrimSpace(f.Agent+" "+f.AgentVersion))
	line("code", f.CodeVersion)
	line("models", strings.Join(f.Models, ", "))
	for _, p := range f.Prompts {
		text := p.Version
		if p.SHA256 != "" {
			text = strings.TrimSpace(text + " sha256:" + p.SHA256[:12])
		}
		line("prompt", fmt.Sprintf("%s, from step %d", text, p.Seq))
	}
	for i, tool := range f.Tools {
		if i == maxTriageTools {
			line("", fmt.Sprintf("and %s more", count(len(f.Tools)-i, "tool")))
			break
		}
		line("tool", strings.TrimSpace(fmt.Sprintf("%s  %s  %s", tool.Name, count(tool.Calls, "call"), clip(tool.SchemaVersion, 20))))
	}
	line("policy", strings.Join(f.Policies, ", "))
	line("approvals", strings.Join(f.Approvals, ", "))
	if f.Approvals != nil {
		line("", "recorded approvals are shown and never count")
	}
	line("redaction", f.Redaction)
	for _, c := range f.Callers {
		line("caller", string(c))
	}
	return b.String()
}

// triageReplay says what would be, or was, answered from the tape.
func (t terminal) triageReplay(r *triage.Report) string {
	var b strings.Builder
	c := r.Dry.Counts
	verdict := t.paint(green, "every step is answered")
	if !r.Replays() {
		verdict = t.paint(red, "not every step is answered")
	}
	fmt.Fprintf(&b, "  dry: %s: %d of %d from the tape\n", verdict, c.FromTape, c.Steps)
	for _, n := range []struct {
		n    int
		text string
	}{
		{c.MisfitThen, "arguments do not fit the schema of then"},
		{c.MisfitNow, "arguments do not fit the schema of now"},
		{c.Gone, "of tools that are no more"},
		{c.Denied, "denied by the policy"},
		{c.NeedApproval, "in need of an approval"},
		{c.Undecided, "that the policy cannot judge"},
		{c.Expired, "with an answer past its expiry"},
		{c.Redacted, "with a placeholder in the answer"},
	} {
		if n.n > 0 {
			fmt.Fprintf(&b, "    %s: %s\n", count(n.n, "call"), n.text)
		}
	}
	for i := range r.Dry.Steps {
		s := &r.Dry.Steps[i]
		if s.Now != nil && len(s.Now.Faults) > 0 {
			fmt.Fprintf(&b, "    step %d %s: now %s\n", s.Seq, clean(s.Tool), clean(strings.Join(s.Now.Faults, "; ")))
		}
	}
	for _, f := range r.Dry.Run {
		fmt.Fprintf(&b, "    %s: %s\n", clean(f.What), clean(f.Why))
	}
	m := r.Mock
	if m == nil {
		b.WriteString("  mock: no command was given\n")
		return b.String()
	}
	end := fmt.Sprintf("exit code %d", m.ExitCode)
	if m.TimedOut {
		end = "ended for taking too long"
	}
	fmt.Fprintf(&b, "  mock: %s, %s\n", clean(strings.Join(m.Command, " ")), end)
	for line := range strings.Lines(m.Report.Text()) {
		if !strings.HasPrefix(line, "  cannot see:") {
			fmt.Fprintf(&b, "    %s\n", clean(strings.TrimRight(line, "\n")))
		}
	}
	if m.Answer != "" {
		fmt.Fprintf(&b, "    answer: %s\n", clip(clean(oneLine(m.Answer)), max(20, t.width-13)))
	}
	return b.String()
}

func (t terminal) triageGood(r *triage.Report) string {
	if r.Good == nil {
		if r.NoGood == "" {
			return ""
		}
		return "  " + clean(r.NoGood) + "\n"
	}
	short := *r.Good
	left := len(short.Steps) - maxTriageSteps
	if left > 0 {
		short.Steps = short.Steps[:maxTriageSteps]
	}
	text := indent(t.diffText(&short))
	if left > 0 {
		text += fmt.Sprintf("  and %s more; tape diff shows all\n", count(left, "step"))
	}
	return text
}

func (t terminal) triageTools(r *triage.Report) string {
	switch {
	case !r.ToolsNow:
		return "  not known: --tools names a file with them\n"
	case len(r.Tools) == 0:
		return "  as they were\n"
	}
	shown := r.Tools[:min(len(r.Tools), 20)]
	text := t.changesText(shown)
	if more := len(r.Tools) - len(shown); more > 0 {
		text += fmt.Sprintf("    and %d more\n", more)
	}
	return text
}
