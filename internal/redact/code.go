package redact

import "strings"

// plainWords follow a colon or an equals sign in code, documentation and prose:
// types, states, keywords and the small words that begin a sentence.
var plainWords = set(strings.Fields(`
	string str int integer number float bool boolean any object bytes byte dict list map array none null nil undefined
	true false void self this optional required unknown never secretstr char varchar text type
	yes no on off ok enabled disabled missing invalid expired failed granted denied found
	await async new function func lambda typeof yield
	at by as if when where which used only same one either each every between minimum maximum longer
	the a an is it its and or of in to for not must should can will was are this that your my with from please see you we`))

// roots begin a path to a value: self.token, os.environ, config.password.
var roots = set([]string{
	"self", "this", "os", "process", "env", "config", "cfg", "conf", "settings", "options", "opts", "args",
	"params", "request", "req", "ctx", "context", "secrets", "vars", "var", "local", "data", "import",
})

// isCode reports whether what begins at s[i] is code rather than the value of
// the pair: a type, a call, a path to a variable, or the name itself passed on.
// It looks at one word of bounded length.
func isCode(p *Policy, s string, i int, q pair) bool {
	n := i
	for n < len(s) && n-i <= maxName && (isWordByte(s[n]) || s[n] == '.') {
		n++
	}
	v := s[i:n]
	if v == "" || len(v) > maxName || isDigit(v[0]) || q.quoted && isScalar(v) {
		return false
	}
	last := v[strings.LastIndexByte(v, '.')+1:]
	switch next := byteAt(s, n); {
	case next == '{' && onlyLetters(last) && isUpper(last[0]):
		// A value of a type.
		return true
	case next == '(' || next == '[' && placeholderLen(s[n:]) == 0:
		// A call, an index, a type with parameters.
		return true
	case next > ' ' && strings.IndexByte(",;\"'`)}]|\\", next) < 0:
		return false
	}
	if plainWords[strings.ToLower(v)] || strings.EqualFold(v, q.name[strings.LastIndexByte(q.name, '.')+1:]) {
		return true
	}
	dot := strings.IndexByte(v, '.')
	if dot <= 0 {
		return false
	}
	if roots[v[:dot]] || isMember(v) || q.defines && onlyLetters(last) {
		return true
	}
	_, secret := p.KeySecret(last)
	return secret
}

// isMember reports whether v is written as a member of a type is: Name.Builtin.
func isMember(v string) bool {
	for i := range len(v) {
		first := i == 0 || v[i-1] == '.'
		if first && (v[i] < 'A' || v[i] > 'Z') || v[i] != '.' && !first && (v[i]|0x20 < 'a' || v[i]|0x20 > 'z') {
			return false
		}
	}
	return true
}

func onlyLetters(v string) bool {
	for i := range len(v) {
		if v[i]|0x20 < 'a' || v[i]|0x20 > 'z' {
			return false
		}
	}
	return v != ""
}
