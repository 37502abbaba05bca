package redact

import "strings"

// keySurrogate keeps the prefix, the separators, the alphabets and the length of
// a key, and what a rule knows it by in its middle. It is "" for what does not
// look like a key.
func (p *Policy) keySurrogate(s string, d *draw) string {
	prefix := p.scan.keywordOf(s)
	if len(s) > maxKeyLen || prefix == "" && (len(s) < minPlainKey || !mixed(s)) {
		return ""
	}
	var parts [][2]int
	longest := -1
	for i := afterKind(s, len(prefix)); i < len(s); {
		if n := p.scan.signAt(s, i); n > 0 {
			i += n
			continue
		}
		if !isAlnum(s[i]) {
			if !isSurrogateByte(s[i]) {
				return ""
			}
			i++
			continue
		}
		a := i
		for i < len(s) && isAlnum(s[i]) && (i == a || p.scan.signAt(s, i) == 0) {
			i++
		}
		parts = append(parts, [2]int{a, i})
		if longest < 0 || i-a > parts[longest][1]-parts[longest][0] {
			longest = len(parts) - 1
		}
	}
	var b strings.Builder
	done := 0
	for n, part := range parts {
		b.WriteString(s[done:part[0]])
		alphabet, mark := alphabetOf(s[part[0]:part[1]])
		size := part[1] - part[0]
		if n == longest {
			if mark == "" || size < len(mark)+minTail {
				return ""
			}
			b.WriteString(mark)
			size -= len(mark)
		}
		b.WriteString(d.text(alphabet, size))
		done = part[1]
	}
	b.WriteString(s[done:])
	if longest < 0 {
		return ""
	}
	return b.String()
}

// signAt is the length of the keyword at s[i] by which a rule knows a key whose
// begin says nothing.
func (sc *scanner) signAt(s string, i int) int {
	for _, k := range sc.signs {
		if strings.HasPrefix(s[i:], k) {
			return len(k)
		}
	}
	return 0
}

// afterKind is the index behind a short word that says what kind of key it is:
// behind api03- in sk-ant-api03-…, behind sandbox$ in access_token$sandbox$….
func afterKind(s string, i int) int {
	const longest, longestWord = 6, 10
	digits := 0
	for k := i; i > 0 && k < len(s) && k-i <= longestWord; k++ {
		switch c := s[k]; {
		case isDigit(c):
			digits++
		case c == s[i-1] && !isAlnum(c) && k > i && (digits == 0 || k-i <= longest):
			return k + 1
		case !isAlnum(c):
			return i
		}
	}
	return i
}

// alphabetOf is the least alphabet that a part of a key is written in, with the
// mark for it.
func alphabetOf(s string) (alphabet, mark string) {
	lower, upper, digit, hexOnly, base32 := false, false, false, true, true
	for i := range len(s) {
		c := s[i]
		switch {
		case isDigit(c):
			digit = true
		case c >= 'a':
			lower = true
		default:
			upper = true
		}
		hexOnly = hexOnly && isHex(c)
		base32 = base32 && c != '0' && c != '1' && c != '8' && c != '9'
	}
	switch {
	case !lower && !upper:
		return decimals, ""
	case hexOnly && lower && !upper:
		return hexDigits, hexMark
	case hexOnly && upper && !lower:
		return strings.ToUpper(hexDigits), strings.ToUpper(hexMark)
	case lower && !upper && digit:
		return decimals + lowers, hexMark
	case lower && !upper:
		// No mark can be written in small letters alone.
		return lowers, ""
	case upper && !lower && base32:
		return uppers + "234567", keyMark
	case upper && !lower && digit:
		return decimals + uppers, keyMark
	case !digit:
		return uppers + lowers, keyMark
	}
	return decimals + uppers + lowers, keyMark
}

// keywordOf is the longest keyword that s begins with.
func (sc *scanner) keywordOf(s string) string {
	longest := ""
	for i := range sc.rules {
		for _, k := range sc.rules[i].keywords {
			if len(k) > len(longest) && strings.HasPrefix(s, k) {
				longest = k
			}
		}
	}
	return longest
}
