// Package doctor says whether a tape can be replayed: of each record how much is
// left of the call, what a strict replay would not find, why, and the switch of
// the instrumentation that would have kept it.
//
// It promises the verdict of package replay: a record that [Examine] says replays
// is answered when the call that it was made of is made again, any other is a gap. What
// a replay serves but a reader should know of, such as a redacted value, is told
// without changing the verdict. A run of which calls may be missing altogether, because
// spans were sampled away or it never ended, does not replay either. The member
// complete of a manifest is this verdict ([Complete]), on every tape that is made
// of a trace.
//
// It looks at a tape in memory once, hashes nothing and keeps nothing of it but
// names and texts of gaps.
package doctor

import (
	"bytes"
	"slices"
	"time"

	"github.com/tapedeck/tapedeck/tape"
)

// Report is what is wrong with a tape.
type Report struct {
	TraceID string       `json:"trace_id,omitempty"`
	Service string       `json:"service,omitempty"`
	Outcome tape.Outcome `json:"outcome,omitempty"`
	// Replays is set when a strict replay of the examined kinds meets no gap and
	// no call is missing on the tape.
	Replays bool `json:"replays"`
	// Fidelity is the worst grade of the examined records, "" where there are none.
	Fidelity tape.Fidelity `json:"fidelity,omitempty"`
	Kinds    []Kind        `json:"kinds"`
	// Counts say the same by dialect, so that many runs can be added up: there are
	// as many as the run has combinations, each once.
	Counts  []Count  `json:"counts"`
	Records []Record `json:"records"`
	// Run is what the run lacks as a whole.
	Run []Finding `json:"run,omitempty"`

	// counted is where the count of a combination is.
	counted map[Count]int
}

// Gaps counts the examined records that do not replay, and what of the run as a
// whole keeps it from replaying.
func (r *Report) Gaps() (n int) {
	for _, k := range r.Kinds {
		n += k.Gaps
	}
	for _, f := range r.Run {
		if f.Gap {
			n++
		}
	}
	return n
}

// Complete is the verdict on a whole tape: what manifests call complete.
func Complete(t *tape.Tape) bool {
	r := Examine(t)
	return r.Replays
}

// Kind sums up the records of one kind.
type Kind struct {
	Kind    tape.Kind `json:"kind"`
	Records int       `json:"records"`
	// Gaps counts those that do not replay.
	Gaps   int                   `json:"gaps"`
	Grades map[tape.Fidelity]int `json:"grades"`
}

// Count sums up the records of one dialect, kind and grade.
type Count struct {
	// Dialect is "" for the records of a plain recorder.
	Dialect  string        `json:"dialect,omitempty"`
	Kind     tape.Kind     `json:"kind"`
	Fidelity tape.Fidelity `json:"fidelity"`
	Records  int           `json:"records"`
	// Gaps counts those that do not replay.
	Gaps int `json:"gaps"`
}

// Record is the verdict on one record.
type Record struct {
	Seq      int           `json:"seq"`
	Kind     tape.Kind     `json:"kind"`
	Tool     string        `json:"tool"`
	Fidelity tape.Fidelity `json:"fidelity"`
	Dialect  string        `json:"dialect,omitempty"`
	// Replays is set when a strict replay answers the call.
	Replays  bool      `json:"replays"`
	Findings []Finding `json:"findings,omitempty"`
}

// Finding is one thing that a record or a run lacks.
type Finding struct {
	// What is "args", "result", "span", "root" or another part.
	What string `json:"what"`
	Why  string `json:"why"`
	// Fix is what to change so that the next tape has it, "" when nobody knows.
	Fix string `json:"fix,omitempty"`
	// Gap is set when a strict replay stops at it.
	Gap bool `json:"gap"`
}

// Option changes what is examined.
type Option func(*examiner)

// Kinds examines records of these kinds only, as a replay of these kinds does.
// Without any, all are examined.
func Kinds(kinds ...tape.Kind) Option { return func(e *examiner) { e.kinds = kinds } }

// At sets the time by which records have expired; the default is now.
func At(now time.Time) Option { return func(e *examiner) { e.now = now } }

