package trim

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/tapedeck/tapedeck/internal/attribution"
	"github.com/tapedeck/tapedeck/tape"
)

var (
	// ErrNothingFailed is a tape without a failure to trim it to.
	ErrNothingFailed = errors.New("nothing failed on this tape")
	// ErrNoStep is a step that is not on the tape.
	ErrNoStep = errors.New("there is no such step")
)

// Report says what became of each record.
type Report struct {
	// Seq is the failing record.
	Seq     int    `json:"seq"`
	Class   string `json:"class,omitempty"`
	Kept    []Step `json:"kept"`
	Dropped []Step `json:"dropped"`
	// Check is what a command did with the trimmed tape; see [Check].
	Check *Check `json:"check,omitempty"`
}

// Step is one record and why it was kept or dropped.
type Step struct {
	Seq  int       `json:"seq"`
	Kind tape.Kind `json:"kind"`
	Tool string    `json:"tool"`
	Why  string    `json:"why"`
}

// Check compares what a command did with the whole tape and with the trimmed one.
type Check struct {
	// Same is set when it failed the same way.
	Same bool `json:"same"`
	// Reason is why not.
	Reason string `json:"reason,omitempty"`
	// Runs counts how often the command ran.
	Runs int `json:"runs"`
}

// Trim gives the tape of the records that the failure at a step needs; 0 is the
// failure of the run, or else its last failed record. The errors are
// [ErrNothingFailed] and [ErrNoStep].
func Trim(t *tape.Tape, seq int) (*tape.Tape, *Report, error) {
	n := &need{t: t, why: map[int]string{}, flow: newFlow(t)}
	at, err := n.failing(seq)
	if err != nil {
		return nil, nil, err
	}
	failing := &t.Records[at]
	n.add(at, "failed", at)
	n.causes(at)
	n.reads(at)
	for len(n.open) > 0 {
		i := n.open[len(n.open)-1]
		n.open = n.open[:len(n.open)-1]
		n.of(i)
	}
	r := &Report{Seq: failing.Seq, Class: failing.FailureClass, Kept: []Step{}, Dropped: []Step{}}
	var keep []int
	for i := range t.Records {
		rec := &t.Records[i]
		step := Step{Seq: rec.Seq, Kind: rec.KindOf(), Tool: rec.Tool}
		why, needed := n.why[i]
		switch {
		case needed:
			step.Why = why
			r.Kept = append(r.Kept, step)
			keep = append(keep, i)
			continue
		case i > at:
			step.Why = "came after the failure"
		default:
			step.Why = "nothing needed comes from it"
		}
		r.Dropped = append(r.Dropped, step)
	}
	return Subset(t, keep), r, nil
}

// need collects the indexes of needed records.
type need struct {
	t    *tape.Tape
	why  map[int]string
	open []int
	flow *flow
}

// failing finds the record to trim to.
func (n *need) failing(seq int) (int, error) {
	last := -1
	for i := range n.t.Records {
		rec := &n.t.Records[i]
		if seq > 0 && rec.Seq == seq {
			return i, nil
		}
		if rec.Failed() {
			last = i
		}
	}
	if seq > 0 {
		return 0, fmt.Errorf("%w: %d", ErrNoStep, seq)
	}
	if m := n.t.Manifest; m != nil && m.Failure != nil && m.Failure.Seq > 0 {
		return n.failing(m.Failure.Seq)
	}
	if last < 0 {
		return 0, ErrNothingFailed
	}
	return last, nil
}

// add marks a record as needed. One that does not come before what needs it is none.
func (n *need) add(i int, why string, before int) {
	if _, known := n.why[i]; known || i > before || i == before && len(n.why) > 0 {
		return
	}
	n.why[i] = why
	n.open = append(n.open, i)
}

// causes adds what the attribution of the failure points at.
func (n *need) causes(at int) {
	rec := &n.t.Records[at]
	var a *attribution.Attributor
	report := a.Examine(n.t, nil)
	for _, f := range report.Records {
		if f.Seq != rec.Seq {
			continue
		}
		for _, found := range f.Findings {
			if found.Class != attribution.SideEffectConflict {
				continue
			}
			for i := range at {
				if n.t.Records[i].Key == rec.Key && n.t.Records[i].KindOf() == rec.KindOf() {
					n.add(i, fmt.Sprintf("the same write as step %d", rec.Seq), at)
				}
			}
		}
	}
}

// reads adds the clock and random reads, which are told apart by their order only.
func (n *need) reads(at int) {
	for i := range at {
		if kind := n.t.Records[i].KindOf(); kind == tape.KindClock || kind == tape.KindRandom {
			n.add(i, "read before the failure", at)
		}
	}
}

// of adds what a needed record needs.
func (n *need) of(i int) {
	rec := &n.t.Records[i]
	if parent, known := n.flow.spans[rec.ParentID]; known && rec.ParentID != "" {
		n.add(parent, fmt.Sprintf("encloses step %d", rec.Seq), i)
	}
	if rec.KindOf() == tape.KindModel {
		n.conversation(i)
		return
	}
	if asked := n.flow.asker(i); asked >= 0 {
		n.add(asked, fmt.Sprintf("asked for step %d", rec.Seq), i)
	}
	for _, source := range n.flow.sources(i) {
		n.add(source.at, fmt.Sprintf("step %d takes %s from it", rec.Seq, source.value), i)
	}
}

// conversation adds the calls whose answers, and the model calls whose words, a model
// call was given.
func (n *need) conversation(i int) {
	rec := &n.t.Records[i]
	var request any
	if json.Unmarshal(rec.Args, &request) != nil {
		return
	}
	why := fmt.Sprintf("in the conversation of step %d", rec.Seq)
	eachPart(request, func(kind, id string) {
		switch kind {
		case "tool_call_response":
			if at := n.flow.called(id, i); at >= 0 {
				n.add(at, why, i)
			}
		case "tool_call":
			if at := n.flow.asked(id, i); at >= 0 {
				n.add(at, why, i)
			}
		}
	})
}
