package redact

import (
	"math/bits"
	"strings"
	"unicode/utf8"
)

func isJSONSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

// stringEnd is the index after the closing quote of the JSON string at s[i].
// As in encoding/json, bytes that are not UTF-8 are no error.
func stringEnd(s string, i int) (end int, escapes, ok bool) {
	for i++; ; {
		if i = plainEnd(s, i); i == len(s) {
			return i, escapes, false
		}
		switch s[i] {
		case '"':
			return i + 1, escapes, true
		case '\\':
			escapes = true
			if i+1 == len(s) {
				return i, escapes, false
			}
		default:
			return i, escapes, false
		}
		switch s[i+1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			i += 2
		case 'u':
			if _, ok := hex4(s, i+2); !ok {
				return i, escapes, false
			}
			i += 6
		default:
			return i, escapes, false
		}
	}
}

// plainEnd is the index of the first byte from s[i] on that means something in
// a JSON string: a quote, a backslash or a control character. It looks at eight
// bytes at a time.
func plainEnd(s string, i int) int {
	const (
		ones = 0x0101010101010101
		high = 0x8080808080808080
	)
	for ; i+8 <= len(s); i += 8 {
		x := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		// A byte less than n borrows from its top bit when n is taken away; the
		// lowest such byte is marked exactly.
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		m := ((x-ones*0x20)&^x | (quote-ones)&^quote | (slash-ones)&^slash) & high
		if m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(s) && s[i] >= 0x20 && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}

// hex4 reads the four hex digits at s[i].
func hex4(s string, i int) (rune, bool) {
	if i+4 > len(s) {
		return 0, false
	}
	var r rune
	for _, c := range []byte(s[i : i+4]) {
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			r = r<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			r = r<<4 | rune(c-'A'+10)
		default:
			return 0, false
		}
	}
	return r, true
}

func numberEnd(s string, i int) (int, bool) {
	if s[i] == '-' {
		i++
	}
	first := i
	i = digitsEnd(s, i)
	if i == first || s[first] == '0' && i > first+1 {
		return i, false
	}
	if i < len(s) && s[i] == '.' {
		frac := i + 1
		if i = digitsEnd(s, frac); i == frac {
			return i, false
		}
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		exp := i
		if i = digitsEnd(s, exp); i == exp {
			return i, false
		}
	}
	return i, true
}

func digitsEnd(s string, i int) int {
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	return i
}

func decoded(body string) string {
	if strings.IndexByte(body, '\\') < 0 {
		return body
	}
	return string(appendDecoded(nil, body))
}

// appendDecoded appends what the body of a valid JSON string stands for. A
// surrogate without its partner becomes the three bytes that would encode it,
// so that [encode] can write it again; bytes that are not UTF-8 stay.
func appendDecoded(dst []byte, body string) []byte {
	for {
		i := strings.IndexByte(body, '\\')
		if i < 0 {
			return append(dst, body...)
		}
		dst = append(dst, body[:i]...)
		c := body[i+1]
		body = body[i+2:]
		switch c {
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, _ := hex4(body, 0)
			body = body[4:]
			if isHighSurrogate(r) && strings.HasPrefix(body, `\u`) {
				if lo, ok := hex4(body, 2); ok && isLowSurrogate(lo) {
					r = 0x10000 + (r-0xd800)<<10 + (lo - 0xdc00)
					body = body[6:]
				}
			}
			if isHighSurrogate(r) || isLowSurrogate(r) {
				dst = append(dst, 0xe0|byte(r>>12), 0x80|byte(r>>6)&0x3f, 0x80|byte(r)&0x3f)
				continue
			}
			dst = utf8.AppendRune(dst, r)
		default:
			dst = append(dst, c)
		}
	}
}

func isHighSurrogate(r rune) bool { return r >= 0xd800 && r < 0xdc00 }
func isLowSurrogate(r rune) bool  { return r >= 0xdc00 && r < 0xe000 }

const hexDigits = "0123456789abcdef"

// encode writes s as a JSON string with the escapes JSON requires and no
// others.
func encode(s string) string {
	var b strings.Builder
	b.Grow(len(s) + 2)
	b.WriteByte('"')
	done := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' && c != 0xed {
			continue
		}
		if c == 0xed { // the first byte of a surrogate, among others
			if i+2 < len(s) && s[i+1] >= 0xa0 && s[i+1] <= 0xbf && s[i+2] >= 0x80 && s[i+2] <= 0xbf {
				r := 0xd000 | int(s[i+1]&0x3f)<<6 | int(s[i+2]&0x3f)
				b.WriteString(s[done:i])
				b.WriteString(`\u`)
				for shift := 12; shift >= 0; shift -= 4 {
					b.WriteByte(hexDigits[r>>shift&0xf])
				}
				i += 2
				done = i + 1
			}
			continue
		}
		b.WriteString(s[done:i])
		done = i + 1
		switch c {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\n':
			b.WriteString(`\n`)
		case '\r':
			b.WriteString(`\r`)
		case '\t':
			b.WriteString(`\t`)
		default:
			b.WriteString(`\u00`)
			b.WriteByte(hexDigits[c>>4])
			b.WriteByte(hexDigits[c&0xf])
		}
	}
	b.WriteString(s[done:])
	b.WriteByte('"')
	return b.String()
}
