package rules

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/tape"
)

// Policy says what may differ between a call and the record that answers it.
// The zero value compares everything.
type Policy struct {
	// Presets are names of rules that come with the package; see [Preset].
	Presets []string `json:"presets,omitempty"`
	// Rules apply in their order: at one place the first that decides counts.
	Rules []Rule `json:"rules,omitempty"`
	// Model says what of a model call is compared.
	Model Model `json:"model,omitzero"`
}

// Model says what of a model call is compared, beside its kind, its operation
// and what it says: the members system, messages, input and tools of its
// arguments.
type Model struct {
	// Params are the names of the parameters that are compared, on both sides.
	// Nil is each one that a record of the tape has; empty is none.
	Params []string `json:"params,omitzero"`
}

// Empty reports whether the policy compares everything.
func (p *Policy) Empty() bool {
	return len(p.Presets) == 0 && len(p.Rules) == 0 && p.Model.Params == nil
}

// Add appends a policy that comes later: its rules behind those that are there, its
// presets unless they are there, and its parameters of model calls, if it names any, in
// place of those that are there. Lists that p shares with others stay as they are.
func (p *Policy) Add(later *Policy) {
	p.Rules = slices.Concat(p.Rules, later.Rules)
	for _, name := range later.Presets {
		if !slices.Contains(p.Presets, name) {
			p.Presets = append(slices.Clone(p.Presets), name)
		}
	}
	if later.Model.Params != nil {
		p.Model = later.Model
	}
}

// Text is the policy for people, one indented line a rule.
func (p *Policy) Text() string {
	var b strings.Builder
	if p.Model.Params != nil {
		fmt.Fprintf(&b, "  of model calls, compared parameters are: %s\n", orNone(p.Model.Params))
	}
	for _, name := range p.Presets {
		fmt.Fprintf(&b, "  rules of preset %s\n", name)
	}
	for i := range p.Rules {
		r := &p.Rules[i]
		fmt.Fprintf(&b, "  rule %s", r.Title())
		if r.Name != "" {
			fmt.Fprintf(&b, ": %s", r)
		}
		if r.Why != "" {
			fmt.Fprintf(&b, " (%s)", r.Why)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func orNone(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}

// Rule takes two values for the same that stand at one place of the arguments.
type Rule struct {
	// Name is what reports call the rule; if empty, what it does, and where.
	Name string `json:"name,omitempty"`
	// Kind and Tool say which calls the rule is about. An empty kind is every
	// kind. In Tool, * stands for any text and ? for one character; empty is *.
	Kind tape.Kind `json:"kind,omitempty"`
	Tool string    `json:"tool,omitempty"`
	// Path leads to the place; see [ParsePath].
	Path  string `json:"path"`
	Match Match  `json:"match"`
	// In is "args", or "result" for ids that the tape serves: they are then ids
	// of both sides. Empty is args.
	In string `json:"in,omitempty"`
	// Within is how far two times may be apart, 0 is any distance.
	Within Duration `json:"within,omitzero"`
	// Abs and Rel are how far two numbers may be apart: by an absolute amount, or
	// by a part of the larger one. One of them is enough.
	Abs float64 `json:"abs,omitzero"`
	Rel float64 `json:"rel,omitzero"`
	// Pattern is the regular expression (RE2) that both strings must match as a
	// whole. What its groups capture must be equal.
	Pattern string `json:"pattern,omitempty"`
	// Namespace keeps ids apart; empty is "id".
	Namespace string `json:"namespace,omitempty"`
	// Why says to readers of reports why the difference cannot matter.
	Why string `json:"why,omitempty"`
}

// Match is what a rule takes for the same.
type Match string

// What rules can take for the same.
const (
	// Ignore: whatever is there, on either side, or nothing.
	Ignore Match = "ignore"
	// UUID: two UUIDs, in the form of 8-4-4-4-12 hexadecimal digits.
	UUID Match = "uuid"
	// Time: two times: RFC 3339 with or without zone, RFC 1123, a date, or
	// numbers that count seconds, or thousandths, millionths or billionths of them,
	// since 1970.
	Time Match = "time"
	// Number: two numbers that are near each other.
	Number Match = "number"
	// Regexp: two strings that match an expression.
	Regexp Match = "regexp"
	// Case: two strings that differ in the case of letters.
	Case Match = "case"
	// Unordered: two arrays of the same elements, as often, in any order.
	Unordered Match = "unordered"
	// NFC: two strings that are the same in Unicode normal form C.
	NFC Match = "nfc"
	// ID: two strings or numbers that stand for each other wherever they occur.
	ID Match = "id"
)

// Matches are all that rules can take for the same.
var Matches = []Match{Ignore, UUID, Time, Number, Regexp, Case, Unordered, NFC, ID}

// Where a rule looks.
const (
	InArgs   = "args"
	InResult = "result"
)

// Title is the name of a rule, or what it does, and where.
func (r *Rule) Title() string {
	if r.Name != "" {
		return r.Name
	}
	return r.String()
}

// String is the rule on one line.
func (r *Rule) String() string {
	var b strings.Builder
	b.WriteString(string(r.Match))
	if r.In == InResult {
		b.WriteString(" in results")
	}
	fmt.Fprintf(&b, " at %s", orWhole(r.Path))
	switch {
	case r.Tool != "" && r.Kind != "":
		fmt.Fprintf(&b, " of %s %s", r.Kind, r.Tool)
	case r.Tool != "" || r.Kind != "":
		fmt.Fprintf(&b, " of %s%s", r.Kind, r.Tool)
	}
	if r.Within > 0 {
		fmt.Fprintf(&b, " within %s", time.Duration(r.Within))
	}
	if r.Abs > 0 {
		fmt.Fprintf(&b, " ± %v", r.Abs)
	}
	if r.Rel > 0 {
		fmt.Fprintf(&b, " ± %v of the larger", r.Rel)
	}
	if r.Pattern != "" {
		fmt.Fprintf(&b, " like %s", r.Pattern)
	}
	if r.Namespace != "" {
		fmt.Fprintf(&b, " in namespace %s", r.Namespace)
	}
	return b.String()
}

func orWhole(path string) string {
	if path == "" {
		return "(whole)"
	}
	return path
}

// Duration is a length of time, written as 1m30s.
type Duration time.Duration

// MarshalText writes it.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText reads it.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	*d = Duration(v)
	return err
}

// PresetModelIDs lets the ids of tool calls in model requests differ, where they
// correspond one to one.
const PresetModelIDs = "model-ids"

// Preset returns the rules of that name; ok is false if there are none.
func Preset(name string) (list []Rule, ok bool) {
	if name != PresetModelIDs {
		return nil, false
	}
	for _, path := range []string{"messages[*].parts[*].id", "system[*].parts[*].id", "input[*].parts[*].id"} {
		list = append(list, Rule{
			Name: "ids of tool calls in " + path[:strings.IndexByte(path, '[')], Kind: tape.KindModel, Path: path, Match: ID, Namespace: "tool call",
		})
	}
	return list, true
}
