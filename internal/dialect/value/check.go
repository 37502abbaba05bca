package value

import (
	"math/bits"
	"unicode/utf8"
)

// checker finds the end of well-formed JSON text, and whether it is what
// [Value.Append] would write of it. What it does not accept, the parser says
// more about.
type checker struct {
	s string
	i int
	// plain is unset by white space and by escapes that are written otherwise.
	plain bool
	// high is set by bytes over 0x7F.
	high bool
}

// written reports whether the text that was accepted is what Append would write.
func (c *checker) written() bool {
	return c.plain && (!c.high || utf8.ValidString(c.s))
}

// container accepts the array or object at i, and counts what is in it.
func (c *checker) container(depth int) (count int, ok bool) {
	object := c.s[c.i] == '{'
	c.i++
	for {
		b := c.next()
		if count == 0 && (b == '}' && object || b == ']' && !object) {
			c.i++
			return 0, true
		}
		if object {
			if b != '"' || !c.text() || c.next() != ':' {
				return 0, false
			}
			c.i++
			b = c.next()
		}
		if !c.value(b, depth+1) {
			return 0, false
		}
		count++
		switch b = c.next(); {
		case b == ',':
			c.i++
		case b == '}' && object || b == ']' && !object:
			c.i++
			return count, true
		default:
			return 0, false
		}
	}
}

// next is the byte at which white space ends, 0 at the end of the text.
func (c *checker) next() byte {
	if c.i < len(c.s) && c.s[c.i] > ' ' {
		return c.s[c.i]
	}
	return c.space()
}

// space is next behind white space.
func (c *checker) space() byte {
	for c.i < len(c.s) {
		switch b := c.s[c.i]; b {
		case ' ', '\t', '\n', '\r':
			c.plain = false
			c.i++
		default:
			return b
		}
	}
	return 0
}

// value accepts a value that begins with b.
func (c *checker) value(b byte, depth int) bool {
	if depth > MaxDepth {
		return false
	}
	switch b {
	case '"':
		return c.text()
	case '{', '[':
		_, ok := c.container(depth)
		return ok
	case 't':
		return c.word("true")
	case 'f':
		return c.word("false")
	case 'n':
		return c.word("null")
	}
	if b-'0' > 9 && b != '-' {
		return false
	}
	return c.number()
}

// number accepts a number.
func (c *checker) number() bool {
	if c.s[c.i] >= '1' {
		// Most are whole.
		i := c.i + 1
		for i < len(c.s) && c.s[i]-'0' <= 9 {
			i++
		}
		if i < len(c.s) && (c.s[i] == ',' || c.s[i] == '}' || c.s[i] == ']') {
			c.i = i
			return true
		}
	}
	p := parser{s: c.s, i: c.i}
	_, err := p.number()
	c.i = p.i
	return err == nil
}

func (c *checker) word(w string) bool {
	if len(c.s)-c.i < len(w) || c.s[c.i:c.i+len(w)] != w {
		return false
	}
	c.i += len(w)
	return true
}

// text accepts a string.
func (c *checker) text() bool {
	c.i++
	for {
		c.i += plainRun(c.s[c.i:])
		if c.i == len(c.s) {
			return false
		}
		switch b := c.s[c.i]; {
		case b == '"':
			c.i++
			return true
		case b == '\\':
			if !c.escape() {
				return false
			}
		case b < 0x20:
			return false
		default:
			c.high = true
			c.i++
		}
	}
}

// escape accepts an escape sequence.
func (c *checker) escape() bool {
	if c.i+1 >= len(c.s) {
		return false
	}
	c.i += 2
	switch c.s[c.i-1] {
	case '"', '\\', 'n', 'r', 't':
	case '/', 'b', 'f':
		c.plain = false
	case 'u':
		// Those of control characters may be as they are written; it is not worth
		// finding out.
		c.plain = false
		for range 4 {
			if c.i >= len(c.s) || unhex(c.s[c.i]) < 0 {
				return false
			}
			c.i++
		}
	default:
		return false
	}
	return true
}

// plainRun is how many bytes at the start of s are ASCII and neither quote nor
// backslash nor control character. It looks at eight at a time: a byte is not
// plain if its high bit is set, or would borrow from it when 0x20 is taken away,
// or is zero after an exclusive or with the quote or the backslash. A borrow can
// only spoil bytes after the first that is not plain.
func plainRun(s string) int {
	const (
		ones  = 0x0101010101010101
		highs = 0x80 * ones
	)
	i := 0
	for ; i+8 <= len(s); i += 8 {
		b := s[i : i+8]
		word := uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
		quote, backslash := word^('"'*ones), word^('\\'*ones)
		if odd := (word | (word - 0x20*ones) | (quote - ones) | (backslash - ones)) & highs; odd != 0 {
			return i + bits.TrailingZeros64(odd)/8
		}
	}
	for i < len(s) && s[i] >= 0x20 && s[i] < utf8.RuneSelf && s[i] != '"' && s[i] != '\\' {
		i++
	}
	return i
}
