// Package conversation makes one tape of the runs of a conversation.
//
// An agent that answers one message a run, each in a trace of its own, is tested by
// replaying all of them in order. The joined tape has the records of the runs one
// run after the other, oldest first, numbered anew; each keeps the id of its run. Its
// manifest says what holds for all runs: what differs between them is left out, and
// where that matters for a replay it is a gap. Runs that are not there are gaps that
// block a strict replay, because their calls are missing.
//
// It changes the tapes it is given, and holds all of them in memory.
package conversation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/tape"
)

// ErrNoRuns is returned when there is no run to join.
var ErrNoRuns = errors.New("no run to join")

// RunsMember is the member of a joined manifest that lists its runs.
const RunsMember = "runs"

// Run is a run of the conversation as the joined manifest lists it.
type Run struct {
	TraceID string       `json:"trace_id"`
	Outcome tape.Outcome `json:"outcome,omitempty"`
	// First and Last are the positions of its records, 0 for a run without any.
	First int `json:"first_seq"`
	Last  int `json:"last_seq"`
}

// Missing is a run of which there is no tape, and why.
type Missing struct {
	TraceID, Why string
}

// Join makes one tape of the tapes of a conversation; each has a manifest.
func Join(id string, runs []*tape.Tape, missing []Missing) (*tape.Tape, error) {
	if len(runs) == 0 {
		return nil, fmt.Errorf("conversation %s: %w", id, ErrNoRuns)
	}
	for i, run := range runs {
		if run.Manifest == nil {
			return nil, fmt.Errorf("conversation %s: tape %d of %d has no manifest", id, i+1, len(runs))
		}
	}
	slices.SortStableFunc(runs, func(a, b *tape.Tape) int {
		if c := startOf(a).Compare(startOf(b)); c != 0 {
			return c
		}
		return cmp.Compare(a.Manifest.TraceID, b.Manifest.TraceID)
	})
	joined := &tape.Tape{Manifest: common(runs)}
	m := joined.Manifest
	m.ConversationID = id
	list := make([]Run, 0, len(runs))
	for _, run := range runs {
		list = append(list, add(joined, run))
	}
	m.Tools = tools(runs)
	m.Outcome, m.Failure = ending(runs)
	if m.Redaction == nil && slices.ContainsFunc(runs, func(t *tape.Tape) bool { return t.Manifest.Redaction != nil }) {
		m.Gaps = append(m.Gaps, tape.Gap{What: "redaction", Why: "the runs were redacted by different policies: live arguments cannot be redacted the same way"})
	}
	for _, gone := range missing {
		m.Gaps = append(m.Gaps, tape.Gap{What: "span", Why: "run " + gone.TraceID + " of the conversation is not on the tape: " + gone.Why})
	}
	text, err := json.Marshal(list)
	if err != nil {
		return nil, fmt.Errorf("conversation %s: %w", id, err)
	}
	m.Extra = []tape.Member{{Name: RunsMember, Value: text}}
	m.Complete = doctor.Complete(joined)
	return joined, nil
}

// add appends the records of a run, numbered on.
func add(joined, run *tape.Tape) Run {
	from := run.Manifest
	before := len(joined.Records)
	// The positions of a tape may have holes, as where it was trimmed.
	position := make(map[int]int, len(run.Records))
	for i := range run.Records {
		r := &run.Records[i]
		now := before + i + 1
		position[r.Seq] = now
		r.Seq = now
		r.RunID = cmp.Or(r.RunID, from.TraceID)
		switch {
		case r.Done > len(run.Records):
			// It would be the number of a record of the next run.
			r.Done = 0
		case r.Done > 0:
			// Runs of a conversation follow one another.
			r.Done += before
		}
	}
	if from.Failure != nil && from.Failure.Seq > 0 {
		from.Failure.Seq = position[from.Failure.Seq]
	}
	for _, gap := range from.Gaps {
		if gap.Seq > 0 {
			gap.Seq = position[gap.Seq]
		} else {
			gap.Why = "run " + from.TraceID + ": " + gap.Why
		}
		joined.Manifest.Gaps = append(joined.Manifest.Gaps, gap)
	}
	joined.Records = append(joined.Records, run.Records...)
	listed := Run{TraceID: from.TraceID, Outcome: from.Outcome}
	if len(run.Records) > 0 {
		listed.First, listed.Last = before+1, len(joined.Records)
	}
	return listed
}

