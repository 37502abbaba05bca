package redact

import "strings"

const (
	// maxName bounds how far back from a separator a name is looked for.
	maxName = 128
	// maxGap bounds the blanks between name, separator and value.
	maxGap = 8
)

// keyed finds names with their values in text that is not JSON, or no longer:
// query strings, headers, command lines, log lines, assignments, Python and
// JavaScript literals, XML elements, JSON that was cut.
func (p *Policy) keyed(s string, f *findings) {
	k := keyedScan{p: p, s: s, f: f}
	for _, sep := range [...]string{":", "=", ">", "--"} {
		k.done = 0
		for i := 0; ; {
			j := strings.Index(s[i:], sep)
			if j < 0 {
				break
			}
			i += j
			if i >= k.done {
				k.at(i, sep[0])
			}
			i += len(sep)
		}
	}
}

type keyedScan struct {
	p *Policy
	s string
	f *findings
	// done is the end of the last value of the separator being looked for.
	done int
}

// pair is a name, how it is written and where its value may begin.
type pair struct {
	typ, name string
	// at is where the name begins.
	at int
	// quoted: the name is a literal, so that the value is one too, as in JSON
	// or a Python dict.
	quoted bool
	// defines: := stands between, as in code.
	defines bool
	// literal: only a quoted value counts, as after == and =>.
	literal bool
	// query: the pair stands in a query string, where nothing is code.
	query bool
	// header: a colon, not an equals sign, stands between.
	header bool
	value  int
}

func (k *keyedScan) at(i int, sep byte) {
	switch sep {
	case '-':
		k.flag(i)
	case '>':
		k.element(i)
	default:
		k.assignment(i, sep)
	}
}

// flag reads "--password hunter2"; with an equals sign it is an assignment.
func (k *keyedScan) flag(i int) {
	s := k.s
	if i > 0 && s[i-1] == '-' {
		return
	}
	a := i + 2
	b := a
	for b < len(s) && b-a < maxName && isNameByte(s[b]) {
		b++
	}
	if v := skipBlanks(s, b); b > a && v > b && v < len(s) && s[v] != '-' {
		k.pair(pair{name: s[a:b], at: a, value: v, query: true})
	}
}

// element reads "<password>hunter2</password>".
func (k *keyedScan) element(i int) {
	s := k.s
	a := i
	for a > 0 && i-a < maxName && (isNameByte(s[a-1]) || s[a-1] == ':') {
		a--
	}
	if a == 0 || a == i || s[a-1] != '<' {
		return
	}
	n := strings.IndexByte(s[i+1:], '<')
	if n < 1 || !strings.HasPrefix(s[i+1+n:], "</") || strings.TrimSpace(s[i+1:i+1+n]) == "" {
		return
	}
	if typ, ok := k.p.KeySecret(s[a:i]); ok {
		k.add(i+1, i+1+n, typ, "")
	}
}

// assignment reads a name before and a value after a colon or an equals sign.
func (k *keyedScan) assignment(i int, sep byte) {
	s := k.s
	q := pair{header: sep == ':', value: i + 1}
	if i > 0 && strings.IndexByte("=!<>+*/%&|^~:", s[i-1]) >= 0 {
		// The second half of an operator, or not an assignment.
		return
	}
	switch next := byteAt(s, i+1); {
	case sep == ':' && (next == ':' || strings.HasPrefix(s[i+1:], "//")):
		return
	case sep == ':' && next == '=':
		q.value++
		q.header = false
	case sep == '=' && (next == '=' || next == '>' || next == '~'):
		q.value++
		q.literal = true
		if byteAt(s, q.value) == '=' {
			q.value++
		}
	}
	end := i
	for end > 0 && i-end < maxGap && (s[end-1] == ' ' || s[end-1] == '\t') {
		end--
	}
	q.name, q.quoted = nameBefore(s, end)
	if q.name == "" {
		return
	}
	a := end - len(q.name)
	if q.header && strings.HasSuffix(s[:a], "//") {
		// The user of a URL; see urlPasswords.
		return
	}
	if !q.quoted && a > 0 && isQuote(s[a-1]) && byteAt(s, q.value) == s[a-1] {
		// The end of the literal that the name stands in: "PWD=" + dir.
		return
	}
	q.at = a
	q.defines = q.value == i+2
	q.query = sep == '=' && !q.quoted && a > 0 && (s[a-1] == '?' || s[a-1] == '&' || s[a-1] == ';')
	q.value = skipBlanks(s, q.value)
	k.pair(q)
}

// pair takes the value of a pair whose name is secret.
func (k *keyedScan) pair(q pair) {
	if !k.p.keys.filter.passes(q.name) {
		return
	}
	typ, ok := k.p.KeySecret(q.name)
	if !ok || len(k.f.runs) > 0 && k.f.inside(k.s, q.at) {
		return
	}
	q.typ = typ
	k.take(q)
}

// nameBefore is the name that ends at s[end]: a word, or a literal in quotes,
// which may be escaped and may stand in brackets.
func nameBefore(s string, end int) (name string, quoted bool) {
	b := end
	bracket := b > 0 && s[b-1] == ']'
	if bracket {
		b--
	}
	if b > 0 && isQuote(s[b-1]) {
		quoted = true
		b--
		for b > 0 && s[b-1] == '\\' {
			b--
		}
	}
	if bracket && !quoted {
		return "", false
	}
	if !quoted && b > 0 && s[b-1] == '?' {
		b--
	}
	a := b
	for a > 0 && b-a < maxName && (isNameByte(s[a-1]) || quoted && s[a-1] == ' ') {
		a--
	}
	if !quoted {
		a = dropEscape(s, a, b)
	}
	return s[a:b], quoted && !bracket
}

// dropEscape moves the begin of a word behind the letter of an escape that
// stands before it: \ntoken is token after a line break.
func dropEscape(s string, a, b int) int {
	if a > 0 && a < b && s[a-1] == '\\' && (s[a] == 'n' || s[a] == 'r' || s[a] == 't') {
		return a + 1
	}
	return a
}

func isQuote(c byte) bool { return c == '"' || c == '\'' || c == '`' }

func isNameByte(c byte) bool { return isWordByte(c) || c == '-' || c == '.' || c >= 0x80 }

func skipBlanks(s string, i int) int {
	for n := 0; n < maxGap && i < len(s) && (s[i] == ' ' || s[i] == '\t'); n++ {
		i++
	}
	return i
}

func byteAt(s string, i int) byte {
	if i < len(s) {
		return s[i]
	}
	return 0
}

func (k *keyedScan) add(a, b int, typ, with string) {
	k.done = b
	if !IsSurrogate(k.s[a:b]) {
		k.f.spans = append(k.f.spans, span{a, b, typ, with})
	}
}
