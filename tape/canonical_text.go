package tape

import "unicode/utf8"

const hexDigits = "0123456789abcdef"

// text reads a string and writes it canonically, without the white space at
// its ends if trim is set.
func (c *canon) text(trim bool) error {
	c.pos++
	c.out = append(c.out, '"')
	start := len(c.out)
	// end is where the content ends that is not trailing white space.
	end := start
	for {
		from := c.pos
		c.pos += plainRun(c.data[from:])
		if run := c.data[from:c.pos]; len(run) > 0 {
			if trim && len(c.out) == start {
				run = run[countSpaces(run):]
			}
			c.out = append(c.out, run...)
			if n := len(run) - countTrailingSpaces(run); n > 0 {
				end = len(c.out) - len(run) + n
			}
		}
		if c.pos == len(c.data) {
			return c.ended()
		}
		var r rune
		switch b := c.data[c.pos]; {
		case b == '"':
			c.pos++
			if trim {
				c.out = c.out[:end]
			}
			c.out = append(c.out, '"')
			return nil
		case b == '\\':
			var err error
			if r, err = c.escape(); err != nil {
				return err
			}
		case b < 0x20:
			return c.fail("control character in a string")
		default:
			var size int
			r, size = utf8.DecodeRune(c.data[c.pos:])
			c.pos += size
		}
		space := isSpace(r)
		if trim && space && len(c.out) == start {
			continue
		}
		c.out = appendRune(c.out, r)
		if !space {
			end = len(c.out)
		}
	}
}

func countSpaces(run []byte) (n int) {
	for n < len(run) && run[n] == ' ' {
		n++
	}
	return n
}

func countTrailingSpaces(run []byte) (n int) {
	for n < len(run) && run[len(run)-1-n] == ' ' {
		n++
	}
	return n
}

// isSpace reports what Python's str.isspace does.
func isSpace(r rune) bool {
	switch {
	case r == ' ', r >= 0x09 && r <= 0x0D, r >= 0x1C && r <= 0x1F:
		return true
	case r < 0x85:
		return false
	}
	switch r {
	case 0x85, 0xA0, 0x1680, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000:
		return true
	}
	return r >= 0x2000 && r <= 0x200A
}

// appendRune appends a code point as JSON string content, escaped only where
// JSON, or the lack of UTF-8 for a lone surrogate, requires it.
func appendRune(dst []byte, r rune) []byte {
	switch {
	case r == '"', r == '\\':
		return append(dst, '\\', byte(r))
	case r >= 0x20 && (r < 0xD800 || r > 0xDFFF):
		return utf8.AppendRune(dst, r)
	}
	switch r {
	case '\b':
		return append(dst, '\\', 'b')
	case '\f':
		return append(dst, '\\', 'f')
	case '\n':
		return append(dst, '\\', 'n')
	case '\r':
		return append(dst, '\\', 'r')
	case '\t':
		return append(dst, '\\', 't')
	}
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

// appendString appends text as a JSON string, escaped as little as possible.
func appendString(dst []byte, text string) []byte {
	dst = append(dst, '"')
	from := 0
	for i := 0; i < len(text); {
		if plain[text[i]] {
			i++
			continue
		}
		r, size := utf8.DecodeRuneInString(text[i:])
		dst = append(dst, text[from:i]...)
		dst = appendRune(dst, r)
		i += size
		from = i
	}
	dst = append(dst, text[from:]...)
	return append(dst, '"')
}