// common has what all manifests agree on, and the span of time of all.
func common(runs []*tape.Tape) *tape.Manifest {
	first := runs[0].Manifest
	m := &tape.Manifest{
		Tape:         tape.Version,
		Service:      agreed(runs, func(m *tape.Manifest) string { return m.Service }),
		Agent:        agreed(runs, func(m *tape.Manifest) string { return m.Agent }),
		AgentVersion: agreed(runs, func(m *tape.Manifest) string { return m.AgentVersion }),
		CodeVersion:  agreed(runs, func(m *tape.Manifest) string { return m.CodeVersion }),
		Environment:  agreed(runs, func(m *tape.Manifest) string { return m.Environment }),
		Recorder:     agreed(runs, func(m *tape.Manifest) string { return m.Recorder }),
		Trigger:      tape.Trigger(agreed(runs, func(m *tape.Manifest) string { return string(m.Trigger) })),
		Started:      first.Started,
	}
	if len(runs) == 1 {
		m.TraceID = first.TraceID
	}
	if agreed(runs, func(m *tape.Manifest) string { return string(m.Resource) }) != "" {
		m.Resource = first.Resource
	}
	if agreed(runs, policyOf) != "" {
		m.Redaction = first.Redaction
	}
	var ended time.Time
	for _, run := range runs {
		if at, err := time.Parse(time.RFC3339Nano, run.Manifest.Ended); err == nil && at.After(ended) {
			ended, m.Ended = at, run.Manifest.Ended
		}
		if slices.Index(doctor.Grades, run.Manifest.Fidelity) > slices.Index(doctor.Grades, m.Fidelity) {
			m.Fidelity = run.Manifest.Fidelity
		}
	}
	return m
}

// policyOf is what makes two redactions the same.
func policyOf(m *tape.Manifest) string {
	if m.Redaction == nil {
		return ""
	}
	return m.Redaction.Policy + "\n" + string(m.Redaction.Rules)
}

// agreed is the value that all runs have, "" where they differ.
func agreed(runs []*tape.Tape, of func(*tape.Manifest) string) string {
	value := of(runs[0].Manifest)
	for _, run := range runs[1:] {
		if of(run.Manifest) != value {
			return ""
		}
	}
	return value
}

// ending is how the conversation ended: as its last run did, unless that went well
// after another had not.
func ending(runs []*tape.Tape) (tape.Outcome, *tape.Failure) {
	outcome := runs[len(runs)-1].Manifest.Outcome
	var failure *tape.Failure
	for _, run := range runs {
		m := run.Manifest
		if m.Failure != nil {
			failure = m.Failure
		}
		if outcome == tape.OutcomeSucceeded && m.Outcome != tape.OutcomeSucceeded && m.Outcome != "" {
			outcome = tape.OutcomeRecovered
		}
	}
	if outcome == tape.OutcomeSucceeded {
		failure = nil
	}
	return outcome, failure
}

// tools has each definition once: a tool whose schema changed between runs is there
// twice, with its versions.
func tools(runs []*tape.Tape) []tape.Tool {
	var all []tape.Tool
	for _, run := range runs {
		for _, tool := range run.Manifest.Tools {
			if !slices.ContainsFunc(all, func(t tape.Tool) bool {
				return t.Name == tool.Name && t.SchemaVersion == tool.SchemaVersion && bytes.Equal(t.Schema, tool.Schema)
			}) {
				all = append(all, tool)
			}
		}
	}
	return all
}

func startOf(t *tape.Tape) time.Time {
	at, err := time.Parse(time.RFC3339Nano, t.Manifest.Started)
	if err != nil && len(t.Records) > 0 {
		at, _ = time.Parse(time.RFC3339Nano, t.Records[0].Start)
	}
	return at
}
