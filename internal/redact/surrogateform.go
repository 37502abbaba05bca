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
	phoneDigits     = 10

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
		return len(rest) == phoneDigits && digitsEnd(rest, 0) == len(rest)
	}
	if rest, ok := strings.CutPrefix(s, emailSurrogate); ok && len(rest) > surrogateHex && allHex(rest[:surrogateHex]) {
		rest = rest[surrogateHex:]
		return rest == "@"+surrogateDomain || rest == "%40"+surrogateDomain
	}
	return isMarked(s) || isCardSurrogate(s) || isIBANSurrogate(s)
}

// Redacted reports whether a placeholder or a surrogate stands anywhere in s.
func Redacted(s string) bool {
	return strings.Contains(s, placeholderHead) || strings.Contains(s, surrogateDomain) || holdsMark(s) || holdsNumber(s)
}

// holdsMark reports whether a marked key or a word in place of one is in s.
func holdsMark(s string) bool {
	for _, mark := range marks {
		for rest := s; ; {
			i := strings.Index(rest, mark)
			if i < 0 {
				break
			}
			rest = rest[i+len(mark):]
			if marked(rest) || len(rest) > surrogateHex && IsSurrogate(mark+rest[:1+surrogateHex]) {
				return true
			}
		}
	}
	return false
}

// holdsNumber reports whether a number of a card, an account or a telephone that
// nobody has is in s.
func holdsNumber(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c == phoneSurrogate[0]:
			if strings.HasPrefix(s[i:], phoneSurrogate) && digitsEnd(s, i+1)-i == len(phoneSurrogate)+phoneDigits {
				return true
			}
		case i > 0 && isWordByte(s[i-1]):
		case c == cardSurrogateID[0]:
			end := i
			for end < len(s) && isCardByte(s[end]) {
				end++
			}
			if isCardSurrogate(strings.TrimRight(s[i:end], " -")) {
				return true
			}
		case isUpper(c):
			if end := ibanEnd(s, i); end > 0 && isIBANSurrogate(s[i:end]) {
				return true
			}
		}
	}
	return false
}

// isSurrogateByte reports whether c can stand in a surrogate written as a word.
func isSurrogateByte(c byte) bool {
	return isWordByte(c) || strings.IndexByte("+-./:=~$", c) >= 0
}

func allHex(s string) bool {
	for i := range len(s) {
		if !isHex(s[i]) {
			return false
		}
	}
	return true
}

var marks = [...]string{keyMark, hexMark, strings.ToUpper(hexMark)}

// isMarked reports whether s is a word with a mark in it and enough behind it.
func isMarked(s string) bool {
	for _, mark := range marks {
		i := strings.Index(s, mark)
		if i < 0 || !marked(s[i+len(mark):]) {
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

// marked reports whether what follows a mark is enough to tell secrets apart.
func marked(tail string) bool {
	n := 0
	for n < len(tail) && n < minTail && isAlnum(tail[n]) {
		n++
	}
	return n == minTail
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
