package attribution

import (
	"slices"
	"strings"

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

	// at is the index of the record.
	at int
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
// the run's failure. A class that is there already is what a recorder found and
// told others; it stays, and what else fits is listed after it.
func (a *Attributor) Tape(t *tape.Tape) {
	r := a.Examine(t, nil)
	for i := range r.Records {
		r.Records[i].keep(t.Records[r.Records[i].at].FailureClass)
	}
	if m := t.Manifest; m != nil && m.Failure != nil {
		class := m.Failure.Class
		for i := range r.Records {
			if r.Records[i].Seq == m.Failure.Seq {
				class = r.Records[i].Class
			}
		}
		r.Run.keep(class)
	}
	a.write(t, r)
}

// keep makes a class that was found before the first.
func (f *Failure) keep(class string) {
	classFirst(f.Findings, class)
	f.Class = f.Findings[0].Class
}

// Compare is [Attributor.Tape] anew, beside a run that went well: classes and
// evidence of an earlier attribution are forgotten. A nil good changes nothing.
func (a *Attributor) Compare(t *tape.Tape, good *Good) {
	if good == nil {
		return
	}
	for i := range t.Records {
		t.Records[i].FailureClass = ""
	}
	if m := t.Manifest; m != nil && m.Failure != nil {
		m.Failure.Class = ""
		m.Failure.Evidence = slices.DeleteFunc(m.Failure.Evidence, func(text string) bool {
			class, _, ok := strings.Cut(text, ": ")
			return ok && slices.Contains(causes, class)
		})
	}
	a.write(t, a.Examine(t, good))
}

// write puts a report into the tape it is about.
func (a *Attributor) write(t *tape.Tape, r Report) {
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

// Examine attributes the failures of a tape without changing it. Good is of the
// last run that went well, nil when there is none: a failing tool whose schema
// differs from the one there is a schema mismatch.
func (a *Attributor) Examine(t *tape.Tape, good *Good) Report {
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
			f := failure(rec.Seq, rec.KindOf(), rec.Tool, rec.Error.Message, e.record(rec))
			f.at = i
			r.Records = append(r.Records, f)
		}
		e.passed(rec)
	}
	if good != nil {
		r.Good = good.TraceID
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
	f := failure(0, "", "", m.Failure.Reason, withClass(found, m.Failure.Class, m.Failure.Evidence))
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