// ExpiredAsGap makes a record past its expiry a gap, as a strict policy does.
func ExpiredAsGap() Option { return func(e *examiner) { e.expiredAsGap = true } }

// Bodies looks whether what the tape holds by reference is there, as a replay with
// that source would find it. Without it, answers held by reference are gaps.
func Bodies(fetch func(tape.Body) ([]byte, error)) Option {
	return func(e *examiner) { e.fetch = fetch }
}

type examiner struct {
	fetch        func(tape.Body) ([]byte, error)
	kinds        []tape.Kind
	now          time.Time
	expiredAsGap bool
	// listed are the gaps that the manifest names, by record; bare is set when
	// there is no manifest.
	listed map[int][]tape.Gap
	bare   bool
}

// Examine examines a tape.
func Examine(t *tape.Tape, options ...Option) Report {
	e := examiner{now: time.Now(), listed: map[int][]tape.Gap{}}
	for _, o := range options {
		o(&e)
	}
	r := Report{Replays: true, Kinds: []Kind{}, Counts: []Count{}, Records: []Record{}, counted: map[Count]int{}}
	e.bare = t.Manifest == nil
	if m := t.Manifest; m != nil {
		r.TraceID, r.Service, r.Outcome = m.TraceID, m.Service, m.Outcome
		for _, g := range m.Gaps {
			if g.Seq == 0 {
				r.run(g)
				continue
			}
			e.listed[g.Seq] = append(e.listed[g.Seq], g)
		}
		if m.Outcome == tape.OutcomeIncomplete {
			r.run(tape.Gap{What: "end", Why: "the run never ended, so calls may be missing", Fix: "give the recorder more time, or look why the process died"})
		}
	}
	for i := range t.Records {
		rec := &t.Records[i]
		if len(e.kinds) == 0 || slices.Contains(e.kinds, rec.KindOf()) {
			r.add(e.record(rec))
		}
	}
	if len(r.Records) == 0 {
		r.Run = append(r.Run, Finding{What: "calls", Why: "there is no call to replay on the tape"})
	}
	return r
}

// Refuse notes that a replay of the tape could not even begin, and why.
func (r *Report) Refuse(why error) {
	r.Run = append(r.Run, Finding{What: "tape", Why: why.Error(), Gap: true})
	r.Replays = false
}

// run adds what the run lacks as a whole.
func (r *Report) run(g tape.Gap) {
	f := finding(g)
	r.Run = append(r.Run, f)
	r.Replays = r.Replays && !f.Gap
}

func finding(g tape.Gap) Finding {
	return Finding{What: g.What, Why: why(g.Why), Fix: g.Fix, Gap: g.Blocks()}
}

func (r *Report) add(rec Record) {
	r.Records = append(r.Records, rec)
	i := slices.IndexFunc(r.Kinds, func(k Kind) bool { return k.Kind == rec.Kind })
	if i < 0 {
		i = len(r.Kinds)
		r.Kinds = append(r.Kinds, Kind{Kind: rec.Kind, Grades: map[tape.Fidelity]int{}})
	}
	k := &r.Kinds[i]
	k.Records++
	k.Grades[rec.Fidelity]++
	c := r.count(rec)
	c.Records++
	if !rec.Replays {
		k.Gaps++
		c.Gaps++
		r.Replays = false
	}
	if r.Fidelity == "" || rank(rec.Fidelity) > rank(r.Fidelity) {
		r.Fidelity = rec.Fidelity
	}
}

func (r *Report) count(rec Record) *Count {
	of := Count{Dialect: rec.Dialect, Kind: rec.Kind, Fidelity: rec.Fidelity}
	i, known := r.counted[of]
	if !known {
		i = len(r.Counts)
		r.counted[of] = i
		r.Counts = append(r.Counts, of)
	}
	return &r.Counts[i]
}

// Grades are all grades, best first.
var Grades = []tape.Fidelity{
	tape.FidelityExact, tape.FidelityRebuilt, tape.FidelitySynthesised, tape.FidelityRedacted, tape.FidelityTruncated, tape.FidelityAbsent,
}

func rank(f tape.Fidelity) int { return slices.Index(Grades, f) }

