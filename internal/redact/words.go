package redact

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
