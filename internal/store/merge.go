package store

import (
	"cmp"
	"slices"
	"time"

	"github.com/tapedeck/tapedeck/tape"
)

// A run has several rows when several collectors saw a part of it, when it was
// decided again, or when its spans came in several requests. What they come to:
//
//   - A deletion hides all that was decided before it.
//   - Entries with the same time of decision are one decision, delivered again.
//   - A row with the trigger late_failure or asked, one of a run that was held to be
//     compared with, or a kept one without a trigger, speaks of the whole run as far
//     as it is stored: it stands for what was decided before, whose texts fill its
//     gaps and whose counts are its least.
//   - Other rows are decisions about different parts of the run: counts add up,
//     lists are united, the worst outcome and fidelity count.
//   - A run of which a part with calls was not kept is not complete, nor is one of
//     which a part is not.
//   - The stored size is that of the distinct fragments.

// mergeEntries makes the row of a run of its entries, in any order. It reports
// false when the run was deleted after all of them.
func mergeEntries(entries []Entry) (tape.Row, bool) {
	live := alive(entries)
	if len(live) == 0 {
		return tape.Row{}, false
	}
	m := merger{}
	for _, e := range decisions(live) {
		m.add(e)
	}
	for _, e := range live {
		m.fragment(e)
	}
	return m.row(live), true
}

// alive are the entries that no deletion hides, by time.
func alive(entries []Entry) []*timed {
	var grave time.Time
	for i := range entries {
		if e := &entries[i]; e.Deleted {
			if at := parseTime(e.Decided); at.After(grave) {
				grave = at
			}
		}
	}
	live := make([]*timed, 0, len(entries))
	for i := range entries {
		e := &entries[i]
		if at := parseTime(e.Decided); !e.Deleted && at.After(grave) {
			live = append(live, &timed{Entry: e, at: at})
		}
	}
	slices.SortStableFunc(live, func(a, b *timed) int { return a.at.Compare(b.at) })
	return live
}

type timed struct {
	*Entry
	at time.Time
}

// decisions leaves out further fragments and what was delivered again. Of one
// decision that is there twice, a kept row counts, then the one that knew more
// spans, then the later written.
func decisions(live []*timed) []*timed {
	var list []*timed
	for _, e := range live {
		if e.Part {
			continue
		}
		if n := len(list); n > 0 && list[n-1].at.Equal(e.at) {
			if before := list[n-1]; e.Kept && !before.Kept || e.Kept == before.Kept && e.Spans >= before.Spans {
				list[n-1] = e
			}
			continue
		}
		list = append(list, e)
	}
	return list
}

type merger struct {
	merged tape.Row
	any    bool
	// whole is the time of the last row that knew the size of all that is stored.
	whole     time.Time
	fragments map[string]int64
}

// speaksForAll reports whether the row was made of everything known of the run.
func speaksForAll(row *tape.Row) bool {
	if row.KeptBecause == tape.KeptLastSuccess {
		// It was summarised when it ended, and all of it was kept later.
		return true
	}
	switch row.Trigger {
	case tape.TriggerLateFailure, tape.TriggerAsked:
		return true
	case "":
		return row.Kept
	default:
		return false
	}
}

func (m *merger) add(e *timed) {
	row := e.Row
	if e.Fragment != "" {
		row.Bytes = 0
	} else if row.Trigger == "" && row.Kept {
		m.whole = e.at
	}
	switch {
	case !m.any:
		m.merged, m.any = row, true
	case speaksForAll(&row):
		m.merged = supersede(m.merged, row)
	default:
		m.merged = join(m.merged, row)
	}
}

func (m *merger) fragment(e *timed) {
	if e.Fragment == "" || e.at.Before(m.whole) {
		return
	}
	if m.fragments == nil {
		m.fragments = map[string]int64{}
	}
	m.fragments[e.Fragment] = e.Bytes
}

// row adds up the fragments. A run of which only further fragments are known is
// as one of them says.
func (m *merger) row(live []*timed) tape.Row {
	if !m.any {
		m.merged = live[len(live)-1].Row
		m.merged.Bytes = 0
	}
	for _, e := range live {
		if e.Part && e.Kept {
			m.merged.Kept = true
			m.merged.Class = cmp.Or(m.merged.Class, e.Class)
		}
	}
	for _, n := range m.fragments {
		m.merged.Bytes += n
	}
	return m.merged
}

// supersede is a decision about all of a run, made after others.
func supersede(before, row tape.Row) tape.Row {
	fill(&row, &before)
	counts(&row, &before, func(a, b int64) int64 { return max(a, b) })
	if row.Cost == nil || before.Cost != nil && *before.Cost > *row.Cost {
		row.Cost = before.Cost
	}
	row.Kept = row.Kept || before.Kept
	return row
}

