package rules

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/tapedeck/tapedeck/tape"
)

// MaxRules bounds a policy.
const MaxRules = 1000

// Set is a policy that was checked and made ready. It is safe for concurrent use.
type Set struct {
	rules []compiled
}

// compiled is a rule made ready.
type compiled struct {
	rule  Rule
	title string
	// namespace is that of ids, with the default applied.
	namespace string
	path      Path
	re        *regexp.Regexp
}

// RuleError says what is wrong with a rule of a policy.
type RuleError struct {
	// Index counts the rules from 0; Title names the rule.
	Index int
	Title string
	// Member is the member of the rule that is wrong.
	Member string
	Err    error
}

func (e *RuleError) Error() string {
	return fmt.Sprintf("rule %d (%s): member %q: %v", e.Index+1, e.Title, e.Member, e.Err)
}

// Unwrap gives what is wrong.
func (e *RuleError) Unwrap() error { return e.Err }

// Compile makes a policy ready. The error is a [*RuleError] if a rule is wrong.
func Compile(p *Policy) (*Set, error) {
	s := &Set{}
	titles := map[string]int{}
	for i := range p.Rules {
		c, member, err := compile(p.Rules[i])
		if first, ok := titles[c.title]; ok && err == nil {
			member, err = "name", fmt.Errorf("rule %d has the same", first+1)
		}
		if len(p.Rules) > MaxRules {
			err = fmt.Errorf("%d rules; at most %d are allowed", len(p.Rules), MaxRules)
		}
		if err != nil {
			return nil, &RuleError{i, p.Rules[i].Title(), member, err}
		}
		titles[c.title] = i
		s.rules = append(s.rules, c)
	}
	for _, name := range p.Presets {
		list, ok := Preset(name)
		if !ok {
			return nil, fmt.Errorf("member \"presets\": there is no preset %q, only %q", name, PresetModelIDs)
		}
		for _, r := range list {
			if _, ok := titles[r.Title()]; ok {
				continue
			}
			c, _, err := compile(r)
			if err != nil {
				return nil, err
			}
			titles[c.title] = len(s.rules)
			s.rules = append(s.rules, c)
		}
	}
	return s, nil
}

// compile makes a rule ready, or names the member that is wrong.
func compile(r Rule) (c compiled, member string, err error) {
	c = compiled{rule: r, title: r.Title(), namespace: r.Namespace}
	if c.namespace == "" {
		c.namespace = "id"
	}
	if !slices.Contains(Matches, r.Match) {
		return c, "match", fmt.Errorf("%q is none of %q", r.Match, Matches)
	}
	if r.Kind != "" && !slices.Contains(tape.Kinds, r.Kind) {
		return c, "kind", fmt.Errorf("%q is none of %q", r.Kind, tape.Kinds)
	}
	if c.path, err = ParsePath(r.Path); err != nil {
		return c, "path", fmt.Errorf("%q: %w", r.Path, err)
	}
	if r.In != "" && r.In != InArgs && (r.In != InResult || r.Match != ID) {
		return c, "in", fmt.Errorf("%q: want args, or result for ids", r.In)
	}
	// A member that another match would need changes nothing, and looks as if.
	for _, m := range []struct {
		name string
		set  bool
		of   Match
	}{
		{"within", r.Within != 0, Time}, {"abs", r.Abs != 0, Number}, {"rel", r.Rel != 0, Number},
		{"pattern", r.Pattern != "", Regexp}, {"namespace", r.Namespace != "", ID},
	} {
		if m.set && r.Match != m.of {
			return c, m.name, fmt.Errorf("only rules that match %q have it", m.of)
		}
	}
	switch {
	case r.Within < 0:
		return c, "within", errors.New("it is negative")
	case !(r.Abs >= 0) || math.IsInf(r.Abs, 0):
		return c, "abs", fmt.Errorf("%v: want a number that is not negative", r.Abs)
	case !(r.Rel >= 0 && r.Rel <= 1):
		return c, "rel", fmt.Errorf("%v: want a number from 0 to 1", r.Rel)
	case r.Match == Number && r.Abs == 0 && r.Rel == 0:
		return c, "abs", errors.New("numbers need a tolerance: abs, rel or both")
	case r.Match == Regexp && r.Pattern == "":
		return c, "pattern", errors.New("it is missing")
	case r.Match == Regexp:
		if c.re, err = regexp.Compile(`\A(?:` + r.Pattern + `)\z`); err != nil {
			return c, "pattern", err
		}
	}
	return c, "", nil
}

// Rules are the rules of the set, those of presets included.
func (s *Set) Rules() []Rule {
	list := make([]Rule, len(s.rules))
	for i := range s.rules {
		list[i] = s.rules[i].rule
	}
	return list
}

// Why is what the author of a rule that ignores says about it.
func (s *Set) Why(title string) string {
	for i := range s.rules {
		if c := &s.rules[i]; c.title == title && c.rule.Why != "" {
			return c.rule.Why
		}
	}
	return "ignored: it is claimed that it cannot matter"
}

// Matcher is the rules about the calls of one tool.
type Matcher struct {
	rules []compiled
	root  []pos
}

// Args are the rules about the arguments of a tool, nil if there are none.
func (s *Set) Args(kind tape.Kind, tool string) *Matcher { return s.matcher(kind, tool, false) }

// Results are the rules about the results of a tool, nil if there are none.
func (s *Set) Results(kind tape.Kind, tool string) *Matcher { return s.matcher(kind, tool, true) }

func (s *Set) matcher(kind tape.Kind, tool string, result bool) *Matcher {
	m := &Matcher{}
	for _, c := range s.rules {
		r := &c.rule
		if (r.In == InResult) == result && (r.Kind == "" || r.Kind == kind) && (r.Tool == "" || glob(r.Tool, tool)) {
			m.rules = append(m.rules, c)
		}
	}
	if len(m.rules) == 0 {
		return nil
	}
	m.root = m.Root().here
	return m
}

// HasIDs reports whether a rule is about ids.
func (m *Matcher) HasIDs() bool {
	return slices.ContainsFunc(m.rules, func(c compiled) bool { return c.rule.Match == ID })
}

// glob reports whether a name is like a pattern with * and ?.
func glob(pattern, name string) bool {
	p, n := []rune(pattern), []rune(name)
	// star and mark are where to go on after one more character for the last *.
	star, mark, i, k := -1, 0, 0, 0
	for k < len(n) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, k
			i++
		case i < len(p) && (p[i] == '?' || p[i] == n[k]):
			i, k = i+1, k+1
		case star >= 0:
			mark++
			i, k = star+1, mark
		default:
			return false
		}
	}
	for i < len(p) && p[i] == '*' {
		i++
	}
	return i == len(p)
}
