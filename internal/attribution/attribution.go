package attribution

import (
	"slices"

	"github.com/tapedeck/tapedeck/tape"
)

// Finding is one class that fits a failure, and why.
type Finding struct {
	Class string `json:"class"`
	// Evidence is what shows it, "" for an unattributed failure.
	Evidence string `json:"evidence,omitempty"`
}

// Report attributes what failed in a run.
type Report struct {
	TraceID string       `json:"trace_id,omitempty"`
	Outcome tape.Outcome `json:"outcome,omitempty"`
	// Good is the trace id of the run that schemas were compared with.
	Good string `json:"good,omitempty"`
	// Run is the failure of the run, nil when it did not fail.
	Run *Failure `json:"run,omitempty"`
	// Records are the calls that failed, in their order.
	Records []Failure `json:"records"`
}

// Failure is one failure and the classes that fit it.
type Failure struct {
	// Seq is the failing record, 0 when only the root tells of the failure.
	Seq  int       `json:"seq,omitempty"`
	Kind tape.Kind `json:"kind,omitempty"`
	Tool string    `json:"tool,omitempty"`
	// Class is the earliest cause that fits.
	Class string `json:"class"`
	// Reason is what the failure said.
	Reason string `json:"reason,omitempty"`
	// Findings are all classes that fit, the earliest cause first; there is
	// always one.
	Findings []Finding `json:"findings"`
}

// Attributor attributes failures by the built-in table and a [Config]; nil does so
// by the table alone. It is safe for concurrent use.
type Attributor struct {
	rules    []rule
	approval []string
}

// builtin is the table alone.
var builtin = &Attributor{rules: compileRules(Rules)}

// New makes an attributor. The error is that of [Config.Validate].
func New(c Config) (*Attributor, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	return &Attributor{
		rules:    slices.Concat(builtin.rules, compileRules(c.Rules)),
		approval: slices.Clone(c.ApprovalTools),
	}, nil
}

// Tape sets, by the built-in table, the failure class of each failed record, and
// class and evidence of the run's failure.
func Tape(t *tape.Tape) { builtin.Tape(t) }

// Tape sets the failure class of each failed record, and class and evidence of
// the run's failure.
func (a *Attributor) Tape(t *tape.Tape) {
	r := a.Examine(t, nil)
	next := 0
	for i := range t.Records {
		if rec := &t.Records[i]; rec.Failed() {
			rec.FailureClass = r.Records[next].Class
			next++
		}
	}
	if t.Manifest == nil || t.Manifest.Failure == nil {
		return
	}
	f := t.Manifest.Failure
	f.Class = r.Run.Class
	for _, found := range r.Run.Findings {
		if found.Evidence == "" {
			continue
		}
		if s := found.Class + ": " + found.Evidence; !slices.Contains(f.Evidence, s) {
			f.Evidence = append(f.Evidence, s)
		}
	}
}

// Examine attributes the failures of a tape without changing it. Good is a tape
// of the last run that went well, nil when there is none: a failing tool whose
// schema differs from the one there is a schema mismatch.
func (a *Attributor) Examine(t, good *tape.Tape) Report {
	if a == nil {
		a = builtin
	}
	r := Report{Records: []Failure{}}
	e := newExamination(a, t, good)
	failed := map[int]int{}
	for i := range t.Records {
		rec := &t.Records[i]
		if rec.Failed() {
			failed[rec.Seq] = len(r.Records)
			r.Records = append(r.Records, failure(rec.Seq, rec.KindOf(), rec.Tool, rec.Error.Message, e.record(rec)))
		}
		e.passed(rec)
	}
	if good != nil && good.Manifest != nil {
		r.Good = good.Manifest.TraceID
	}
	m := t.Manifest
	if m == nil {
		if n := len(r.Records); n > 0 {
			r.Run = &r.Records[n-1]
		}
		return r
	}
	r.TraceID, r.Outcome = m.TraceID, m.Outcome
	if m.Failure == nil {
		return r
	}
	if i, ok := failed[m.Failure.Seq]; ok {
		f := r.Records[i]
		if m.Failure.Reason != "" {
			f.Reason = m.Failure.Reason
		}
		r.Run = &f
		return r
	}
	// Only the root tells of a failure: its reason is all there is.
	found := rank(a.byRules("", &tape.Error{Message: m.Failure.Reason}))
	f := failure(0, "", "", m.Failure.Reason, recorded(found, m.Failure.Class))
	r.Run = &f
	return r
}

func failure(seq int, kind tape.Kind, tool, reason string, found []Finding) Failure {
	return Failure{Seq: seq, Kind: kind, Tool: tool, Class: found[0].Class, Reason: reason, Findings: found}
}

// rank orders findings by cause and keeps one of each class.
func rank(found []Finding) []Finding {
	slices.SortStableFunc(found, func(a, b Finding) int {
		return slices.Index(causes, a.Class) - slices.Index(causes, b.Class)
	})
	found = slices.CompactFunc(found, func(a, b Finding) bool { return a.Class == b.Class })
	if len(found) == 0 {
		return []Finding{{Class: Unattributed}}
	}
	return found
}
