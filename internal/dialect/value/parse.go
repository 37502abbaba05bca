package value

import (
	"errors"
	"fmt"
	"strings"
)

// The errors of parsing, for callers that branch on them.
var (
	// ErrTruncated: the text is the beginning of a value and ends inside it.
	ErrTruncated = errors.New("text ends inside a value")
	// ErrSyntax: the text is not a value.
	ErrSyntax = errors.New("not a value")
	// ErrDepth: the value is nested deeper than MaxDepth.
	ErrDepth = errors.New("nested too deeply")
)

// Parse reads JSON text. The error wraps ErrTruncated, ErrSyntax or ErrDepth
// and names the offset.
func Parse(text string) (Value, error) {
	p := parser{s: text}
	p.space()
	v, err := p.value(0)
	if err != nil {
		return Value{}, fmt.Errorf("offset %d: %w", p.i, err)
	}
	p.space()
	if p.i != len(p.s) {
		return Value{}, fmt.Errorf("offset %d: %w", p.i, ErrSyntax)
	}
	return v, nil
}

// ParseItems reads the elements of an array from the offset from on, which is 0
// or the end of an element. It returns them with the end of each. Errors are
// those of [Parse].
func ParseItems(text string, from int) (items []Value, ends []int, err error) {
	p := parser{s: text, i: from}
	after := from != 0
	if !after {
		p.space()
		err = p.expect('[')
	}
	for err == nil {
		p.space()
		if p.i < len(p.s) && p.s[p.i] == ']' {
			p.i++
			if p.space(); p.i == len(p.s) {
				return items, ends, nil
			}
			err = ErrSyntax
			break
		}
		if after {
			err = p.expect(',')
			p.space()
		}
		var v Value
		if err == nil {
			v, err = p.value(1)
		}
		after = true
		items, ends = append(items, v), append(ends, p.i)
	}
	return nil, nil, fmt.Errorf("offset %d: %w", p.i, err)
}

type parser struct {
	s string
	i int
}

func (p *parser) space() {
	for p.i < len(p.s) {
		switch p.s[p.i] {
		case ' ', '\t', '\n', '\r':
			p.i++
		default:
			return
		}
	}
}

func (p *parser) value(depth int) (Value, error) {
	if depth > MaxDepth {
		return Value{}, ErrDepth
	}
	if p.i >= len(p.s) {
		return Value{}, ErrTruncated
	}
	switch c := p.s[p.i]; {
	case c == '{':
		return p.object(depth)
	case c == '[':
		return p.array(depth)
	case c == '"':
		s, err := p.str()
		return Str(s), err
	case c == '-' || c >= '0' && c <= '9':
		return p.number()
	case c == 't':
		return p.word("true", Value{kind: Bool, text: "true"})
	case c == 'f':
		return p.word("false", Value{kind: Bool, text: "false"})
	case c == 'n':
		return p.word("null", Value{})
	}
	return Value{}, ErrSyntax
}

func (p *parser) word(w string, v Value) (Value, error) {
	rest := p.s[p.i:]
	if strings.HasPrefix(rest, w) {
		p.i += len(w)
		return v, nil
	}
	if strings.HasPrefix(w, rest) {
		return Value{}, ErrTruncated
	}
	return Value{}, ErrSyntax
}

func (p *parser) object(depth int) (Value, error) {
	v := Value{kind: Object}
	p.i++
	for first := true; ; first = false {
		p.space()
		if p.i >= len(p.s) {
			return v, ErrTruncated
		}
		if first && p.s[p.i] == '}' {
			p.i++
			return v, nil
		}
		if p.s[p.i] != '"' {
			return v, ErrSyntax
		}
		name, err := p.str()
		if err != nil {
			return v, err
		}
		p.space()
		if err := p.expect(':'); err != nil {
			return v, err
		}
		p.space()
		m, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.members = append(v.members, Member{name, m})
		p.space()
		if p.i < len(p.s) && p.s[p.i] == '}' {
			p.i++
			return v, nil
		}
		if err := p.expect(','); err != nil {
			return v, err
		}
	}
}

func (p *parser) array(depth int) (Value, error) {
	v := Value{kind: Array}
	p.i++
	for first := true; ; first = false {
		p.space()
		if p.i >= len(p.s) {
			return v, ErrTruncated
		}
		if first && p.s[p.i] == ']' {
			p.i++
			return v, nil
		}
		e, err := p.value(depth + 1)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, e)
		p.space()
		if p.i < len(p.s) && p.s[p.i] == ']' {
			p.i++
			return v, nil
		}
		if err := p.expect(','); err != nil {
			return v, err
		}
	}
}

func (p *parser) expect(c byte) error {
	if p.i >= len(p.s) {
		return ErrTruncated
	}
	if p.s[p.i] != c {
		return ErrSyntax
	}
	p.i++
	return nil
}

// number follows the JSON grammar, so that its text can be written back as is.
func (p *parser) number() (Value, error) {
	start := p.i
	if p.s[p.i] == '-' {
		p.i++
	}
	if p.i >= len(p.s) {
		return Value{}, ErrTruncated
	}
	if p.s[p.i] == '0' {
		p.i++
	} else if !p.digits() {
		return Value{}, ErrSyntax
	}
	if p.i < len(p.s) && p.s[p.i] == '.' {
		p.i++
		if !p.digits() {
			return Value{}, p.short()
		}
	}
	if p.i < len(p.s) && (p.s[p.i] == 'e' || p.s[p.i] == 'E') {
		p.i++
		if p.i < len(p.s) && (p.s[p.i] == '+' || p.s[p.i] == '-') {
			p.i++
		}
		if !p.digits() {
			return Value{}, p.short()
		}
	}
	return Value{kind: Number, text: p.s[start:p.i]}, nil
}

func (p *parser) digits() bool {
	start := p.i
	for p.i < len(p.s) && p.s[p.i] >= '0' && p.s[p.i] <= '9' {
		p.i++
	}
	return p.i > start
}

func (p *parser) short() error {
	if p.i >= len(p.s) {
		return ErrTruncated
	}
	return ErrSyntax
}
