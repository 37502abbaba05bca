package redact

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unsafe"
)

const (
	// maxPasses bounds how often a text is scanned until nothing is found in
	// it any more. One replacement rarely uncovers another.
	maxPasses = 16
	// maxNesting bounds JSON inside JSON strings; each level doubles the
	// escapes, so real data stays far below.
	maxNesting = 16
	// placeholderRoom is about what a placeholder needs.
	placeholderRoom = 24
)

// Text redacts one text: JSON texts by their members, others by rules over the
// text. It returns s itself when there is nothing to redact.
func (p *Policy) Text(s string) (string, []Hit) {
	hits := collectors.Get().(*Hits)
	out := p.text(s, 0, hits)
	return out, hits.done()
}

// text redacts to a fixed point, which is what makes redaction idempotent.
func (p *Policy) text(s string, nest int, hits *Hits) (out string) {
	defer func() {
		// Fail closed: what a rule could not judge is not passed on.
		if recover() != nil {
			out = Placeholder(TypeError)
			hits.add("", TypeError)
		}
	}()
	for pass := range maxPasses {
		if nest < maxNesting && looksJSON(s) && (pass == 0 || validJSON(s)) {
			if out, ok := p.jsonText(s, nest, hits); ok {
				return out
			}
		}
		next := p.plain(s, hits)
		if next == s {
			return s
		}
		s = next
	}
	hits.add("", TypeError)
	return Placeholder(TypeError)
}

// looksJSON is a cheap guess; only parsing decides.
func looksJSON(s string) bool {
	i, j := 0, len(s)-1
	for i < len(s) && isJSONSpace(s[i]) {
		i++
	}
	for j > i && isJSONSpace(s[j]) {
		j--
	}
	if j <= i {
		return false
	}
	switch s[i] {
	case '{':
		return s[j] == '}'
	case '[':
		return s[j] == ']'
	case '"':
		return s[j] == '"'
	}
	return false
}

// validJSON is asked before a text is parsed again, so that what is inside it
// is not redacted once more for each pass over it.
func validJSON(s string) bool {
	return json.Valid(unsafe.Slice(unsafe.StringData(s), len(s)))
}

// plain applies the rules once to a text that is not JSON.
func (p *Policy) plain(s string, hits *Hits) string {
	f := &hits.found
	f.reset()
	p.scan.find(s, f)
	p.forms(s, f)
	if len(f.runs) > 0 {
		f.spans = slices.DeleteFunc(f.spans, func(sp span) bool { return f.inside(s, sp.start) })
	}
	if len(f.spans) > 0 && len(p.allow) > 0 {
		f.spans = p.allowed(s, f.spans)
	}
	if signed(s) {
		p.keyed(s, f)
	}
	if len(f.spans) == 0 {
		return s
	}
	return p.replace(s, f.spans, hits)
}

// shortText is up to where one look for all signs beats one for each.
const shortText = 48

var signs = func() (t [256]bool) {
	for _, c := range "@:=>-" {
		t[c] = true
	}
	return t
}()

// signed reports whether s may hold a pair or an address: a short one does only
// with a sign of them in it.
func signed(s string) bool {
	if len(s) > shortText {
		return true
	}
	for i := range len(s) {
		if signs[s[i]] {
			return true
		}
	}
	return false
}

// forms appends what is found without a keyword.
func (p *Policy) forms(s string, f *findings) {
	if f.seen&formJWT != 0 && !p.off[typeJWT] {
		f.spans = jwts(s, f.spans)
	}
	if f.seen&formPEM != 0 && !p.off[typePrivateKey] {
		f.spans = privateKeys(s, f.spans)
	}
	n := len(f.spans)
	if f.seen&formURL != 0 && !p.off[typePassword] {
		f.spans = urlPasswords(s, f.spans)
	}
	if !p.off[typeEmail] {
		if signed(s) {
			f.spans = emails(s, f.spans[n:], f.spans)
		}
		if f.seen&formQuotedAt != 0 {
			f.spans = quotedEmails(s, f.spans)
		}
	}
	if p.cards {
		f.spans = cards(s, f.spans)
	}
	if p.ibans {
		f.spans = ibans(s, f.spans)
	}
	if p.phones {
		f.spans = phones(s, f.spans)
	}
}

// instead is what takes the place of a secret.
func (p *Policy) instead(secret, typ string) (out string) {
	if p.key == nil {
		return Placeholder(typ)
	}
	defer func() {
		if recover() != nil {
			out = Placeholder(TypeError)
		}
	}()
	return p.surrogate(secret)
}

// replace puts placeholders over the spans. Overlapping spans become one, a
// span that cuts a placeholder takes all of it, and one that holds nothing but
// placeholders is left alone: so each pass leaves less text to scan.
func (p *Policy) replace(s string, spans []span, hits *Hits) string {
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	b.Grow(len(s) + placeholderRoom*len(spans))
	done := 0
	for i := 0; i < len(spans); {
		sp := spans[i]
		for i++; i < len(spans) && spans[i].start < sp.end; i++ {
			if spans[i].end > sp.end {
				sp.end, sp.with = spans[i].end, ""
			}
		}
		sp.start, sp.end = widen(s, sp.start, sp.end)
		sp.start = max(sp.start, done)
		if sp.end <= sp.start || onlyPlaceholders(s[sp.start:sp.end]) || IsSurrogate(s[sp.start:sp.end]) {
			continue
		}
		b.WriteString(s[done:sp.start])
		switch {
		case sp.with != "":
			b.WriteString(sp.with)
		case p.key != nil:
			b.WriteString(p.instead(s[sp.start:sp.end], sp.typ))
		default:
			b.WriteString(placeholderHead)
			b.WriteString(sp.typ)
			b.WriteByte(']')
		}
		done = sp.end
		hits.add("", sp.typ)
	}
	if done == 0 {
		return s
	}
	b.WriteString(s[done:])
	return b.String()
}

// allowed drops the spans that lie inside of what an allow expression matches.
func (p *Policy) allowed(s string, spans []span) []span {
	for _, re := range p.allow {
		for _, m := range re.FindAllStringIndex(s, -1) {
			spans = slices.DeleteFunc(spans, func(sp span) bool { return m[0] <= sp.start && sp.end <= m[1] })
		}
	}
	return spans
}

// widen moves the ends of a range out of placeholders they fall into.
func widen(s string, start, end int) (int, int) {
	const most = len(placeholderHead) + maxTypeLen + 1
	if i := strings.LastIndex(s[max(0, start-most):min(len(s), start+len(placeholderHead))], placeholderHead); i >= 0 {
		i += max(0, start-most)
		if n := placeholderLen(s[i:]); i < start && i+n > start {
			start = i
		}
	}
	from := max(0, end-most)
	if i := strings.LastIndex(s[from:min(len(s), end+len(placeholderHead))], placeholderHead); i >= 0 {
		i += from
		if n := placeholderLen(s[i:]); i < end && i+n > end {
			end = i + n
		}
	}
	return start, end
}

func onlyPlaceholders(s string) bool {
	for s != "" {
		n := placeholderLen(s)
		if n == 0 {
			return false
		}
		s = s[n:]
	}
	return true
}
