package otlpfile

import (
	"bytes"
	"encoding/json"
	"iter"
)

// cursor walks JSON text that is known to be valid, without building values.
type cursor struct {
	b []byte
	i int
}

// peek gives the first byte of the next token.
func (c *cursor) peek() byte {
	for c.i < len(c.b) {
		switch c.b[c.i] {
		case ' ', '\t', '\n', '\r':
			c.i++
		default:
			return c.b[c.i]
		}
	}
	return 0
}

// object yields the member names of the object at the cursor; the loop body
// reads or skips each value. Names are decoded, and valid until the next.
func (c *cursor) object() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		c.peek()
		c.i++ // {
		for c.peek() == '"' {
			name := c.scalar()
			if bytes.IndexByte(name, '\\') >= 0 {
				name = []byte(text(name))
			} else {
				name = name[1 : len(name)-1]
			}
			c.peek()
			c.i++ // :
			if !yield(name) {
				return
			}
			if c.peek() == ',' {
				c.i++
			}
		}
		c.i++ // }
	}
}

// array yields the index of each element of the array at the cursor; the loop
// body reads or skips it.
func (c *cursor) array() iter.Seq[int] {
	return func(yield func(int) bool) {
		c.peek()
		c.i++ // [
		for n := 0; c.peek() != ']' && c.i < len(c.b); n++ {
			if !yield(n) {
				return
			}
			if c.peek() == ',' {
				c.i++
			}
		}
		c.i++ // ]
	}
}

// scalar reads a string, number or literal and gives its text; strings keep
// their quotes.
func (c *cursor) scalar() []byte {
	first := c.peek()
	start := c.i
	if first == '"' {
		c.i++
		for {
			n := bytes.IndexByte(c.b[c.i:], '"')
			if n < 0 {
				c.i = len(c.b)
				return c.b[start:]
			}
			c.i += n + 1
			if !c.escaped(c.i - 1) {
				return c.b[start:c.i]
			}
		}
	}
	n := bytes.IndexAny(c.b[start:], ",]} \t\r\n")
	if n < 0 {
		n = len(c.b) - start
	}
	c.i += n
	return c.b[start:c.i]
}

// escaped reports whether the byte at i follows an odd number of backslashes.
func (c *cursor) escaped(i int) bool {
	n := 0
	for i > n && c.b[i-1-n] == '\\' {
		n++
	}
	return n%2 == 1
}

// skip passes over one value.
func (c *cursor) skip() {
	switch c.peek() {
	case '{':
		for range c.object() {
			c.skip()
		}
	case '[':
		for range c.array() {
			c.skip()
		}
	default:
		c.scalar()
	}
}

// text decodes a JSON string token.
func text(token []byte) string {
	if len(token) < 2 {
		return ""
	}
	inner := token[1 : len(token)-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return string(inner)
	}
	var s string
	if json.Unmarshal(token, &s) != nil {
		return string(inner)
	}
	return s
}
