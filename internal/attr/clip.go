package attr

import (
	"unicode/utf8"

	"github.com/tapedeck/tapedeck/tape"
)

// Bounds of a row, in bytes and entries: the index is read line by line and shown
// in lists, and a summary span is all there is of a run.
const (
	MaxText  = 1024
	maxName  = 256
	maxNames = 256
)

// Clip keeps a row within bounds, whatever an agent wrote into it.
func Clip(row tape.Row) tape.Row {
	for _, text := range []*string{
		&row.ConversationID, &row.Service, &row.Agent, &row.Environment, &row.AgentVersion, &row.CodeVersion, &row.Tenant,
		&row.FailureClass, &row.FailureReason, &row.FailingTool, &row.Start,
	} {
		*text = ClipText(*text, MaxText)
	}
	row.Outcome = tape.Outcome(ClipText(string(row.Outcome), maxName))
	row.Trigger = tape.Trigger(ClipText(string(row.Trigger), maxName))
	row.KeptBecause = tape.Reason(ClipText(string(row.KeptBecause), maxName))
	row.Fidelity = tape.Fidelity(ClipText(string(row.Fidelity), maxName))
	row.Tools, row.Models = clipNames(row.Tools), clipNames(row.Models)
	return row
}

// clipNames leaves the names it is given as they are: they may be shared.
func clipNames(names []string) []string {
	if len(names) == 0 {
		return names
	}
	out := make([]string, min(len(names), maxNames))
	for i := range out {
		out[i] = ClipText(names[i], maxName)
	}
	return out
}

// ClipText cuts a text to limit bytes at the border of a rune and marks the cut.
func ClipText(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	n := limit
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n] + "…"
}
