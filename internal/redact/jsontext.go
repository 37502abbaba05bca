package redact

import (
	"encoding/json"
	"strings"
)

// stringEnd is the index after the closing quote of the JSON string at s[i].
func stringEnd(s string, i int) (int, bool) {
	for i++; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return i + 1, true
		case c < 0x20:
			return i, false
		case c == '\\':
			i++
			if i >= len(s) || !strings.ContainsRune(`"\/bfnrtu`, rune(s[i])) {
				return i, false
			}
			if s[i] == 'u' {
				if i+4 >= len(s) {
					return i, false
				}
				for _, c := range []byte(s[i+1 : i+5]) {
					if !isHex(c) {
						return i, false
					}
				}
				i += 4
			}
		}
	}
	return i, false
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

func numberEnd(s string, i int) (int, bool) {
	digits := func() bool {
		j := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i > j
	}
	if s[i] == '-' {
		i++
	}
	zero := i < len(s) && s[i] == '0'
	j := i
	if !digits() || zero && i > j+1 {
		return i, false
	}
	if i < len(s) && s[i] == '.' {
		i++
		if !digits() {
			return i, false
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		if !digits() {
			return i, false
		}
	}
	return i, true
}

func decode(body string) string {
	if strings.IndexByte(body, '\\') < 0 {
		return body
	}
	var out string
	if json.Unmarshal([]byte(`"`+body+`"`), &out) != nil {
		return body
	}
	return out
}

func encode(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}
