package trim

import (
	"encoding/json"
	"slices"

	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/tape"
)

// member is what a trimmed tape says about itself in its manifest.
const member = "trimmed"

// Subset is a tape of some records of another, given by ascending index. Positions
// stay as they were, so that what is said about a step holds; the order of completion
// is numbered anew; the manifest keeps the gaps of what is there, and says in a member
// of its own how many records there were.
func Subset(t *tape.Tape, keep []int) *tape.Tape {
	out := &tape.Tape{Records: make([]tape.Record, 0, len(keep))}
	there := map[int]bool{}
	for _, i := range keep {
		out.Records = append(out.Records, t.Records[i])
		there[t.Records[i].Seq] = true
	}
	renumberDone(out.Records)
	if t.Manifest == nil {
		return out
	}
	m := *t.Manifest
	m.Gaps = slices.DeleteFunc(slices.Clone(m.Gaps), func(g tape.Gap) bool { return g.Seq > 0 && !there[g.Seq] })
	if m.Failure != nil && m.Failure.Seq > 0 && !there[m.Failure.Seq] {
		m.Failure = nil
	}
	of := len(t.Records)
	m.Extra = slices.Clone(m.Extra)
	if i := slices.IndexFunc(m.Extra, func(e tape.Member) bool { return e.Name == member }); i >= 0 {
		// It was trimmed before: what counts is how many there were at first.
		var before struct {
			From int `json:"from"`
		}
		if json.Unmarshal(m.Extra[i].Value, &before) == nil {
			of = max(of, before.From)
		}
		m.Extra = slices.Delete(m.Extra, i, i+1)
	}
	value, _ := json.Marshal(struct {
		From int `json:"from"`
		To   int `json:"to"`
	}{of, len(keep)})
	m.Extra = append(m.Extra, tape.Member{Name: member, Value: value})
	out.Manifest = &m
	m.Complete = doctor.Complete(out)
	return out
}

// renumberDone closes the holes in the order of completion.
func renumberDone(records []tape.Record) {
	var order []int
	for i := range records {
		if records[i].Done > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return records[a].Done - records[b].Done })
	for n, i := range order {
		records[i].Done = n + 1
	}
}
