package diff

import (
	"bytes"
	"encoding/json"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// Bounds of what a report holds of values, in bytes.
const (
	maxValue  = 4 << 10
	maxValues = 32 << 20
)

// comparison is what comparing two tapes keeps between steps.
type comparison struct {
	policy Policy
	counts Counts
	// room is what values may still take.
	room int
	// forward and back are the ids that correspond.
	forward, back map[string]string
	gapsA, gapsB  map[lack]bool
	ruling        *ruling
}

// lack is a part of a record that was never captured.
type lack struct {
	seq  int
	what string
}

// Tapes compares two tapes. It changes neither.
func Tapes(a, b *tape.Tape, options ...Option) *Report {
	policy := newPolicy(options)
	c := &comparison{
		policy: policy, room: maxValues, forward: map[string]string{}, back: map[string]string{},
		gapsA: lacks(a), gapsB: lacks(b), ruling: newRuling(policy.set),
	}
	left, right := c.records(a), c.records(b)
	r := &Report{A: side(a, left), B: side(b, right), Policy: policy, Steps: []Step{}}
	c.facts(r, a.Manifest, b.Manifest)
	c.walk(r, pairUp(left, right, c.ruling.symbol))
	c.ruling.report(r)
	r.Counts = c.counts
	r.Same = len(r.Steps) == 0 && len(r.Run) == 0
	return r
}

func (c *comparison) records(t *tape.Tape) []*tape.Record {
	out := make([]*tape.Record, 0, len(t.Records))
	for i := range t.Records {
		if r := &t.Records[i]; len(c.policy.Kinds) == 0 || slices.Contains(c.policy.Kinds, r.KindOf()) {
			out = append(out, r)
		}
	}
	return out
}

func side(t *tape.Tape, records []*tape.Record) Side {
	s := Side{Records: len(records)}
	for _, r := range records {
		s.MS += r.MS
	}
	s.MS = math.Round(s.MS*1000) / 1000
	if m := t.Manifest; m != nil {
		s.TraceID, s.Outcome, s.CodeVersion = m.TraceID, m.Outcome, m.CodeVersion
	}
	return s
}

func lacks(t *tape.Tape) map[lack]bool {
	out := map[lack]bool{}
	if t.Manifest != nil {
		for _, g := range t.Manifest.Gaps {
			out[lack{g.Seq, g.What}] = true
		}
	}
	return out
}

// walk goes along both sides and notes what differs.
func (c *comparison) walk(r *Report, p *pairing) {
	i, j := 0, 0
	part := func() {
		if r.First == nil {
			r.First = &First{}
			if i < len(p.recordsA) {
				r.First.A = refOf(p.recordsA[i])
			}
			if j < len(p.recordsB) {
				r.First.B = refOf(p.recordsB[j])
			}
		}
	}
	for i < len(p.recordsA) || j < len(p.recordsB) {
		switch {
		case i < len(p.recordsA) && p.ofA[i] < 0:
			part()
			c.counts.Missing++
			r.Steps = append(r.Steps, Step{Status: Missing, A: refOf(p.recordsA[i])})
			i++
		case i < len(p.recordsA) && p.movedA[i]:
			part()
			i++
		case j < len(p.recordsB) && p.ofB[j] < 0:
			part()
			c.counts.Added++
			r.Steps = append(r.Steps, Step{Status: Added, B: refOf(p.recordsB[j])})
			j++
		case j < len(p.recordsB) && p.movedB[j]:
			part()
			c.pair(r, Moved, p.recordsA[p.ofB[j]], p.recordsB[j])
			j++
		default:
			if c.pair(r, Changed, p.recordsA[i], p.recordsB[j]) {
				part()
			}
			i, j = i+1, j+1
		}
	}
}

// pair compares two records and reports whether the step is worth a line.
func (c *comparison) pair(r *Report, status Status, a, b *tape.Record) bool {
	step := Step{Status: status, Changes: c.compare(a, b)}
	if n := len(step.Changes); n > replay.MaxDifferences {
		step.Changes, step.More = step.Changes[:replay.MaxDifferences:replay.MaxDifferences], n-replay.MaxDifferences
	}
	switch {
	case status == Moved:
		c.counts.Moved++
		if len(step.Changes) > 0 {
			c.counts.Changed++
		}
	case len(step.Changes) == 0:
		c.counts.Same++
		return false
	default:
		c.counts.Changed++
	}
	for i := range step.Changes {
		c.bound(&step.Changes[i])
	}
	step.A, step.B = refOf(a), refOf(b)
	r.Steps = append(r.Steps, step)
	return true
}

// compare lists what differs between two records.
func (c *comparison) compare(a, b *tape.Record) []Change {
	var out []Change
	if c.captured(a, b, "args") {
		out = append(out, c.values("args", argsOf(a), argsOf(b), a)...)
	}
	if c.captured(a, b, "result") && a.Error == nil && b.Error == nil {
		out = append(out, c.values("result", held(a, a.Result, false), held(b, b.Result, false), a)...)
	}
	out = append(out, c.values("error", errorOf(a), errorOf(b), nil)...)
	for _, m := range []struct{ what, a, b string }{
		{"model", a.Model, b.Model},
		{"prompt_version", a.PromptVersion, b.PromptVersion},
		{"schema_version", a.SchemaVersion, b.SchemaVersion},
		{"policy_result", a.PolicyResult, b.PolicyResult},
	} {
		if m.a != m.b {
			out = append(out, Change{What: m.what, A: text(m.a), B: text(m.b)})
		}
	}
	if c.policy.TimingMS > 0 && math.Abs(a.MS-b.MS) >= c.policy.TimingMS {
		out = append(out, Change{What: "timing", A: number(a.MS), B: number(b.MS)})
	}
	return out
}

// captured reports whether both sides have a part; that one side never captured it
// is counted and is no difference of the runs.
func (c *comparison) captured(a, b *tape.Record, what string) bool {
	inA, inB := !c.gapsA[lack{a.Seq, what}], !c.gapsB[lack{b.Seq, what}]
	if !inA || !inB {
		c.counts.NotCompared++
	}
	return inA && inB
}

// argsOf are the arguments, as text where they were not JSON.
func argsOf(r *tape.Record) json.RawMessage {
	if r.ArgsRaw != "" && len(r.Args) == 0 {
		return text(r.ArgsRaw)
	}
	return held(r, r.Args, true)
}

// held is a value, or what says which one is held elsewhere.
func held(r *tape.Record, value json.RawMessage, args bool) json.RawMessage {
	for i := range r.Bodies {
		if b := &r.Bodies[i]; b.IsArgs() == args {
			out, _ := json.Marshal(b)
			return out
		}
	}
	return value
}

func errorOf(r *tape.Record) json.RawMessage {
	if r.Error == nil {
		return nil
	}
	out, _ := json.Marshal(r.Error)
	return out
}

// values lists where two JSON texts differ. Of is the record whose arguments or result
// they are, nil for errors.
func (c *comparison) values(what string, a, b json.RawMessage, of *tape.Record) (out []Change) {
	if bytes.Equal(a, b) {
		return nil
	}
	if len(a) == 0 || len(b) == 0 {
		if blank(a) && blank(b) {
			return nil
		}
		return []Change{{What: what, A: a, B: b}}
	}
	var list []replay.Difference
	var err error
	if m := c.ruling.matcher(of, what); m != nil {
		if list, err = c.ruling.differences(m, of, a, b); err == nil && len(list) == 0 {
			return nil
		}
	} else {
		list, err = replay.Diff(a, b)
	}
	if err != nil || len(list) == 0 {
		if err != nil || !sameJSON(a, b) {
			// They differ in what keys pass over, such as a null or white space.
			out = append(out, Change{What: what, A: a, B: b})
		}
		return out
	}
	model := of != nil && of.KindOf() == tape.KindModel
	for _, d := range list {
		if model && c.policy.RenamedIDs && c.renamed(what, d) {
			continue
		}
		out = append(out, Change{What: what, Path: d.Path, A: d.Recorded, B: d.Live})
	}
	return out
}

func blank(v json.RawMessage) bool { return len(v) == 0 || string(v) == "null" }

func sameJSON(a, b json.RawMessage) bool {
	var x, y any
	da, db := json.NewDecoder(bytes.NewReader(a)), json.NewDecoder(bytes.NewReader(b))
	da.UseNumber()
	db.UseNumber()
	return da.Decode(&x) == nil && db.Decode(&y) == nil && reflect.DeepEqual(x, y)
}

// idPath matches the places of a model's call that hold an id which the model or
// its API made up: of a call, or of the answer.
var idPath = regexp.MustCompile(`^(?:(?:messages?(?:\[\d+\])?\.)(?:parts\[\d+\]\.)?(?:id|tool_call_id)|id|response_id)$`)

// renamed reports whether a difference is an id that stands for the same thing on
// the other side: each has one partner in the whole run.
func (c *comparison) renamed(what string, d replay.Difference) bool {
	if what != "args" && what != "result" || !idPath.MatchString(d.Path) {
		return false
	}
	var a, b string
	if json.Unmarshal(d.Recorded, &a) != nil || json.Unmarshal(d.Live, &b) != nil {
		return false
	}
	there, known := c.forward[a]
	here, taken := c.back[b]
	switch {
	case !known && !taken:
		c.forward[a], c.back[b] = b, a
		c.counts.RenamedIDs++
		return true
	default:
		return there == b && here == a
	}
}

// bound cuts values that are too long for a report.
func (c *comparison) bound(change *Change) {
	for _, v := range []*json.RawMessage{&change.A, &change.B} {
		if len(*v) > maxValue {
			*v = text(strings.ToValidUTF8(string((*v)[:maxValue]), "") + "…")
			change.Cut = true
		}
		if len(*v) > c.room {
			*v, change.Cut = nil, true
		}
		c.room -= len(*v)
	}
}

// text is a string as JSON, nil for none.
func text(s string) json.RawMessage {
	if s == "" {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	// A string can always be encoded.
	_ = enc.Encode(s)
	return bytes.TrimSpace(b.Bytes())
}

func number(x float64) json.RawMessage {
	out, err := json.Marshal(x)
	if err != nil {
		return nil
	}
	return out
}
