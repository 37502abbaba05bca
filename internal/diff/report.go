package diff

import (
	"encoding/json"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

// Status says what became of a step.
type Status string

// What a step can be.
const (
	// Added: on the second side only.
	Added Status = "added"
	// Missing: on the first side only.
	Missing Status = "missing"
	// Moved: on both sides with the same key, in another order. It may have changes
	// too.
	Moved Status = "moved"
	// Changed: the same call with something different about it.
	Changed Status = "changed"
)

// Report is the comparison of two runs, A and B.
type Report struct {
	// Experiment is that of the replay that was compared, "" for two tapes.
	Experiment replay.Experiment `json:"experiment,omitempty"`
	// Same is set when there is no step in Steps and nothing in Run.
	Same bool `json:"same"`
	A    Side `json:"a"`
	B    Side `json:"b"`
	// Policy is how the two were compared.
	Policy Policy `json:"policy"`
	// Context is what differs around the runs: versions, service, environment. It
	// makes no difference by itself.
	Context []Change `json:"context,omitempty"`
	// Run is what differs in the runs as a whole: outcome, failure, tool schemas.
	Run    []Change `json:"run,omitempty"`
	Counts Counts   `json:"counts"`
	// RuleHits are the rules that took what differs for the same, with the number of
	// pairs of steps for which they did.
	RuleHits []replay.RuleHit `json:"rule_hits,omitempty"`
	// Claims are the places that differ and are ignored by a rule, which cannot be
	// proved not to matter; rules that ignored nothing are among them, with no calls.
	Claims []replay.Claim `json:"claims,omitempty"`
	// First is where the two part, nil when they do not.
	First *First `json:"first,omitempty"`
	// Steps are those that differ, in the order of the second side; what is missing
	// there stands where it was.
	Steps []Step `json:"steps"`
}

// Side is one of the two.
type Side struct {
	// Name is how it was named: a file or an id.
	Name        string       `json:"name,omitempty"`
	TraceID     string       `json:"trace_id,omitempty"`
	Outcome     tape.Outcome `json:"outcome,omitempty"`
	CodeVersion string       `json:"code_version,omitempty"`
	Records     int          `json:"records"`
	// MS is the sum of the times of the records, in milliseconds.
	MS float64 `json:"ms"`
}

// Policy is how two runs were compared.
type Policy struct {
	// TimingMS is the difference in milliseconds from which a step's time counts, 0
	// when times were not compared.
	TimingMS float64 `json:"timing_ms"`
	// RenamedIDs: ids that a model or its API gave to calls may differ, as long as
	// they correspond one to one.
	RenamedIDs bool `json:"renamed_ids"`
	// Kinds are those compared, empty for all.
	Kinds []tape.Kind `json:"kinds,omitempty"`
	// Rules say what may differ, none if nothing.
	Rules []rules.Rule `json:"rules,omitempty"`

	set *rules.Set
}

// Counts sums the comparison up. A moved step that changed counts as both.
type Counts struct {
	Same    int `json:"same"`
	Added   int `json:"added"`
	Missing int `json:"missing"`
	Moved   int `json:"moved"`
	Changed int `json:"changed"`
	// NotCompared counts arguments and results that one side never captured.
	NotCompared int `json:"not_compared,omitempty"`
	// RenamedIDs counts the ids that correspond to another one.
	RenamedIDs int `json:"renamed_ids,omitempty"`
}

// First is where two runs part: what either did there, nil for a side that had
// ended.
type First struct {
	A *Ref `json:"a,omitempty"`
	B *Ref `json:"b,omitempty"`
}

// Step is a step that differs.
type Step struct {
	Status  Status   `json:"status"`
	A       *Ref     `json:"a,omitempty"`
	B       *Ref     `json:"b,omitempty"`
	Changes []Change `json:"changes,omitempty"`
	// More counts changes left out after the first 100.
	More int `json:"more,omitempty"`
	// Message is what a replay said about the step.
	Message string `json:"message,omitempty"`
}

// Ref names a record.
type Ref struct {
	Seq  int       `json:"seq,omitempty"`
	Kind tape.Kind `json:"kind"`
	Tool string    `json:"tool"`
	Key  string    `json:"key"`
}

// Change is one place where two steps or runs differ.
type Change struct {
	// What is "args", "result", "error", "timing", "model", "prompt_version",
	// "schema_version" or "policy_result"; of runs the member of the manifest.
	What string `json:"what"`
	// Path leads to the place inside, as in replay.Difference; "" is the whole.
	Path string `json:"path,omitempty"`
	// A and B are the values there, nil where there is none.
	A json.RawMessage `json:"a,omitempty"`
	B json.RawMessage `json:"b,omitempty"`
	// Cut is set where a value was too long: what stands there is the beginning of
	// its JSON text, as a string, or nothing when the report was full.
	Cut bool `json:"cut,omitempty"`
}

// Place is what differs and where, as one path.
func (c *Change) Place() string {
	switch {
	case c.Path == "":
		return c.What
	case c.Path[0] == '[':
		return c.What + c.Path
	}
	return c.What + "." + c.Path
}

// Option changes how two runs are compared.
type Option func(*Policy)

// Timing makes a difference in time of at least that many milliseconds a change.
// Without it times are not compared, since no two runs take the same.
func Timing(ms float64) Option { return func(p *Policy) { p.TimingMS = max(0, ms) } }

// ExactIDs makes every id of a model's call that differs a change.
func ExactIDs() Option { return func(p *Policy) { p.RenamedIDs = false } }

// Rules take arguments for the same as a replay by these rules would. Ids that a rule is
// about correspond one to one over the whole run, also those in results that rules with
// "in: result" are about, which on either side are its own.
func Rules(set *rules.Set) Option {
	return func(p *Policy) { p.set, p.Rules = set, set.Rules() }
}

// Kinds compares records of these kinds only.
func Kinds(kinds ...tape.Kind) Option { return func(p *Policy) { p.Kinds = kinds } }

func newPolicy(options []Option) Policy {
	p := Policy{RenamedIDs: true}
	for _, option := range options {
		option(&p)
	}
	return p
}

func refOf(r *tape.Record) *Ref {
	return &Ref{Seq: r.Seq, Kind: r.KindOf(), Tool: r.Tool, Key: r.Key}
}
