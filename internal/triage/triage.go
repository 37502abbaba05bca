package triage

import (
	"github.com/tapedeck/tapedeck/internal/attribution"
	"github.com/tapedeck/tapedeck/internal/diff"
	"github.com/tapedeck/tapedeck/internal/dry"
	"github.com/tapedeck/tapedeck/internal/policy"
	"github.com/tapedeck/tapedeck/internal/regress"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// Input is what a triage goes by. Tape is needed, all else may be missing.
type Input struct {
	// Name is how the tape was named; IsFile tells a file from an id.
	Name   string
	IsFile bool
	Tape   *tape.Tape
	// Good is the last good run, GoodName how it was named, NoGood why there is none.
	Good             *tape.Tape
	GoodName, NoGood string
	// Tools are the definitions of now, Policy the rules of now.
	Tools  []tape.Tool
	Policy *policy.Policy
	// SurrogateKey is that of the tape's redaction, "" when it needs none.
	SurrogateKey string
	// Attributor finds the cause; nil goes by the built-in rules.
	Attributor *attribution.Attributor
	// Command was run against the tape, with this outcome; nil when there was none.
	Command []string
	Outcome *regress.Outcome
}

// Report is a triage.
type Report struct {
	Name  string `json:"name"`
	Force Force  `json:"in_force"`
	// Problems are what is wrong with the tape itself.
	Problems []tape.Problem `json:"problems,omitempty"`
	// Why attributes what failed.
	Why attribution.Report `json:"why"`
	Dry *dry.Report        `json:"dry"`
	// Mock is the replay of the command against the recorded answers.
	Mock *Mock `json:"mock,omitempty"`
	// Good is the comparison with the last good run, NoGood why there is none.
	Good   *diff.Report `json:"good,omitempty"`
	NoGood string       `json:"no_good,omitempty"`
	// ToolsNow tells whether the tools of now are known; Tools is how they differ
	// from those of the run.
	ToolsNow bool          `json:"tools_now"`
	Tools    []diff.Change `json:"tools,omitempty"`
	// CannotSee is what a tape says nothing about.
	CannotSee []string `json:"cannot_see"`
	// Saved is where the tape was put, nil when it was not asked for.
	Saved *Saved `json:"saved,omitempty"`
	Next  []Next `json:"next"`
}

// Mock is what a command did with the recorded answers.
type Mock struct {
	Command  []string       `json:"command"`
	ExitCode int            `json:"exit_code"`
	TimedOut bool           `json:"timed_out,omitempty"`
	Answer   string         `json:"answer"`
	Errors   string         `json:"stderr,omitempty"`
	Report   *replay.Report `json:"replay"`
}

// Examine makes the report. The error is of a dry replay that cannot be made.
func Examine(in *Input) (*Report, error) {
	r := &Report{
		Name: in.Name, Force: inForce(in.Tape), Problems: tape.Verify(in.Tape),
		NoGood: in.NoGood, ToolsNow: in.Tools != nil,
	}
	r.Why = in.Attributor.Examine(in.Tape, attribution.NewGood(in.Good))
	var err error
	if r.Dry, err = dry.Run(in.Tape, dry.Options{Tools: in.Tools, Policy: in.Policy, SurrogateKey: in.SurrogateKey}); err != nil {
		return nil, err
	}
	if o := in.Outcome; o != nil && o.Report != nil {
		r.Mock = &Mock{Command: in.Command, ExitCode: o.ExitCode, TimedOut: o.TimedOut, Answer: o.Answer, Errors: o.Errors, Report: o.Report}
	}
	if in.Good != nil {
		r.Good = diff.Tapes(in.Good, in.Tape)
		r.Good.A.Name, r.Good.B.Name = in.GoodName, in.Name
	}
	if m := in.Tape.Manifest; in.Tools != nil && m != nil {
		r.Tools = diff.Tools(m.Tools, in.Tools)
	}
	r.CannotSee = replay.CannotSee(in.Tape)
	return r, nil
}

// Replays tells whether the tape answers every call of the recorded run.
func (r *Report) Replays() bool {
	for _, f := range r.Dry.Run {
		if f.Gap {
			return false
		}
	}
	return r.Dry.Counts.Nowhere+r.Dry.Counts.Refused == 0
}

// Clean tells whether the tape replays and, where a command was run, its replay was
// clean and came to an end.
func (r *Report) Clean() bool {
	return r.Replays() && (r.Mock == nil || r.Mock.Report.Clean && !r.Mock.TimedOut)
}
