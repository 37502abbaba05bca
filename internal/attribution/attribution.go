package attribution

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tapedeck/tapedeck/tape"
)

// Finding is one class that fits a failed call, and why.
type Finding struct {
	Class    string
	Evidence string
}

// Tape sets the failure class of each failed record, and class and evidence of
// the run's failure.
func Tape(t *tape.Tape) {
	a := attributor{t: t}
	for i := range t.Records {
		rec := &t.Records[i]
		if !rec.Failed() {
			continue
		}
		findings := a.record(i)
		rec.FailureClass = findings[0].Class
		if m := t.Manifest; m != nil && m.Failure != nil && m.Failure.Seq == rec.Seq {
			m.Failure.Class = rec.FailureClass
			m.Failure.Evidence = evidence(m.Failure.Evidence, findings)
		}
	}
	if m := t.Manifest; m != nil && m.Failure != nil && m.Failure.Class == "" {
		// Only the root tells of a failure: its reason is all there is.
		findings := rank(byRules(&tape.Error{Message: m.Failure.Reason}))
		m.Failure.Class = findings[0].Class
		m.Failure.Evidence = evidence(m.Failure.Evidence, findings)
	}
}

func evidence(have []string, findings []Finding) []string {
	for _, f := range findings {
		if f.Evidence == "" {
			continue
		}
		if s := f.Class + ": " + f.Evidence; !slices.Contains(have, s) {
			have = append(have, s)
		}
	}
	return have
}

type attributor struct {
	t       *tape.Tape
	schemas map[string]*schema
}

// record lists what fits a failed record, the earliest cause first; there is
// always at least one.
func (a *attributor) record(i int) []Finding {
	rec := &a.t.Records[i]
	found := byRules(rec.Error)
	if rec.KindOf() == tape.KindTool {
		found = append(found, a.selection(rec)...)
		found = append(found, a.arguments(rec)...)
		found = append(found, a.repeated(i)...)
	}
	if denied(rec.PolicyResult) {
		found = append(found, Finding{PolicyRegression, fmt.Sprintf("policy_result is %q", rec.PolicyResult)})
	}
	return rank(found)
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

// byRules applies the table to an error.
func byRules(e *tape.Error) (found []Finding) {
	message := strings.ToLower(e.Message)
	for _, rule := range Rules {
		if code := matchCode(rule.Codes, e); code != "" {
			found = append(found, Finding{rule.Class, code})
			continue
		}
		for _, p := range rule.Phrases {
			if containsPhrase(message, p) {
				found = append(found, Finding{rule.Class, fmt.Sprintf("message says %q", p)})
				break
			}
		}
	}
	return found
}

func matchCode(codes []string, e *tape.Error) string {
	for _, c := range codes {
		if strings.EqualFold(c, e.Code) {
			return "error code " + e.Code
		}
		if typ := className(e.Type); typ != "" && strings.EqualFold(c, typ) {
			return "error type " + e.Type
		}
	}
	return ""
}

// className is the last part of a dotted or slashed type name, without a
// pointer: "builtins.TimeoutError" and "*net.TimeoutError" are both TimeoutError.
func className(typ string) string {
	return typ[strings.LastIndexAny(typ, ".*/:")+1:]
}

func containsPhrase(text, phrase string) bool {
	for from := 0; ; {
		i := strings.Index(text[from:], phrase)
		if i < 0 {
			return false
		}
		i += from
		before, _ := utf8.DecodeLastRuneInString(text[:i])
		after, _ := utf8.DecodeRuneInString(text[i+len(phrase):])
		if !wordRune(before) && !wordRune(after) {
			return true
		}
		from = i + 1
	}
}

func wordRune(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// selection: the model called a tool it was not given.
func (a *attributor) selection(rec *tape.Record) []Finding {
	m := a.t.Manifest
	if m == nil || len(m.Tools) == 0 || a.tool(rec.Tool) != nil || !a.calledByName(rec) {
		return nil
	}
	return []Finding{{ToolSelection, fmt.Sprintf("the model was not given a tool %q", rec.Tool)}}
}

// calledByName guards against names that differ between the tool list and the
// span, such as a class or a server prefix: if a call of that name went well, the
// name is not the fault.
func (a *attributor) calledByName(rec *tape.Record) bool {
	for i := range a.t.Records {
		other := &a.t.Records[i]
		if other.Tool == rec.Tool && !other.Failed() {
			return false
		}
	}
	for _, t := range a.t.Manifest.Tools {
		if strings.HasSuffix(rec.Tool, t.Name) || strings.HasSuffix(t.Name, rec.Tool) {
			return false
		}
	}
	return true
}

func (a *attributor) tool(name string) *tape.Tool {
	for i := range a.t.Manifest.Tools {
		if t := &a.t.Manifest.Tools[i]; t.Name == name {
			return t
		}
	}
	return nil
}

// arguments: what the model wrote does not fit the schema it was given.
func (a *attributor) arguments(rec *tape.Record) []Finding {
	if rec.Fidelity == tape.FidelityAbsent || rec.Fidelity == tape.FidelityTruncated || rec.Fidelity == tape.FidelityRedacted ||
		a.t.Manifest == nil || len(rec.Args) == 0 {
		return nil
	}
	t := a.tool(rec.Tool)
	if t == nil || len(t.Schema) == 0 {
		return nil
	}
	if a.schemas == nil {
		a.schemas = make(map[string]*schema)
	}
	s, ok := a.schemas[t.Name]
	if !ok {
		s = compile(t.Schema)
		a.schemas[t.Name] = s
	}
	if fault := s.check(rec.Args); fault != "" {
		return []Finding{{ArgsGeneration, "arguments do not fit the schema: " + fault}}
	}
	return nil
}

// repeated: a write that had been made before with the same arguments.
func (a *attributor) repeated(i int) []Finding {
	rec := &a.t.Records[i]
	if rec.SideEffect == nil || !*rec.SideEffect {
		return nil
	}
	for j := range a.t.Records[:i] {
		before := &a.t.Records[j]
		if before.Key == rec.Key && !before.Failed() {
			return []Finding{{SideEffectConflict, fmt.Sprintf("the same write went well at step %d", before.Seq)}}
		}
	}
	return nil
}

func denied(policy string) bool {
	var word string
	if json.Unmarshal([]byte(policy), &word) != nil {
		word = policy
	}
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "deny", "denied", "block", "blocked", "reject", "rejected", "fail", "failed":
		return true
	default:
		return false
	}
}
