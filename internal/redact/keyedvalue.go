package redact

import "strings"

// maxContainer bounds how much of a literal map or list under a secret name is
// looked at.
const maxContainer = 64 << 10

// take finds the value of a pair and adds what of it is secret. What it looks
// at without adding is either short or not looked at again, so that a text full
// of names costs no more than its length.
func (k *keyedScan) take(q pair) {
	s, i := k.s, q.value
	if i >= len(s) {
		return
	}
	if a, b, ok := quotedValue(s, i); ok {
		switch v := s[a:b]; {
		case v == "" || !q.quoted && isVariable(withoutScheme(v)):
		case q.typ == typeDir && isFilePath(v):
			k.done = b
		default:
			k.add(a, b, q.typ, "")
		}
		return
	}
	switch {
	case q.literal:
		return
	case s[i] == '{' || s[i] == '[' && placeholderLen(s[i:]) == 0 || s[i] == '(':
		if !beginsVariable(s[i:]) {
			k.container(i, q)
		}
		return
	case !q.query && isCode(k.p, s, i, q), !q.quoted && beginsVariable(s[i:]):
		return
	}
	b := valueEnd(s, i, q)
	switch v := s[i:b]; {
	case v == "" || !q.quoted && (isVariable(lastWord(v)) || beginsVariable(s[i+len(v)-len(lastWord(v)):])):
	case q.typ == typeDir && isFilePath(v):
		k.done = b
	case q.typ == typeCookie && q.header && !q.quoted && strings.IndexByte(v, '=') < 0:
		// A header of cookies has names and values.
	case q.quoted && isScalar(v):
		k.scalar(i, b, q.typ)
	default:
		k.add(i, b, q.typ, "")
	}
}

// quotedValue is the inside of the literal at s[i]: with a prefix as Python has
// them, with its quotes escaped any number of times, or cut before its end.
func quotedValue(s string, i int) (a, b int, ok bool) {
	for n := 0; n < 2 && i < len(s) && strings.IndexByte("bBrRuUfF", s[i]) >= 0; n++ {
		i++
	}
	esc := i
	for i < len(s) && s[i] == '\\' {
		i++
	}
	if i >= len(s) || s[i] != '"' && s[i] != '\'' && s[i] != '`' {
		return 0, 0, false
	}
	level, quote := i-esc, s[i]
	a = i + 1
	for j := a; j < len(s); j++ {
		switch {
		case s[j] == '\n' && quote != '`':
			return a, trimEscapes(s, a, j), true
		case s[j] != quote:
			continue
		}
		run := 0
		for j-run > a && s[j-run-1] == '\\' {
			run++
		}
		if level == 0 && run%2 == 0 || level > 0 && run <= level {
			return a, j - min(run, level), true
		}
	}
	return a, trimEscapes(s, a, len(s)), true
}

func trimEscapes(s string, a, b int) int {
	for b > a && s[b-1] == '\\' {
		b--
	}
	return b
}

// schemes are the words that stand before the credentials in a header.
var schemes = set([]string{"bearer", "basic", "token", "apikey", "api-key", "key", "negotiate", "ntlm", "bot"})

// withoutScheme is what follows the scheme in a header.
func withoutScheme(v string) string {
	if scheme, rest, ok := strings.Cut(v, " "); ok && schemes[strings.ToLower(scheme)] {
		return rest
	}
	return v
}

// listSchemes are followed by a list of parameters up to the end of the line.
var listSchemes = set([]string{"digest", "aws4-hmac-sha256", "hawk", "oauth", "signature", "scram-sha-256"})

// valueEnd is the end of the value at s[i] that is not in quotes.
func valueEnd(s string, i int, q pair) int {
	b := wordEnd(s, i)
	switch {
	case q.typ == typeCookie && q.header && strings.IndexByte(s[i:b], '=') > 0:
		return lineEnd(s, i)
	case b < len(s) && s[b] == ' ':
		switch w := strings.ToLower(s[i:b]); {
		case schemes[w]:
			return wordEnd(s, skipBlanks(s, b))
		case listSchemes[w]:
			return lineEnd(s, i)
		}
	}
	return b
}

