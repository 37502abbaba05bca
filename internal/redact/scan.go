package redact

import (
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unsafe"
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

// scanner finds the keywords of all value rules in one pass. A table over
// hashes of three bytes rules out nearly every position with one load; only
// where it does not, keywords are compared, and only where one stands, an
// expression runs.
type scanner struct {
	rules []valueRule
	// table says for a hash which of the lists of keywords to compare, 0 none.
	table [1 << hashBits]uint8
	heads [1 << 8][]keyword
	lists uint8
	// signs are the keywords that a match may begin before.
	signs []string
	// opaque: base64 that is no text is passed over.
	opaque bool
}

// keyword is found by three of its bytes, those from at on. It is that of a
// rule, or else the sign of a form.
type keyword struct {
	text string
	at   int
	rule int
	form forms
}

// forms are the forms that a text shows signs of, as bits.
type forms uint8

const (
	formJWT forms = 1 << iota
	formPEM
	formURL
	formQuotedAt
	formData
)

var formSigns = map[string]forms{
	jwtHead: formJWT, pemBegin: formPEM, "://": formURL, "%40": formQuotedAt, dataSign: formData,
}

// findings are what one pass over one text collects.
type findings struct {
	spans []span
	runs  []run
	seen  forms
	// rule has matched up to end, so that it need not be tried before.
	rule *valueRule
	end  int
	// spent is how many bytes expressions were given to read.
	spent int
}

func (f *findings) reset() {
	*f = findings{spans: f.spans[:0], runs: f.runs[:0]}
}

const hashBits = 14

func hash3(t uint32) uint32 { return (t & 0xffffff) * 0x9e3779b1 >> (32 - hashBits) }

func newScanner(rules []Rule, off map[string]bool, opaque bool) (*scanner, error) {
	sc := &scanner{opaque: opaque}
	for i, r := range rules {
		if off[r.Type] {
			continue
		}
		re, err := r.compile()
		if err != nil {
			return nil, fmt.Errorf("values[%d]: %w", i, err)
		}
		for _, k := range r.Keywords {
			sc.add(keyword{text: k, at: rarest(k), rule: len(sc.rules)})
		}
		anchored := strings.HasPrefix(r.Expression, "^")
		if !anchored {
			sc.signs = append(sc.signs, r.Keywords...)
		}
		sc.rules = append(sc.rules, valueRule{
			typ: r.Type, re: re, anchored: anchored, check: validators[r.Validate], keywords: r.Keywords,
		})
	}
	for sign, form := range formSigns {
		sc.add(keyword{text: sign, at: rarest(sign), form: form})
	}
	return sc, nil
}

func (sc *scanner) add(k keyword) {
	t := three(k.text, k.at)
	list := &sc.table[hash3(t)]
	if *list == 0 {
		// More than 255 lists share, which costs comparisons only.
		sc.lists = sc.lists%255 + 1
		*list = sc.lists
	}
	sc.heads[*list] = append(sc.heads[*list], k)
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

// find collects what the rules match in s, of which forms there are signs, and
// where s is opaque. Matches may overlap.
func (sc *scanner) find(s string, f *findings) {
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	// known is how far it is known where s is opaque.
	known := 0
	for i := 0; i+minKeyword <= len(s); {
		stop := min(len(s), i+runStep)
		if sc.opaque && i >= known {
			r, end := runAt(s, i)
			known = end
			if r.end > 0 {
				f.runs = append(f.runs, r)
			}
		}
		if n := len(f.runs); n > 0 && i < f.runs[n-1].end {
			r := f.runs[n-1]
			if stop = r.start + runHead; i >= stop {
				i = r.end
				continue
			}
		}
		i = sc.block(s, b, i, stop, f)
	}
}

// begins reports whether a match begins where s does.
func (sc *scanner) begins(s string, f *findings) bool {
	f.reset()
	sc.block(s, unsafe.Slice(unsafe.StringData(s), len(s)), 0, min(len(s), runHead), f)
	return slices.ContainsFunc(f.spans, func(sp span) bool { return sp.start == 0 })
}

// block looks at the positions from i up to stop, and returns the one to go on
// with. Eight bytes hold the begins of six keywords.
func (sc *scanner) block(s string, b []byte, i, stop int, f *findings) int {
	for ; i < stop && i+8 <= len(b); i += 6 {
		x := binary.LittleEndian.Uint64(b[i:])
		if sc.table[hash3(uint32(x))]|sc.table[hash3(uint32(x>>8))]|sc.table[hash3(uint32(x>>16))]|
			sc.table[hash3(uint32(x>>24))]|sc.table[hash3(uint32(x>>32))]|sc.table[hash3(uint32(x>>40))] == 0 {
			continue
		}
		for n := range 6 {
			if list := sc.table[hash3(uint32(x>>(8*n)))]; list != 0 {
				sc.at(s, i+n, sc.heads[list], f)
			}
		}
	}
	for ; i < stop && i+minKeyword <= len(b); i++ {
		if list := sc.table[hash3(uint32(b[i])|uint32(b[i+1])<<8|uint32(b[i+2])<<16)]; list != 0 {
			sc.at(s, i, sc.heads[list], f)
		}
	}
	return max(i, stop)
}

// at tries the rules of those keywords that stand around s[i].
func (sc *scanner) at(s string, i int, keywords []keyword, f *findings) {
	for n := range keywords {
		k := &keywords[n]
		start := i - k.at
		if start < 0 || !strings.HasPrefix(s[start:], k.text) {
			continue
		}
		if k.form == formData {
			f.data(s, start+len(k.text))
		} else if k.form != 0 {
			f.seen |= k.form
		} else if r := &sc.rules[k.rule]; !r.anchored {
			r.around(s, start, len(k.text), f)
		} else if beginsWord(s, start) {
			r.from(s, start, f)
		}
	}
}

// valueRule is a rule ready to run.
type valueRule struct {
	typ      string
	re       *regexp.Regexp
	anchored bool
	check    func(string) bool
	keywords []string
}

const (
	// An expression that is not anchored to its keyword sees this much text
	// before and after it.
	windowBefore = 256
	windowAfter  = 4096
	// An expression that fails has usually read no more than this.
	failed = 256
	// What expressions may read of a text: some times its length and a bit.
	maxSpentTimes = 64
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
	if f.rule == r && i < f.end {
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
	f.rule, f.end = r, i+m[1]
	r.add(s, i, m, f)
}

// around tries a rule whose match may begin before its keyword s[i:i+n].
func (r *valueRule) around(s string, i, n int, f *findings) {
	from, to := max(0, i-windowBefore), min(len(s), i+n+windowAfter)
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