func (e *examiner) record(rec *tape.Record) Record {
	out := Record{Seq: rec.Seq, Kind: rec.KindOf(), Tool: rec.Tool, Fidelity: rec.Fidelity, Dialect: rec.Dialect, Replays: true}
	if out.Fidelity == "" {
		// A plain recorder sees the call itself and says nothing of it.
		out.Fidelity = tape.FidelityExact
	}
	out.Findings = slices.Concat(e.content(rec), e.expiry(rec), told(rec))
	for _, f := range out.Findings {
		out.Replays = out.Replays && !f.Gap
	}
	return out
}

// content says which content a strict replay misses: what the manifest lists,
// else what the grade says.
func (e *examiner) content(rec *tape.Record) (out []Finding) {
	for _, g := range e.listed[rec.Seq] {
		out = append(out, finding(g))
	}
	if len(out) == 0 {
		out = e.byGrade(rec)
	}
	if body := bodyOf(rec, false); body != nil && !slices.ContainsFunc(out, func(f Finding) bool { return f.What == "result" }) {
		out = append(out, e.body(body)...)
	}
	return out
}

// body says what is wrong with a result held by reference.
func (e *examiner) body(body *tape.Body) []Finding {
	if e.fetch == nil {
		return []Finding{{What: "result", Why: "held by reference", Fix: "pull the tape with its bodies", Gap: true}}
	}
	data, err := e.fetch(*body)
	if err == nil {
		err = body.Check(data)
	}
	if err == nil {
		return nil
	}
	return []Finding{{What: "result", Why: err.Error(), Gap: true}}
}

// byGrade judges a record of a tape that lists no gaps of it. Which half of it
// was cut is not known then.
func (e *examiner) byGrade(rec *tape.Record) (out []Finding) {
	const (
		absent    = "never captured"
		truncated = "cut before it was recorded"
	)
	fix := ""
	if e.bare && rec.Dialect != "" {
		fix = "ask for the tape with its manifest, which names the switch"
	}
	switch rec.Fidelity {
	case tape.FidelityAbsent:
		if len(rec.Args) == 0 && bodyOf(rec, true) == nil {
			out = append(out, Finding{What: "args", Why: absent, Fix: fix, Gap: true})
		}
		if len(rec.Result) == 0 && bodyOf(rec, false) == nil && !rec.Failed() {
			out = append(out, Finding{What: "result", Why: absent, Fix: fix, Gap: true})
		}
	case tape.FidelityTruncated:
		out = append(out, Finding{What: "result", Why: truncated, Fix: fix, Gap: true})
	}
	return out
}

func (e *examiner) expiry(rec *tape.Record) []Finding {
	expires, err := time.Parse(time.RFC3339Nano, rec.Expires)
	if err != nil || !e.now.After(expires) {
		return nil
	}
	return []Finding{{What: "result", Why: "expired at " + rec.Expires, Fix: "record the call again", Gap: e.expiredAsGap}}
}

// placeholder is how what stands in place of a redacted value begins.
var placeholder = []byte("[REDACTED:")

// told is what a replay serves all the same.
func told(rec *tape.Record) (out []Finding) {
	if bytes.Contains(rec.Result, placeholder) || slices.ContainsFunc(rec.Redacted, ofResult) {
		out = append(out, Finding{What: "result", Why: "a redacted value is served in place of the real one", Fix: "override it for the replay if the agent acts on it"})
	}
	if rec.Fidelity == tape.FidelitySynthesised {
		out = append(out, Finding{What: "span", Why: "the call has no span of its own and was taken from model messages, so its times are not real", Fix: "instrument the tool calls too"})
	}
	return out
}

func ofResult(path string) bool {
	for _, member := range []string{"result", "error"} {
		if len(path) >= len(member) && path[:len(member)] == member {
			return true
		}
	}
	return false
}

// bodyOf is the reference to arguments or a result, nil for none.
func bodyOf(rec *tape.Record, args bool) *tape.Body {
	for i := range rec.Bodies {
		if rec.Bodies[i].IsArgs() == args {
			return &rec.Bodies[i]
		}
	}
	return nil
}

func why(s string) string {
	if s == "" {
		return "not captured"
	}
	return s
}