// join is what two decisions about different parts of a run come to. Who and what
// the run was is said by the kept one, then by the one that ended worse, then by
// the newer.
func join(older, newer tape.Row) tape.Row {
	row, other := newer, older
	if better(&older, &newer) {
		row, other = older, newer
	}
	if badness[other.Outcome] > badness[row.Outcome] {
		row.Outcome = other.Outcome
		row.FailureClass, row.FailureReason, row.FailingTool = other.FailureClass, other.FailureReason, other.FailingTool
	}
	fill(&row, &other)
	counts(&row, &other, func(a, b int64) int64 { return a + b })
	if row.Cost != nil && other.Cost != nil {
		sum := *row.Cost + *other.Cost
		row.Cost = &sum
	} else if row.Cost == nil {
		row.Cost = other.Cost
	}
	row.Complete = bothComplete(&row, &other)
	if fidelity[other.Fidelity] > fidelity[row.Fidelity] {
		row.Fidelity = other.Fidelity
	}
	row.Tools = union(older.Tools, newer.Tools)
	row.Models = union(older.Models, newer.Models)
	row.Start, row.DurationMS = span(&older, &newer)
	row.Decided = newer.Decided
	return row
}

// bothComplete is nil where neither says anything.
func bothComplete(a, b *tape.Row) *bool {
	if a.Kept != b.Kept && (!a.Kept && a.Steps > 0 || !b.Kept && b.Steps > 0) {
		return new(false)
	}
	switch {
	case a.Complete == nil:
		return b.Complete
	case b.Complete == nil:
		return a.Complete
	default:
		return new(*a.Complete && *b.Complete)
	}
}

// better reports whether the older row says who the run was.
func better(older, newer *tape.Row) bool {
	if older.Kept != newer.Kept {
		return older.Kept
	}
	return badness[older.Outcome] > badness[newer.Outcome]
}

var badness = map[tape.Outcome]int{
	tape.OutcomeSucceeded: 1, tape.OutcomeRecovered: 2, tape.OutcomeIncomplete: 3, tape.OutcomeFailed: 4,
}

var fidelity = map[tape.Fidelity]int{
	tape.FidelityExact: 1, tape.FidelityRebuilt: 2, tape.FidelitySynthesised: 3,
	tape.FidelityRedacted: 4, tape.FidelityTruncated: 5, tape.FidelityAbsent: 6,
}

// fill takes over texts and lists that a row lacks.
func fill(row, from *tape.Row) {
	row.ConversationID = cmp.Or(row.ConversationID, from.ConversationID)
	row.Service = cmp.Or(row.Service, from.Service)
	row.Agent = cmp.Or(row.Agent, from.Agent)
	row.Environment = cmp.Or(row.Environment, from.Environment)
	row.AgentVersion = cmp.Or(row.AgentVersion, from.AgentVersion)
	row.CodeVersion = cmp.Or(row.CodeVersion, from.CodeVersion)
	row.Tenant = cmp.Or(row.Tenant, from.Tenant)
	row.Class = cmp.Or(row.Class, from.Class)
	row.Fidelity = cmp.Or(row.Fidelity, from.Fidelity)
	row.Start = cmp.Or(row.Start, from.Start)
	if len(row.Tools) == 0 {
		row.Tools = from.Tools
	}
	if len(row.Models) == 0 {
		row.Models = from.Models
	}
}

func counts(row, other *tape.Row, both func(a, b int64) int64) {
	for _, n := range []struct{ to, from *int }{
		{&row.Steps, &other.Steps}, {&row.Spans, &other.Spans}, {&row.TruncatedSpans, &other.TruncatedSpans},
		{&row.ToolCalls, &other.ToolCalls}, {&row.ModelCalls, &other.ModelCalls}, {&row.FailedCalls, &other.FailedCalls},
	} {
		*n.to = int(both(int64(*n.to), int64(*n.from)))
	}
	row.InputTokens = both(row.InputTokens, other.InputTokens)
	row.OutputTokens = both(row.OutputTokens, other.OutputTokens)
	row.Bytes = both(row.Bytes, other.Bytes)
}

func union(a, b []string) []string {
	if len(a) == 0 {
		return b
	}
	all := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// span is from the first start to the last end.
func span(a, b *tape.Row) (start string, ms float64) {
	startA, startB := parseTime(a.Start), parseTime(b.Start)
	if startA.IsZero() || startB.IsZero() {
		return cmp.Or(a.Start, b.Start), max(a.DurationMS, b.DurationMS)
	}
	first, second := a, b
	gap := startB.Sub(startA)
	if gap < 0 {
		first, second, gap = b, a, -gap
	}
	return first.Start, max(first.DurationMS, float64(gap)/float64(time.Millisecond)+second.DurationMS)
}
