// Package dry says what a replay of a tape would do before anything starts: of
// each step whether the tape answers it, whether its arguments fit the tool's
// schema of then and of now, and what a policy says of the call. Nothing runs.
//
// It promises the verdicts of package doctor on what can be served, and never
// counts a recorded approval: it is shown, and the policy decides as if there
// were none. A step that would have to run live is judged by the same rules as in
// package replay.
//
// It looks at a tape in memory once. A schema is compiled once a tool, and a call
// is checked at most twice and judged once.
package dry

import (
	"time"

	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/internal/policy"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// Options say by what a tape is judged. The zero value judges by what stands on
// the tape.
type Options struct {
	// Tools are the definitions of now, see [ReadTools]; nil if nobody knows them.
	Tools []tape.Tool
	// Policy judges each tool call; nil judges none.
	Policy *policy.Policy
	// Kinds examines records of these kinds only, as a replay of these kinds does;
	// all kinds where there are none.
	Kinds []tape.Kind
	// ExpiredAsGap: a record past its expiry is not served.
	ExpiredAsGap bool
	// SurrogateKey is what the tape's redaction makes surrogates with, as
	// [replay.WithSurrogateKey] has it.
	SurrogateKey string
	// Now is the time by which records have expired, the real one when zero.
	Now time.Time
	// Bodies fetches what the tape holds by reference, as the replay would; nil where it
	// has no source of them.
	Bodies func(tape.Body) ([]byte, error)
	// Fork is the step from which on calls run live, 0 for none.
	Fork int
	// Live says which calls may run live; those that it names do, where Fork is 0.
	// Nil is a replay without live calls.
	Live *replay.Live
}

// Source is where the answer of a step would come from.
type Source string

// The sources of an answer.
const (
	// FromTape: the tape answers, if the program makes the recorded call.
	FromTape Source = "tape"
	// FromNowhere: the tape cannot answer; the findings say why. Only a live call
	// could.
	FromNowhere Source = "nowhere"
	// FromWorld: the call would run live.
	FromWorld Source = "live"
	// Refused: the call would have to run live and may not.
	Refused Source = "refused"
)

// Report is what a replay would do.
type Report struct {
	TraceID     string       `json:"trace_id,omitempty"`
	Service     string       `json:"service,omitempty"`
	CodeVersion string       `json:"code_version,omitempty"`
	Outcome     tape.Outcome `json:"outcome,omitempty"`
	// Good is set when every step is answered or may run, no arguments misfit a
	// schema, and the policy, if there is one, allows every call as it is.
	Good   bool   `json:"good"`
	Counts Counts `json:"counts"`
	Steps  []Step `json:"steps"`
	// Run is what the run lacks as a whole, such as calls that may be missing.
	Run []doctor.Finding `json:"run,omitempty"`
	// Schemas are the tools called whose schema of then or of now cannot be used,
	// and why.
	Schemas []Unusable `json:"schemas,omitempty"`
}

// Counts sum a report up.
type Counts struct {
	Steps    int `json:"steps"`
	FromTape int `json:"tape"`
	Nowhere  int `json:"nowhere"`
	Live     int `json:"live"`
	Refused  int `json:"refused"`
	// MisfitThen and MisfitNow count calls whose arguments do not fit the schema of
	// then, and of now; Gone those of tools that are no more.
	MisfitThen int `json:"misfit_then"`
	MisfitNow  int `json:"misfit_now"`
	Gone       int `json:"gone"`
	// Denied and NeedApproval count calls by what the policy says, Undecided those
	// that it could not judge.
	Denied       int `json:"denied"`
	NeedApproval int `json:"need_approval"`
	Undecided    int `json:"undecided"`
	// Expired and Redacted count steps that the tape answers with something past its
	// expiry, or with a placeholder.
	Expired  int `json:"expired"`
	Redacted int `json:"redacted"`
}

// Step is one record.
type Step struct {
	Seq  int       `json:"seq"`
	Kind tape.Kind `json:"kind"`
	Tool string    `json:"tool"`
	Key  string    `json:"key"`
	// SideEffect is null when nobody knows.
	SideEffect *bool `json:"side_effect"`
	// Failed is set when the recorded call failed: that is its answer.
	Failed bool   `json:"failed,omitempty"`
	Source Source `json:"source"`
	// Why says what refuses a live call.
	Why string `json:"why,omitempty"`
	// Findings are why a step is not served, and what to know of one that is.
	Findings []doctor.Finding `json:"findings,omitempty"`
	// Then and Now are the checks of a tool call against the schemas of the tool;
	// nil where there is nothing to check.
	Then *Check `json:"then,omitempty"`
	Now  *Check `json:"now,omitempty"`
	// Policy is what the policy says of a tool call, Undecided why it cannot.
	Policy    *policy.Decision `json:"policy,omitempty"`
	Undecided string           `json:"undecided,omitempty"`
	// RecordedApproval and RecordedPolicy are shown and never count.
	RecordedApproval string `json:"recorded_approval,omitempty"`
	RecordedPolicy   string `json:"recorded_policy,omitempty"`
}

// Status is what came of a check.
type Status string

// What came of a check.
const (
	Fits   Status = "fits"
	Misfit Status = "misfit"
	// NotKnown: there is no schema that can be used, or too little is left of the
	// arguments.
	NotKnown Status = "not_known"
	// Gone: the tool is not among those of now.
	Gone Status = "gone"
)

// Check is a check of arguments against one schema.
type Check struct {
	Status Status `json:"status"`
	// SchemaVersion is that of the schema, "" if it has none.
	SchemaVersion string `json:"schema_version,omitempty"`
	// Faults name the places, such as "/amount: got string, want number".
	Faults []string `json:"faults,omitempty"`
	// Why says why nothing is known.
	Why string `json:"why,omitempty"`
}

// Unusable is a schema that cannot be compiled.
type Unusable struct {
	Tool string `json:"tool"`
	// When is "then" or "now".
	When string `json:"when"`
	Why  string `json:"why"`
}
