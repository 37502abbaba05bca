package redact

import (
	"encoding/binary"
	"fmt"
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
	// ends tells of each rule up to where it has matched.
	ends []int
	// spent is how many bytes expressions were given to read.
	spent int
}

func (f *findings) reset() {
	*f = findings{spans: f.spans[:0], runs: f.runs[:0], ends: f.ends[:0]}
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
		if !isAnchored(r) {
			sc.signs = append(sc.signs, r.Keywords...)
		}
		sc.rules = append(sc.rules, newValueRule(r, re, len(sc.rules)))
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
