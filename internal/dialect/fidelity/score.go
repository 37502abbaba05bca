package fidelity

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/tape"
)

// Fields are the compared fields, in the order of the table.
var Fields = []string{"tool", "id", "args", "result", "failed", "error", "order", "spans", "models", "messages", "requests", "answers", "outcome", "identity"}

// Miss is a field that is not as it should be.
type Miss struct {
	Case  string `json:"case"`
	Field string `json:"field"`
	// What names the call and both values.
	What string `json:"-"`
}

// Score counts right and compared values by field.
type Score struct {
	Case string
	// Dialects are those that records of the case were read by, ordered.
	Dialects []string
	// Instrumentation is what wrote the spans.
	Instrumentation string
	// Origin is the directory the case is from: captures, samples or described.
	Origin string
	Right  map[string]int
	Of     map[string]int
	Misses []Miss
}

// Compare scores the tapes of a case.
func (c Case) Compare(tapes []*tape.Tape) Score {
	s := Score{Case: c.Name, Right: map[string]int{}, Of: map[string]int{}}
	recs := records(tapes)
	s.Dialects = dialectsOf(recs)
	s.tools(c.Want, recs)
	s.models(c.Want, recs)
	s.runs(c.Want, tapes)
	return s
}

func (s *Score) check(field string, ok bool, what string, args ...any) {
	s.Of[field]++
	if ok {
		s.Right[field]++
		return
	}
	s.Misses = append(s.Misses, Miss{s.Case, field, fmt.Sprintf(what, args...)})
}

// dialectsOf are the dialects of the records.
func dialectsOf(recs []located) []string {
	var out []string
	for _, r := range recs {
		out = append(out, r.Dialect)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// located is a record and the number of its run.
type located struct {
	*tape.Record
	run int
}

func records(tapes []*tape.Tape) []located {
	var out []located
	for i, t := range tapes {
		for j := range t.Records {
			out = append(out, located{&t.Records[j], i})
		}
	}
	return out
}

func (s *Score) tools(want Want, recs []located) {
	var tools []located
	for _, r := range recs {
		if r.KindOf() == tape.KindTool {
			tools = append(tools, r)
		}
	}
	taken := make([]bool, len(tools))
	last, ordered := -1, true
	for i, w := range want.Tools {
		at := pick(w, tools, taken)
		if at < 0 {
			s.check("tool", false, "call %d: %s is missing", i+1, w.Tool)
			continue
		}
		taken[at] = true
		// Calls of one request start within the same moment in any order.
		if at < last && i > 0 && !together(tools[at], tools[last]) {
			ordered = false
		}
		last = max(last, at)
		s.tool(w, tools[at].Record)
	}
	s.check("order", ordered, "calls are out of order")
	for i, r := range tools {
		if !taken[i] {
			s.check("tool", false, "%s (%s) is no call", r.Tool, r.StepID)
		}
	}
}

// together reports whether two calls overlap in time, or start at the same
// moment.
func together(a, b located) bool {
	if a.run != b.run {
		return false
	}
	aStart, aEnd := interval(a)
	bStart, bEnd := interval(b)
	return aStart.Equal(bStart) || aStart.Before(bEnd) && bStart.Before(aEnd)
}

func interval(r located) (start, end time.Time) {
	start, err := time.Parse(time.RFC3339Nano, r.Start)
	if err != nil {
		return time.Time{}, time.Time{}
	}
	return start, start.Add(time.Duration(r.MS * float64(time.Millisecond)))
}

// pick finds the record of a wanted call: by span, by id, then by name and
// order.
func pick(w WantTool, tools []located, taken []bool) int {
	for _, rule := range []func(r located) bool{
		func(r located) bool { return len(w.Spans) > 0 && slices.Contains(w.Spans, r.StepID) },
		func(r located) bool { return r.ToolCallID != "" && slices.Contains(w.IDs, r.ToolCallID) },
		func(r located) bool { return r.Tool == w.Tool && same(r.Args, w.Args) },
		func(r located) bool { return r.Tool == w.Tool },
	} {
		for i, r := range tools {
			if !taken[i] && rule(r) {
				return i
			}
		}
	}
	return -1
}

func (s *Score) tool(w WantTool, r *tape.Record) {
	alt := func(field string, raw []byte) bool {
		for _, a := range w.Alternatives[field] {
			if same(raw, a) {
				return true
			}
		}
		return false
	}
	s.check("tool", r.Tool == w.Tool || alt("tool", quote(r.Tool)), "tool is %q, not %q", r.Tool, w.Tool)
	if w.IDs != nil {
		s.check("id", slices.Contains(w.IDs, r.ToolCallID), "%s: id is %q, not %q", w.Tool, r.ToolCallID, w.IDs)
	}
	if w.Args != nil {
		s.check("args", same(r.Args, w.Args) || alt("args", r.Args), "%s: args are %s, not %s", w.Tool, r.Args, w.Args)
	}
	if w.Result != nil {
		s.check("result", same(r.Result, w.Result) || alt("result", r.Result), "%s: result is %s, not %s", w.Tool, r.Result, w.Result)
	} else if w.NoResult {
		s.check("result", same(r.Result, []byte("null")) || alt("result", r.Result), "%s: result is %s, of which the recording says nothing", w.Tool, r.Result)
	}
	s.check("failed", r.Failed() == w.Failed || alt("failed", []byte(fmt.Sprint(r.Failed()))), "%s: failed is %v", w.Tool, r.Failed())
	if w.ErrorPart != "" && r.Error != nil {
		text := r.Error.Message + " " + r.Error.Type
		s.check("error", strings.Contains(text, w.ErrorPart), "%s: error is %q", w.Tool, text)
	}
	if w.Spans != nil {
		have := r.SpanIDs
		if len(have) == 0 && r.StepID != "" {
			have = []string{r.StepID}
		}
		ok := len(have) == len(w.Spans) && (len(have) == 0 || have[0] == w.Spans[0]) && sameSet(have, w.Spans)
		s.check("spans", ok, "%s: spans are %v, not %v", w.Tool, have, w.Spans)
	}
}

func (s *Score) runs(want Want, tapes []*tape.Tape) {
	var got []string
	for _, t := range tapes {
		got = append(got, string(t.Manifest.Outcome))
	}
	ok := slices.Equal(got, want.Outcomes)
	if !ok && len(got) == 1 {
		for _, a := range want.Alt["outcome"] {
			ok = ok || same(quote(got[0]), a)
		}
	}
	s.check("outcome", ok, "outcomes are %v, not %v", got, want.Outcomes)
	if !want.HasIdentity || len(tapes) == 0 {
		return
	}
	m := tapes[len(tapes)-1].Manifest
	s.identity("agent", m.Agent, want.Agent, want.Alt["agent"])
	s.identity("conversation_id", m.ConversationID, want.Conversation, want.Alt["conversation_id"])
}

func (s *Score) identity(name, got string, want *string, alts []json.RawMessage) {
	wanted := ""
	if want != nil {
		wanted = *want
	}
	ok := got == wanted
	for _, a := range alts {
		ok = ok || same(quote(got), a)
	}
	s.check("identity", ok, "%s is %q, not %q", name, got, wanted)
}

func quote(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return nil
	}
	return b
}

func sameSet(a, b []string) bool {
	a, b = slices.Clone(a), slices.Clone(b)
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(a, b)
}

// same compares JSON by value; absent is null.
func same(a, b []byte) bool {
	var x, y any
	if len(a) > 0 && json.Unmarshal(a, &x) != nil || len(b) > 0 && json.Unmarshal(b, &y) != nil {
		return false
	}
	return reflect.DeepEqual(x, y)
}
