package cli

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/tape"
)

// timeline renders a tape for people: what ran, each step on a line, how it
// ended and what is missing.
func (t terminal) timeline(tp *tape.Tape, full bool) string {
	m := tp.Manifest
	if m == nil {
		m = &tape.Manifest{Complete: true}
	}
	var b strings.Builder
	b.WriteString(t.header(m, tp.Records))
	if len(tp.Records) > 0 {
		b.WriteByte('\n')
		if full {
			b.WriteString(t.wholeSteps(tp.Manifest, tp.Records, failingStep(tp)))
		} else {
			b.WriteString(t.steps(tp.Manifest, tp.Records, failingStep(tp)))
		}
	}
	b.WriteString(t.footer(m, tp.Records))
	return b.String()
}

// failingStep is the record to mark: the one that the manifest blames, else the
// last that failed. 0 is none.
func failingStep(tp *tape.Tape) int {
	if m := tp.Manifest; m != nil && m.Failure != nil && m.Failure.Seq > 0 {
		return m.Failure.Seq
	}
	if m := tp.Manifest; m != nil && m.Outcome == tape.OutcomeSucceeded {
		return 0
	}
	seq := 0
	for i := range tp.Records {
		if tp.Records[i].Failed() {
			seq = tp.Records[i].Seq
		}
	}
	return seq
}

// header says which run this is.
func (t terminal) header(m *tape.Manifest, records []tape.Record) string {
	var b strings.Builder
	title := "tape without a manifest"
	if m.Tape != "" {
		title = strings.TrimSpace("run " + m.TraceID)
	}
	b.WriteString(t.paint(bold, clean(title)))
	if m.Outcome != "" {
		b.WriteString("  " + t.paint(outcomeColour(m.Outcome), clean(string(m.Outcome))))
	}
	if m.Trigger != "" {
		b.WriteString(" (" + clean(string(m.Trigger)) + ")")
	}
	b.WriteByte('\n')
	facts := pairs("service", m.Service, "agent", strings.TrimSpace(m.Agent+" "+m.AgentVersion),
		"code", m.CodeVersion, "environment", m.Environment, "conversation", m.ConversationID)
	if facts != "" {
		b.WriteString(facts + "\n")
	}
	b.WriteString(span(m.Started, m.Ended) + tally(records) + "\n")
	return b.String()
}

// pairs lists names and values, leaving out what is not known.
func pairs(namesAndValues ...string) string {
	var out []string
	for i := 0; i+1 < len(namesAndValues); i += 2 {
		if v := namesAndValues[i+1]; v != "" {
			out = append(out, namesAndValues[i]+" "+clean(v))
		}
	}
	return strings.Join(out, ", ")
}

// span says when something ran and for how long.
func span(started, ended string) string {
	from, err := time.Parse(time.RFC3339Nano, started)
	if err != nil {
		return ""
	}
	out := from.UTC().Format("2006-01-02 15:04:05.000 UTC")
	if to, err := time.Parse(time.RFC3339Nano, ended); err == nil && !to.Before(from) {
		out += ", " + duration(to.Sub(from))
	}
	return out + ", "
}

// duration is a time span with three digits or so.
func duration(d time.Duration) string {
	switch {
	case d < time.Second:
		return milliseconds(float64(d)/float64(time.Millisecond)) + " ms"
	case d < time.Minute:
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return d.Round(time.Second).String()
}

// tally counts records by kind.
func tally(records []tape.Record) string {
	kinds := map[tape.Kind]int{}
	failed := 0
	for i := range records {
		kinds[records[i].KindOf()]++
		if records[i].Failed() {
			failed++
		}
	}
	var parts []string
	for _, k := range []tape.Kind{tape.KindTool, tape.KindModel, tape.KindClock, tape.KindRandom} {
		if kinds[k] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", kinds[k], k))
		}
	}
	if failed > 0 {
		parts = append(parts, fmt.Sprintf("%d failed", failed))
	}
	out := count(len(records), "step")
	if len(parts) > 0 {
		out += ": " + strings.Join(parts, ", ")
	}
	return out
}

var stepColumns = []column{
	{title: ""}, {title: "step", right: true}, {title: "kind"}, {title: "tool", share: 3}, {title: "outcome"},
	{title: "ms", right: true}, {title: "args", share: 4}, {title: "result", share: 4},
}

