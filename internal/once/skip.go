package once

import "strings"

func space(s string, i int) int {
	for i < len(s) && (s[i] == ' ' || s[i] == '\n' || s[i] == '\t' || s[i] == '\r') {
		i++
	}
	return i
}

// structured reports whether s looks like a JSON array or object.
func structured(s string) bool {
	i, j := space(s, 0), len(s)-1
	for j > i && space(s[j:j+1], 0) == 1 {
		j--
	}
	return j > i && (s[i] == '[' && s[j] == ']' || s[i] == '{' && s[j] == '}')
}

// stringEnd is the index after the string at s[i], or 0 if it does not end. What
// is in it is not looked at.
func stringEnd(s string, i int) int {
	for j := i + 1; ; {
		n := strings.IndexByte(s[j:], '"')
		if n < 0 {
			return 0
		}
		j += n + 1
		slashes := 0
		for k := j - 2; s[k] == '\\'; k-- {
			slashes++
		}
		if slashes%2 == 0 {
			return j
		}
	}
}

// plainString reports whether a JSON string has neither escapes nor what needs
// them.
func plainString(body string) bool {
	for i := range len(body) {
		if body[i] < 0x20 || body[i] == '\\' {
			return false
		}
	}
	return true
}

// skip is the index after the JSON value at s[i] if it is valid, and how deep it
// is nested. Where it is not valid the index may be any, 0 among them.
func skip(s string, i int) (end, depth int) {
	level := 0
	for i < len(s) {
		switch s[i] {
		case '"':
			if i = stringEnd(s, i); i == 0 {
				return 0, depth
			}
		case '{', '[':
			level++
			depth = max(depth, level)
			i++
		case '}', ']':
			level--
			i++
		default:
			i++
			if level == 0 {
				for i < len(s) && !endsScalar(s[i]) {
					i++
				}
			}
		}
		if level <= 0 {
			return i, depth
		}
	}
	return 0, depth
}

func endsScalar(c byte) bool {
	switch c {
	case ',', ']', '}', ' ', '\n', '\t', '\r':
		return true
	}
	return false
}
