package value

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// str reads a string; without escapes it shares the text.
func (p *parser) str() (string, error) {
	p.i++
	start := p.i
	for p.i < len(p.s) {
		switch c := p.s[p.i]; {
		case c == '"':
			s := p.s[start:p.i]
			p.i++
			return s, nil
		case c == '\\':
			return p.escaped(start)
		case c < 0x20:
			return "", ErrSyntax
		}
		p.i++
	}
	return "", ErrTruncated
}

// escaped continues a string at its first escape.
func (p *parser) escaped(start int) (string, error) {
	b := append(make([]byte, 0, len(p.s[start:p.i])+32), p.s[start:p.i]...)
	for p.i < len(p.s) {
		c := p.s[p.i]
		switch {
		case c == '"':
			p.i++
			return string(b), nil
		case c < 0x20:
			return "", ErrSyntax
		case c != '\\':
			b = append(b, c)
			p.i++
			continue
		}
		if p.i+1 >= len(p.s) {
			return "", ErrTruncated
		}
		p.i += 2
		switch c := p.s[p.i-1]; c {
		case '"', '\\', '/':
			b = append(b, c)
		case 'b':
			b = append(b, '\b')
		case 'f':
			b = append(b, '\f')
		case 'n':
			b = append(b, '\n')
		case 'r':
			b = append(b, '\r')
		case 't':
			b = append(b, '\t')
		case 'u':
			r, err := p.hex4()
			if err != nil {
				return "", err
			}
			b = utf8.AppendRune(b, r)
		default:
			return "", ErrSyntax
		}
	}
	return "", ErrTruncated
}

// hex4 reads the four digits of \u, and the second half of a surrogate pair.
// A lone surrogate becomes U+FFFD.
func (p *parser) hex4() (rune, error) {
	r, err := p.hexRune()
	if err != nil || !utf16.IsSurrogate(r) {
		return r, err
	}
	if strings.HasPrefix(p.s[p.i:], `\u`) {
		back := p.i
		p.i += 2
		low, err := p.hexRune()
		if err != nil {
			return 0, err
		}
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, nil
		}
		p.i = back
	}
	return utf8.RuneError, nil
}

func (p *parser) hexRune() (rune, error) {
	var r rune
	for range 4 {
		if p.i >= len(p.s) {
			return 0, ErrTruncated
		}
		d := unhex(p.s[p.i])
		if d < 0 {
			return 0, ErrSyntax
		}
		r = r<<4 | d
		p.i++
	}
	return r, nil
}

func unhex(c byte) rune {
	switch {
	case c >= '0' && c <= '9':
		return rune(c - '0')
	case c >= 'a' && c <= 'f':
		return rune(c-'a') + 10
	case c >= 'A' && c <= 'F':
		return rune(c-'A') + 10
	}
	return -1
}
