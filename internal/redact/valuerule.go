package redact

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode/utf8"
)

// valueRule is a rule ready to run.
type valueRule struct {
	typ      string
	re       *regexp.Regexp
	anchored bool
	check    func(string) bool
	keywords []string
	// number is its place among the rules.
	number int
	// before and after are how much text around its keyword it sees if it is
	// not anchored.
	before, after int
}

func isAnchored(r Rule) bool { return strings.HasPrefix(r.Expression, "^") }

func newValueRule(r Rule, re *regexp.Regexp, number int) valueRule {
	v := valueRule{
		typ: r.Type, re: re, anchored: isAnchored(r), check: validators[r.Validate], keywords: r.Keywords,
		number: number, before: windowBefore, after: windowAfter,
	}
	// The expression has been compiled, so it can be parsed.
	if tree, err := syntax.Parse(r.Expression, syntax.Perl); err == nil {
		longest := longestMatch(tree)
		v.before, v.after = min(v.before, longest), min(v.after, longest)
	}
	return v
}

// longestMatch is the length in bytes of the longest text that an expression
// matches, or windowAfter if there is no end to it.
func longestMatch(e *syntax.Regexp) int {
	n := 0
	switch e.Op {
	case syntax.OpLiteral:
		n = len(e.Rune) * utf8.UTFMax
	case syntax.OpCharClass, syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		n = utf8.UTFMax
		if len(e.Rune) > 0 && e.Rune[len(e.Rune)-1] < utf8.RuneSelf {
			n = 1
		}
	case syntax.OpStar, syntax.OpPlus:
		n = windowAfter
	case syntax.OpRepeat:
		if n = windowAfter; e.Max >= 0 {
			n = e.Max * longestMatch(e.Sub[0])
		}
	case syntax.OpAlternate:
		for _, sub := range e.Sub {
			n = max(n, longestMatch(sub))
		}
	case syntax.OpCapture, syntax.OpConcat, syntax.OpQuest:
		for _, sub := range e.Sub {
			n += longestMatch(sub)
		}
	}
	return min(n, windowAfter)
}

const (
	// An expression that is not anchored to its keyword sees this much text
	// before and after it, or as much as it can match if that is less.
	windowBefore = 256
	windowAfter  = 4096
	// An expression that fails has usually read no more than this.
	failed = 64
	// What expressions may read of a text: some times its length and a bit.
	maxSpentTimes = 16
	maxSpentMore  = 1 << 20
)

// errSpent stops the rules on a text made to keep them busy. The text is then
// one that cannot be judged.
var errSpent = errors.New("the rules cost more than the text is worth")

func (f *findings) spend(s string, n int) {
	if f.spent += n; f.spent > maxSpentTimes*len(s)+maxSpentMore {
		panic(errSpent)
	}
}

// from tries a rule whose match begins at its keyword s[i:].
func (r *valueRule) from(s string, i int, f *findings) {
	if r.number < len(f.ends) && i < f.ends[r.number] {
		return
	}
	m := r.re.FindStringSubmatchIndex(s[i:min(len(s), i+windowAfter)])
	if m != nil && m[1] == windowAfter {
		m = r.re.FindStringSubmatchIndex(s[i:])
	}
	if m == nil {
		f.spend(s, failed)
		return
	}
	f.spend(s, m[1])
	for len(f.ends) <= r.number {
		f.ends = append(f.ends, 0)
	}
	f.ends[r.number] = i + m[1]
	r.add(s, i, m, f)
}

// around tries a rule whose match may begin before its keyword s[i:i+n].
func (r *valueRule) around(s string, i, n int, f *findings) {
	from, to := max(0, i-r.before), min(len(s), i+n+r.after)
	f.spend(s, to-from)
	for _, m := range r.re.FindAllStringSubmatchIndex(s[from:to], -1) {
		if from+m[0] > i {
			break
		}
		if from+m[1] >= i+n {
			r.add(s, from, m, f)
		}
	}
}

// add appends the match m of s[from:] if the rule's check agrees.
func (r *valueRule) add(s string, from int, m []int, f *findings) {
	a, b := m[0], m[1]
	if len(m) > 2 && m[2] >= 0 {
		a, b = m[2], m[3]
	}
	a, b = a+from, b+from
	if a < b && r.check(s[a:b]) && !isMarked(s[a:b]) {
		f.spans = append(f.spans, span{start: a, end: b, typ: r.typ})
	}
}
