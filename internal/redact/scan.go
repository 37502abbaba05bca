package redact

import (
	"fmt"
	"regexp"
	"strings"
)

// minKeyword is the shortest keyword the scanner can look for.
const minKeyword = 3

// span is a range of a text to replace.
type span struct {
	start, end int
	typ        string
	// with is what takes its place; "" is the placeholder of typ.
	with string
}

// scanner finds the keywords of all value rules in one pass. A bitmap over
// hashes of three bytes rules out nearly every position with one load; only
// where it does not, keywords are compared, and only where one stands, an
// expression runs.
type scanner struct {
	rules []valueRule
	bits  [1 << (hashBits - 6)]uint64
	heads map[uint32][]keyword
}

type valueRule struct {
	typ      string
	re       *regexp.Regexp
	anchored bool
	check    func(string) bool
}

// keyword is found by three of its bytes, those from at on. It is that of a
// rule, or else the sign of a form.
type keyword struct {
	text string
	at   int
	rule int
	form forms
}

// forms are what is worth looking for in a text, as bits. The first ones have a
// single byte for a sign, which the pass over the text collects as it goes.
type forms uint16

const (
	formAt forms = 1 << iota
	formDigit
	formColon
	formEquals
	formGreater
	formDash
	formJWT
	formPEM
	formURL
	formQuotedAt

	formName = formColon | formEquals | formGreater | formDash
)

var byteForms = func() (t [256]forms) {
	for c := '0'; c <= '9'; c++ {
		t[c] = formDigit
	}
	t['@'], t[':'], t['='], t['>'], t['-'] = formAt, formColon, formEquals, formGreater, formDash
	return t
}()

var formSigns = map[string]forms{jwtHead: formJWT, pemBegin: formPEM, "://": formURL, "%40": formQuotedAt}

const hashBits = 15

func hash3(t uint32) uint32 { return t * 0x9e3779b1 >> (32 - hashBits) }

func newScanner(rules []Rule, off map[string]bool) (*scanner, error) {
	sc := &scanner{heads: map[uint32][]keyword{}}
	for i, r := range rules {
		if off[r.Type] {
			continue
		}
		if err := r.check(); err != nil {
			return nil, fmt.Errorf("values[%d]: %w", i, err)
		}
		re, err := regexp.Compile(r.Expression)
		if err != nil {
			return nil, fmt.Errorf("values[%d]: expression: %w", i, err)
		}
		for _, k := range r.Keywords {
			sc.add(keyword{text: k, at: rarest(k), rule: len(sc.rules)})
		}
		sc.rules = append(sc.rules, valueRule{
			typ: r.Type, re: re, anchored: strings.HasPrefix(r.Expression, "^"), check: validators[r.Validate],
		})
	}
	for sign, form := range formSigns {
		sc.add(keyword{text: sign, at: rarest(sign), form: form})
	}
	return sc, nil
}

func (sc *scanner) add(k keyword) {
	t := uint32(k.text[k.at]) | uint32(k.text[k.at+1])<<8 | uint32(k.text[k.at+2])<<16
	h := hash3(t)
	sc.bits[h>>6] |= 1 << (h & 63)
	sc.heads[t] = append(sc.heads[t], k)
}

// rarest is where the three bytes of a keyword begin that texts are least
// likely to hold: letters alone are common, a dash or a digit among them is not.
func rarest(k string) int {
	best, most := 0, -1
	for i := 0; i+3 <= len(k); i++ {
		n := 0
		for _, c := range []byte(k[i : i+3]) {
			switch {
			case c == ' ':
			case c >= 'a' && c <= 'z':
				n++
			case c >= 'A' && c <= 'Z':
				n += 2
			default:
				n += 3
			}
		}
		if n > most {
			best, most = i, n
		}
	}
	return best
}

// find appends what the rules match in s, and reports of which forms there are
// signs. Matches may overlap.
func (sc *scanner) find(s string, out []span) ([]span, forms) {
	if len(s) < minKeyword {
		return out, 0
	}
	seen := byteForms[s[0]] | byteForms[s[1]]
	t := uint32(s[0])<<8 | uint32(s[1])<<16
	for i := 2; i < len(s); i++ {
		c := s[i]
		seen |= byteForms[c]
		t = t>>8 | uint32(c)<<16
		h := hash3(t)
		if sc.bits[h>>6]&(1<<(h&63)) != 0 {
			out = sc.at(s, i-2, t, out, &seen)
		}
	}
	return out, seen
}

// at tries the rules whose keywords can stand around the bytes t at s[i].
func (sc *scanner) at(s string, i int, t uint32, out []span, seen *forms) []span {
	for _, k := range sc.heads[t] {
		start := i - k.at
		if start < 0 || !strings.HasPrefix(s[start:], k.text) {
			continue
		}
		if k.form != 0 {
			*seen |= k.form
			continue
		}
		r := &sc.rules[k.rule]
		if !r.anchored {
			out = r.around(s, start, len(k.text), out)
		} else if beginsWord(s, start) {
			if m := r.re.FindStringSubmatchIndex(s[start:]); m != nil {
				out = r.add(s, start, m, out)
			}
		}
	}
	return out
}

// An expression that is not anchored to its keyword sees this much text before
// and after it.
const (
	windowBefore = 256
	windowAfter  = 4096
)

// around tries a rule whose match may begin before its keyword s[i:i+n].
func (r *valueRule) around(s string, i, n int, out []span) []span {
	from := max(0, i-windowBefore)
	for _, m := range r.re.FindAllStringSubmatchIndex(s[from:min(len(s), i+n+windowAfter)], -1) {
		if from+m[0] > i {
			break
		}
		if from+m[1] >= i+n {
			out = r.add(s, from, m, out)
		}
	}
	return out
}

// add appends the match m of s[from:] if the rule's check agrees.
func (r *valueRule) add(s string, from int, m []int, out []span) []span {
	a, b := m[0], m[1]
	if len(m) > 2 && m[2] >= 0 {
		a, b = m[2], m[3]
	}
	a, b = a+from, b+from
	if a == b || !r.check(s[a:b]) {
		return out
	}
	return append(out, span{start: a, end: b, typ: r.typ})
}

// beginsWord reports whether no letter or digit belongs to the same word before
// s[i]. The last character of an escape, as in "\nsk-…" or "%3Dsk-…", is none.
func beginsWord(s string, i int) bool {
	if i == 0 || !isAlnum(s[i-1]) || !isAlnum(s[i]) {
		return true
	}
	c := s[i-1]
	if i >= 2 && s[i-2] == '\\' {
		return c == 'n' || c == 'r' || c == 't'
	}
	if i >= 3 && s[i-3] == '%' {
		return isHex(s[i-2]) && isHex(c)
	}
	return i >= 6 && s[i-6] == '\\' && s[i-5] == 'u' && isHex(s[i-4]) && isHex(s[i-3]) && isHex(s[i-2]) && isHex(c)
}

func isAlnum(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}

func isWordByte(c byte) bool { return isAlnum(c) || c == '_' }

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
