package tape

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"math/bits"
	"unicode/utf8"
)

// plain marks the bytes of a string that stand for themselves and are ASCII.
var plain = func() (t [256]bool) {
	for b := 0x20; b < 0x80; b++ {
		t[b] = b != '"' && b != '\\'
	}
	return t
}()

// plainRun returns how many bytes at the start of b are plain. It looks at
// eight at a time: a byte is not plain if its high bit is set, or would borrow
// from it when 0x20 is taken away, or is zero after an exclusive or with the
// quote or the backslash. A borrow from a lower byte can only spoil bytes after
// the first that is not plain, and those are not asked about.
func plainRun(b []byte) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	i := 0
	for ; i+8 <= len(b); i += 8 {
		word := binary.LittleEndian.Uint64(b[i:])
		quote, backslash := word^('"'*ones), word^('\\'*ones)
		if odd := (word | (word - 0x20*ones) | (quote - ones) | (backslash - ones)) & highs; odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for i < len(b) && plain[b[i]] {
		i++
	}
	return i
}

// skipString moves past a string; pos is at its opening quote.
func (s *scanner) skipString() error {
	s.pos++
	for {
		s.pos += plainRun(s.data[s.pos:])
		if s.pos == len(s.data) {
			return s.ended()
		}
		switch b := s.data[s.pos]; {
		case b == '"':
			s.pos++
			return nil
		case b == '\\':
			if _, err := s.escape(); err != nil {
				return err
			}
		case b < 0x20:
			return s.fail("control character in a string")
		default:
			s.pos++
		}
	}
}

// escape reads one escape sequence, or two that form a surrogate pair, and
// returns its code point; a lone surrogate is returned as it is.
func (s *scanner) escape() (rune, error) {
	if s.pos+1 >= len(s.data) {
		return 0, s.ended()
	}
	c := s.data[s.pos+1]
	switch c {
	case '"', '\\', '/':
	case 'b':
		c = '\b'
	case 'f':
		c = '\f'
	case 'n':
		c = '\n'
	case 'r':
		c = '\r'
	case 't':
		c = '\t'
	case 'u':
		return s.unicodeEscape()
	default:
		return 0, s.fail("unknown escape in a string")
	}
	s.pos += 2
	return rune(c), nil
}

func (s *scanner) unicodeEscape() (rune, error) {
	r, ok := hex4(s.data[s.pos+2:])
	if !ok {
		if len(s.data) < s.pos+6 {
			return 0, s.ended()
		}
		return 0, s.fail(`\u without four hexadecimal digits`)
	}
	s.pos += 6
	if rest := s.data[s.pos:]; isHighSurrogate(r) && len(rest) >= 6 && rest[0] == '\\' && rest[1] == 'u' {
		if low, ok := hex4(rest[2:]); ok && isLowSurrogate(low) {
			s.pos += 6
			return (r-0xD800)<<10 | (low - 0xDC00) + 0x10000, nil
		}
	}
	return r, nil
}

func isHighSurrogate(r rune) bool { return r >= 0xD800 && r < 0xDC00 }
func isLowSurrogate(r rune) bool  { return r >= 0xDC00 && r < 0xE000 }

func hex4(b []byte) (rune, bool) {
	if len(b) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range b[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// unquote decodes a string that the scanner has accepted.
func unquote(quoted []byte) string {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner) {
		return string(inner)
	}
	var text string
	// The scanner is at least as strict as encoding/json, so this cannot fail.
	_ = json.Unmarshal(quoted, &text)
	return text
}