// steps is the table of the timeline.
func (t terminal) steps(m *tape.Manifest, records []tape.Record, failing int) string {
	open := unanswered(m)
	rows := make([][]cell, len(records))
	for i := range records {
		r := &records[i]
		outcome, colour := stepOutcome(r, open[r.Seq])
		mark := cell{}
		if r.Seq == failing && failing > 0 {
			mark = cell{">", red}
		}
		rows[i] = []cell{
			mark, {text: strconv.Itoa(r.Seq)}, {text: string(r.KindOf()), colour: faint}, {text: toolName(r)},
			{outcome, colour}, {text: milliseconds(r.MS)}, {text: briefArgs(r)}, {text: briefResult(r)},
		}
	}
	return t.table(stepColumns, rows)
}

// wholeSteps shows each step with all of its arguments and result.
func (t terminal) wholeSteps(m *tape.Manifest, records []tape.Record, failing int) string {
	var b strings.Builder
	open := unanswered(m)
	for i := range records {
		r := &records[i]
		outcome, colour := stepOutcome(r, open[r.Seq])
		mark := " "
		if r.Seq == failing && failing > 0 {
			mark = t.paint(red, ">")
		}
		fmt.Fprintf(&b, "%s %s  %s  %s  %s ms\n", mark, t.paint(bold, fmt.Sprintf("step %d", r.Seq)),
			clean(toolName(r)), t.paint(colour, outcome), milliseconds(r.MS))
		for _, part := range []struct{ name, text string }{
			{"args", orBody(r, true, r.Args)}, {"args_raw", r.ArgsRaw}, {"result", orBody(r, false, r.Result)},
		} {
			if part.text != "" {
				fmt.Fprintf(&b, "    %-8s  %s\n", part.name, clean(part.text))
			}
		}
		if r.Error != nil {
			fmt.Fprintf(&b, "    %-8s  %s\n", "error", t.paint(red, clean(briefError(r))))
		}
	}
	return b.String()
}

func orBody(r *tape.Record, args bool, raw json.RawMessage) string {
	if b := bodyOf(r, args); b != "" {
		return b
	}
	return compact(raw)
}

// toolName is the tool, and for a model call the model that was asked.
func toolName(r *tape.Record) string {
	if r.KindOf() == tape.KindModel && r.Model != "" {
		return r.Tool + " " + r.Model
	}
	return r.Tool
}

// stepOutcome says how a step went, or what keeps it from being replayed.
func stepOutcome(r *tape.Record, unanswered bool) (text, colour string) {
	switch {
	case r.Failed():
		return "failed", red
	case unanswered:
		return "unanswered", yellow
	case r.Fidelity == tape.FidelityAbsent, r.Fidelity == tape.FidelityTruncated:
		return "ok, " + string(r.Fidelity), yellow
	}
	return "ok", green
}

// unanswered are the calls that a model asked for and nothing answered.
func unanswered(m *tape.Manifest) map[int]bool {
	out := map[int]bool{}
	if m != nil {
		for _, g := range m.Gaps {
			if g.Why == dialect.Unanswered {
				out[g.Seq] = true
			}
		}
	}
	return out
}

// milliseconds shows a wall time as exactly as it is worth.
func milliseconds(ms float64) string {
	if ms < 10 {
		ms = math.Round(ms*100) / 100
	} else {
		ms = math.Round(ms)
	}
	return strconv.FormatFloat(ms, 'f', -1, 64)
}

// footer says how the run ended and what the tape lacks.
func (t terminal) footer(m *tape.Manifest, records []tape.Record) string {
	var b strings.Builder
	if f := m.Failure; f != nil {
		where := ""
		if f.Seq > 0 {
			where = fmt.Sprintf("step %d: ", f.Seq)
			for i := range records {
				if records[i].Seq == f.Seq {
					where = fmt.Sprintf("step %d, %s: ", f.Seq, clean(records[i].Tool))
				}
			}
		}
		why := strings.Join(strings.Fields(f.Class+" "+f.Reason), " ")
		if f.Class != "" && f.Reason != "" {
			why = f.Class + ": " + oneLine(f.Reason)
		}
		b.WriteString("\n" + t.paint(red, "failure") + "  " + where + clean(why) + "\n")
		for _, e := range f.Evidence {
			b.WriteString("         " + clean(oneLine(e)) + "\n")
		}
	}
	if len(m.Gaps) > 0 || !m.Complete {
		b.WriteString("\n" + t.paint(yellow, "gaps") + "     " + gapTitle(m) + "\n")
		for _, g := range gapTexts(m.Gaps) {
			b.WriteString("         " + clean(g) + "\n")
		}
	}
	return b.String()
}

func outcomeColour(o tape.Outcome) string {
	switch o {
	case tape.OutcomeFailed:
		return red
	case tape.OutcomeSucceeded:
		return green
	}
	return yellow
}
