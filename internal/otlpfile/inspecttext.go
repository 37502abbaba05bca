package otlpfile

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"
	"unicode/utf8"
)

// cutMark ends a text that was printed in part.
const cutMark = "...[truncated]"

// text converts a string, which may be spread over lines with a plus, and of
// which only the beginning may have been printed.
func (p *inspected) text() error {
	var whole strings.Builder
	for {
		s, err := p.quoted()
		if err != nil {
			return err
		}
		whole.WriteString(s)
		if bytes.HasPrefix(p.in[p.i:], []byte("... ")) {
			p.more()
			whole.WriteString(cutMark)
		}
		if p.peekByte() != '+' {
			p.out = appendJSONString(p.out, whole.String())
			return nil
		}
		p.i++
		if c := p.peekByte(); c != '\'' && c != '"' && c != '`' {
			return p.unexpected("the rest of a text")
		}
	}
}

// quoted reads one string in any of the quotes of JavaScript.
func (p *inspected) quoted() (string, error) {
	quote := p.in[p.i]
	p.i++
	var out []byte
	for p.i < len(p.in) {
		c := p.in[p.i]
		p.i++
		switch c {
		case quote:
			return string(out), nil
		case '\\':
			var err error
			if out, err = p.escape(out); err != nil {
				return "", err
			}
		default:
			out = append(out, c)
		}
	}
	return "", ErrCut
}

var plainEscapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'b': '\b', 'f': '\f', 'v': '\v', '0': 0}

func (p *inspected) escape(out []byte) ([]byte, error) {
	if p.i == len(p.in) {
		return nil, ErrCut
	}
	c := p.in[p.i]
	p.i++
	digits := 0
	switch c {
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	default:
		if plain, ok := plainEscapes[c]; ok {
			c = plain
		}
		return append(out, c), nil
	}
	if len(p.in)-p.i < digits {
		return nil, ErrCut
	}
	n, err := strconv.ParseUint(string(p.in[p.i:p.i+digits]), 16, 32)
	if err != nil {
		return nil, p.unexpected("hex digits")
	}
	p.i += digits
	return utf8.AppendRune(out, rune(n)), nil
}

func appendJSONString(dst []byte, s string) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	// A string always encodes; a line break follows it.
	_ = enc.Encode(s)
	return append(dst, bytes.TrimRight(b.Bytes(), "\n")...)
}