// wordEnd is the end of the word at s[i]. Placeholders belong to words.
func wordEnd(s string, i int) int {
	for i < len(s) {
		if n := placeholderLen(s[i:]); n > 0 {
			i += n
			continue
		}
		if c := s[i]; c <= ' ' || strings.IndexByte(",;&\"'`<>)}]|", c) >= 0 || c == '\\' && isEscape(s, i) {
			break
		}
		i++
	}
	return i
}

func lineEnd(s string, i int) int {
	for i < len(s) && strings.IndexByte("\n\r\"'`", s[i]) < 0 && (s[i] != '\\' || !isEscape(s, i)) {
		i++
	}
	for s[i-1] == ' ' {
		i--
	}
	return i
}

// isEscape reports whether the backslash at s[i] begins an escape that ends a
// value: a quote or a line break inside of a literal.
func isEscape(s string, i int) bool {
	return strings.IndexByte(`"'nrtu\`, byteAt(s, i+1)) >= 0
}

// isScalar reports whether v is a number or a truth value of JSON or Python.
func isScalar(v string) bool {
	switch v {
	case "true", "false", "True", "False", "null", "None", "nil", "undefined", "NaN":
		return true
	}
	if !isDigit(v[0]) && v[0] != '-' {
		return false
	}
	end, ok := numberEnd(v, 0)
	return ok && end == len(v)
}

// scalar replaces a number or truth value by another of its type.
func (k *keyedScan) scalar(a, b int, typ string) {
	switch v := k.s[a:b]; v {
	case "true":
		k.add(a, b, typ, "false")
	case "True":
		k.add(a, b, typ, "False")
	case "false", "False", "null", "None", "nil", "undefined", "NaN", "0":
	default:
		k.add(a, b, typ, "0")
	}
}

// lastWord is what follows the scheme of credentials: "x" of "Bearer x".
func lastWord(v string) string { return v[strings.LastIndexByte(v, ' ')+1:] }

// container replaces the leaves of a literal map or list at s[i], which ends
// where its brackets close or where the text was cut. After a bare name, which
// may be prose, it ends with its line.
func (k *keyedScan) container(i int, q pair) {
	typ := q.typ
	s := k.s[:min(len(k.s), i+maxContainer)]
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 && !q.quoted {
		s = s[:i+n]
	}
	if describesSchema(s[i:min(len(s), i+maxName)]) {
		return
	}
	defer func() { k.done = max(k.done, i) }()
	depth := 0
	for i < len(s) {
		c := s[i]
		switch {
		case c == '{' || c == '[' || c == '(':
			depth++
			i++
		case c == '}' || c == ']' || c == ')':
			if depth--; depth == 0 {
				return
			}
			i++
		case c == '"' || c == '\'' || c == '\\':
			a, b, ok := quotedValue(s, i)
			if !ok {
				i++
				continue
			}
			i = min(len(s), literalEnd(s, b))
			if byteAt(s, skipBlanks(s, i)) != ':' && b > a {
				k.add(a, b, typ, "")
			}
		case isDigit(c) || c == 'T' || c == 't':
			b := wordEnd(s, i)
			if isScalar(s[i:b]) {
				k.scalar(i, b, typ)
			}
			i = max(b, i+1)
		default:
			i++
		}
	}
}

// literalEnd is the index after the quote, with its escapes, that ends a
// literal at s[b].
func literalEnd(s string, b int) int {
	for b < len(s) && s[b] == '\\' {
		b++
	}
	return b + 1
}

// describesSchema reports whether a literal map begins as a JSON schema does.
func describesSchema(s string) bool {
	if s[0] != '{' {
		return false
	}
	i := skipBlanks(s, 1)
	a, b, ok := quotedValue(s, i)
	return ok && (schemaWords[s[a:b]] || schemaHolders[s[a:b]])
}
