package redact

import "strings"

// maxName bounds how far back from a separator a name is looked for.
const maxName = 128

// keyed finds name-value pairs in free text: query strings, headers, Python
// and JavaScript literals, log lines, cut JSON.
func (p *Policy) keyed(s string, out []span) []span {
	done := 0
	for i := 0; i < len(s); i++ {
		j := strings.IndexAny(s[i:], ":=")
		if j < 0 {
			break
		}
		i += j
		if i < done {
			continue
		}
		typ, ok := p.KeySecret(nameBefore(s, i))
		if !ok {
			continue
		}
		a, b := valueAfter(s, i+1)
		if b > a {
			out = append(out, span{a, b, typ})
			done = b
		}
	}
	return out
}

func nameBefore(s string, i int) string {
	for i > 0 && s[i-1] == ' ' {
		i--
	}
	for i > 0 && (s[i-1] == '"' || s[i-1] == '\'' || s[i-1] == '\\') {
		i--
	}
	j := i
	for j > 0 && i-j < maxName && (isWordByte(s[j-1]) || s[j-1] == '-' || s[j-1] == '.') {
		j--
	}
	return s[j:i]
}

func valueAfter(s string, i int) (int, int) {
	for i < len(s) && s[i] == ' ' {
		i++
	}
	for _, scheme := range []string{"Bearer ", "Basic "} {
		if strings.HasPrefix(s[i:], scheme) {
			i += len(scheme)
		}
	}
	for i < len(s) && s[i] == '\\' {
		i++
	}
	if i < len(s) && (s[i] == '"' || s[i] == '\'') {
		q := s[i]
		end := strings.IndexByte(s[i+1:], q)
		if end < 0 {
			return i + 1, len(s)
		}
		end += i + 1
		for end > i+1 && s[end-1] == '\\' {
			end--
		}
		return i + 1, end
	}
	if n := placeholderLen(s[i:]); n > 0 {
		i += n
	}
	j := i
	for j < len(s) && !strings.ContainsRune(" \t\r\n,;&\"'<>)}]\\", rune(s[j])) {
		j++
	}
	return i, j
}
