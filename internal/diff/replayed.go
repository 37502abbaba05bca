package diff

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// ErrOtherTape is a report that is not about the tape it is compared with.
var ErrOtherTape = errors.New("the report is about another tape")

// IsReport tells the JSON report of a replay from a tape.
func IsReport(document []byte) bool {
	document = bytes.TrimSpace(document)
	if len(document) == 0 || document[0] != '{' {
		return false
	}
	var head struct {
		Tape  json.RawMessage `json:"tape"`
		Stats json.RawMessage `json:"stats"`
	}
	return json.Unmarshal(document, &head) == nil && len(head.Stats) > 0 && len(head.Tape) > 0 && head.Tape[0] == '{'
}

// ParseReport reads the JSON report of a replay.
func ParseReport(document []byte) (*replay.Report, error) {
	r := &replay.Report{}
	if err := json.Unmarshal(document, r); err != nil {
		return nil, fmt.Errorf("not the report of a replay: %w", err)
	}
	return r, nil
}

// Replayed compares a tape with the report of a replay of it: calls that drifted are
// changed, calls that the tape did not answer are added, records that were never
// asked for are missing. A report names the first 100 of each; what it left out is
// counted. The error is [ErrOtherTape].
func Replayed(t *tape.Tape, run *replay.Report) (*Report, error) {
	if m := t.Manifest; m != nil && m.TraceID != "" && run.Tape.ID != "" && m.TraceID != run.Tape.ID {
		return nil, fmt.Errorf("%w: %s, the tape is %s", ErrOtherTape, run.Tape.ID, m.TraceID)
	}
	c := &comparison{room: maxValues}
	r := &Report{RuleHits: run.RuleHits, Claims: run.Claims, Experiment: run.Experiment, Policy: Policy{Kinds: run.Policy.Kinds}, Steps: []Step{}}
	c.policy = r.Policy
	records := c.records(t)
	r.A = side(t, records)
	r.B = Side{TraceID: run.Tape.ID, CodeVersion: run.CodeVersion, Records: run.Stats.Steps}
	at := map[int]*tape.Record{}
	for _, rec := range records {
		at[rec.Seq] = rec
	}
	ref := func(seq int, kind tape.Kind, tool, key string) *Ref {
		if rec := at[seq]; rec != nil {
			return refOf(rec)
		}
		return &Ref{Seq: seq, Kind: kind, Tool: tool, Key: key}
	}
	drifted := map[int]bool{}
	for i := range run.Events {
		e := &run.Events[i]
		live := &Ref{Kind: e.Kind, Tool: e.Tool, Key: e.Key}
		step := Step{Status: Added, B: live, Message: e.Message}
		switch e.Verdict {
		case replay.VerdictDrift, replay.VerdictGap:
			step.Status, step.A = Changed, ref(e.Seq, e.Kind, e.Tool, e.Expected)
			drifted[e.Seq] = true
			for _, d := range e.Differences {
				change := Change{What: "args", Path: d.Path, A: d.Recorded, B: d.Live, Cut: d.Cut}
				c.bound(&change)
				step.Changes = append(step.Changes, change)
			}
			c.counts.Changed++
		case replay.VerdictDivergence:
			step.Status, step.A = Moved, ref(e.Seq, e.Kind, "", e.Expected)
			c.counts.Moved++
		default:
			c.counts.Added++
		}
		r.Steps = append(r.Steps, step)
	}
	for _, u := range run.Unconsumed {
		// A record that a call drifted from is not missing: it is what changed.
		if drifted[u.Seq] {
			continue
		}
		c.counts.Missing++
		r.Steps = append(r.Steps, Step{Status: Missing, A: ref(u.Seq, u.Kind, u.Tool, u.Key)})
	}
	c.counts.Missing += max(0, run.Stats.Unconsumed-len(run.Unconsumed))
	c.counts.Same = run.Stats.TapeHits
	slices.SortStableFunc(r.Steps, func(a, b Step) int { return cmp.Compare(place(&a), place(&b)) })
	if len(r.Steps) > 0 {
		r.First = &First{A: r.Steps[0].A, B: r.Steps[0].B}
	}
	r.Counts = c.counts
	r.Same = len(r.Steps) == 0 && run.EventsLeftOut == 0 && run.Stats.Unconsumed == 0
	return r, nil
}

// place is where a step stands: at its record; what the tape does not have comes
// last.
func place(s *Step) int {
	if s.A == nil {
		return math.MaxInt
	}
	return s.A.Seq
}
