package redact

import "strings"

// The forms of surrogates. Each is what no rule takes for a secret and no real
// value is, so that it is known without the key:
//
//	e-mail   u_0123456789abcdef@redacted.invalid   a domain that cannot exist
//	card     9999 99…, right check digit           a range no issuer has
//	IBAN     DE00…, sum right, digits 00, 01, 99   check digits none is given
//	phone    +999…                                 a country code of nobody
//	key      sk-ant-REDACTED…, in hex c0ded00dc0de the mark, length and alphabet kept
//	others   REDACTED-0123456789abcdef
const (
	emailSurrogate  = "u_"
	surrogateDomain = "redacted.invalid"
	cardSurrogateID = "999999"
	phoneSurrogate  = "+999"
	wordSurrogate   = keyMark + "-"
	keyMark         = "REDACTED"
	hexMark         = "c0ded00dc0de"
	surrogateHex    = 16

	decimals = "0123456789"
	lowers   = "abcdefghijklmnopqrstuvwxyz"
	uppers   = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

	// minTail is how much of a marked part must be left to tell secrets apart.
	minTail = 6
	// maxKeyLen bounds what may be a key.
	maxKeyLen = 512
	// minPlainKey is the least length of a key without a prefix that is known.
	minPlainKey = 20
)

// IsSurrogate reports whether s is one keyed surrogate and nothing else.
func IsSurrogate(s string) bool {
	if len(s) > maxKeyLen {
		return false
	}
	if rest, ok := strings.CutPrefix(s, wordSurrogate); ok {
		return len(rest) == surrogateHex && allHex(rest)
	}
	if rest, ok := strings.CutPrefix(s, phoneSurrogate); ok {
		return len(rest) == 10 && digitsEnd(rest, 0) == len(rest)
	}
	if rest, ok := strings.CutPrefix(s, emailSurrogate); ok && len(rest) > surrogateHex && allHex(rest[:surrogateHex]) {
		rest = rest[surrogateHex:]
		return rest == "@"+surrogateDomain || rest == "%40"+surrogateDomain
	}
	return isMarked(s) || isCardSurrogate(s) || isIBANSurrogate(s)
}

// Redacted reports whether a placeholder or a surrogate stands anywhere in s.
func Redacted(s string) bool {
	if strings.Contains(s, placeholderHead) || strings.Contains(s, surrogateDomain) {
		return true
	}
	for i := 0; i < len(s); {
		if !isSurrogateByte(s[i]) {
			i++
			continue
		}
		// Numbers are written in groups.
		a := i
		for i < len(s) && (isSurrogateByte(s[i]) || s[i] == ' ' && i+1 < len(s) && isAlnum(s[i-1]) && isDigit(s[i+1])) {
			i++
		}
		if holdsSurrogate(s[a:i]) {
			return true
		}
	}
	return false
}

// holdsSurrogate reports whether a row of words and groups of digits holds one.
func holdsSurrogate(s string) bool {
	for word := range strings.FieldsSeq(s) {
		word = strings.Trim(word, ".-_/=~")
		if IsSurrogate(word) || IsSurrogate(word[strings.LastIndexAny(word, "=/")+1:]) {
			return true
		}
	}
	for i := range len(s) {
		if i > 0 && s[i-1] != ' ' {
			continue
		}
		if end := ibanEnd(s, i); end > 0 && isIBANSurrogate(s[i:end]) {
			return true
		}
		if strings.HasPrefix(s[i:], "9999") && isCardSurrogate(s[i:numberGroupsEnd(s, i)]) {
			return true
		}
	}
	return false
}

// numberGroupsEnd is the end of the digits, spaces and dashes at s[i].
func numberGroupsEnd(s string, i int) int {
	for i < len(s) && isCardByte(s[i]) {
		i++
	}
	return i
}

// isSurrogateByte reports whether c can stand in a surrogate written as a word.
func isSurrogateByte(c byte) bool {
	return isWordByte(c) || strings.IndexByte("+-./=~$", c) >= 0
}

func allHex(s string) bool {
	for i := range len(s) {
		if !isHex(s[i]) {
			return false
		}
	}
	return true
}

// isMarked reports whether s is a word with a mark in it and enough behind it.
func isMarked(s string) bool {
	for _, mark := range [...]string{keyMark, hexMark, strings.ToUpper(hexMark)} {
		i := strings.Index(s, mark)
		if i < 0 {
			continue
		}
		tail := i + len(mark)
		for tail < len(s) && isAlnum(s[tail]) {
			tail++
		}
		if tail-i-len(mark) < minTail {
			continue
		}
		for k := range len(s) {
			if !isSurrogateByte(s[k]) {
				return false
			}
		}
		return true
	}
	return false
}

// keySurrogate keeps the prefix, the separators, the alphabets and the length of
// a key. It is "" for what does not look like one.
func keySurrogate(s, prefix string, d *draw) string {
	if len(s) > maxKeyLen || prefix == "" && (len(s) < minPlainKey || !mixed(s)) {
		return ""
	}
	from := afterKind(s, len(prefix))
	var parts [][2]int
	longest := -1
	for i := from; i < len(s); {
		if !isAlnum(s[i]) {
			if !isSurrogateByte(s[i]) {
				return ""
			}
			i++
			continue
		}
		a := i
		for i < len(s) && isAlnum(s[i]) {
			i++
		}
		parts = append(parts, [2]int{a, i})
		if longest < 0 || i-a > parts[longest][1]-parts[longest][0] {
			longest = len(parts) - 1
		}
	}
	if longest < 0 {
		return ""
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
	return b.String()
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

// wholeEmail returns how the @ is written if s is one e-mail address.
func wholeEmail(s string) string {
	for _, sign := range [...]string{"@", "%40"} {
		if i := strings.Index(s, sign); i > 0 {
			found := email(s, i, i+len(sign), nil)
			if len(found) == 1 && found[0].start == 0 && found[0].end == len(s) {
				return sign
			}
		}
	}
	return ""
}

func isWholeCard(s string) bool { return s != "" && isDigit(s[0]) && cardEnd(s, 0, len(s)) == len(s) }

// cardSurrogate keeps the groups of a card number.
func cardSurrogate(s string, d *draw) string {
	b := []byte(s)
	n := 0
	last := 0
	for i := range b {
		if !isDigit(b[i]) {
			continue
		}
		if n < len(cardSurrogateID) {
			b[i] = cardSurrogateID[n]
		} else {
			b[i] = decimals[d.below(10)]
		}
		n++
		last = i
	}
	for c := byte('0'); c <= '9'; c++ {
		if b[last] = c; luhn(string(b)) {
			break
		}
	}
	return string(b)
}

func isCardSurrogate(s string) bool {
	if s == "" || s[0] != cardSurrogateID[0] || !isDigit(s[len(s)-1]) {
		return false
	}
	n := 0
	for i := range len(s) {
		if !isDigit(s[i]) {
			continue
		}
		if n < len(cardSurrogateID) && s[i] != cardSurrogateID[n] {
			return false
		}
		n++
	}
	return n >= minCard && n <= maxCard && luhn(s)
}
