package redact

import (
	"fmt"
	"regexp"
	"strings"
)

const minKeyword = 3

// span is a range of a text to replace.
type span struct {
	start, end int
	typ        string
}

type valueRule struct {
	typ      string
	re       *regexp.Regexp
	anchored bool
	check    func(string) bool
}

type scanner struct {
	rules    []valueRule
	keywords []keyword
}

type keyword struct {
	text string
	rule int
}

func newScanner(rules []Rule, off map[string]bool) (*scanner, error) {
	s := &scanner{}
	for i, r := range rules {
		if off[r.Type] {
			continue
		}
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("values[%d]: %w", i, err)
		}
		v := valueRule{typ: r.Type, re: regexp.MustCompile(r.Expression), check: validators[r.Validate], anchored: strings.HasPrefix(r.Expression, "^")}
		for _, k := range r.Keywords {
			s.keywords = append(s.keywords, keyword{k, len(s.rules)})
		}
		s.rules = append(s.rules, v)
	}
	return s, nil
}

func (sc *scanner) find(s string, out []span) []span {
	for _, k := range sc.keywords {
		for from := 0; ; {
			i := strings.Index(s[from:], k.text)
			if i < 0 {
				break
			}
			i += from
			from = i + 1
			if i > 0 && isWordByte(s[i-1]) {
				continue
			}
			r := &sc.rules[k.rule]
			m := r.re.FindStringSubmatchIndex(s[i:])
			if m == nil {
				continue
			}
			a, b := m[0], m[1]
			if len(m) > 2 && m[2] >= 0 {
				a, b = m[2], m[3]
			}
			if r.check(s[i+a : i+b]) {
				out = append(out, span{i + a, i + b, r.typ})
			}
		}
	}
	return out
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_'
}

var validators = map[string]func(string) bool{
	"": func(string) bool { return true },
}
