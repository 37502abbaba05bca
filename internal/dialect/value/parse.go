package value

import (
	"errors"
	"fmt"
	"slices"
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
	return (&parser{s: text}).whole()
}

func (p *parser) whole() (Value, error) {
	p.space()
	if p.memo == nil {
		if v, ok := unreadValue(strings.TrimRight(p.s[p.i:], " \t\n\r")); ok {
			return v, nil
		}
	}
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

type parser struct {
	s string
	i int
	// memo is nil inside of its elements.
	memo *Memo
	// open are the members so far of the objects that have not ended, the innermost
	// last: an object gets as much memory as it has members.
	open []Member
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
	begin := len(p.open)
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
		p.open = append(p.open, Member{name, m})
		p.space()
		if p.i < len(p.s) && p.s[p.i] == '}' {
			p.i++
			v.members = slices.Clone(p.open[begin:])
			p.open = p.open[:begin]
			return v, nil
		}
		if err := p.expect(','); err != nil {
			return v, err
		}
	}
}

func (p *parser) array(depth int) (Value, error) {
	v := Value{kind: Array}
	var before *Element
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
		var e Value
		var err error
		if p.memo != nil && p.s[p.i] == '{' {
			if v.items == nil {
				v.items = make([]Value, 0, p.memo.room(len(p.s)-p.i))
			}
			e, err = p.memo.element(p, before, depth+1)
			before = e.from
		} else {
			e, err = p.value(depth + 1)
		}
		if err != nil {
			return v, err
		}
		v.items = append(v.items, e)
		p.space()
		if p.i < len(p.s) && p.s[p.i] == ']' {
			p.i++
			if before != nil {
				p.memo.length = max(len(v.items), p.memo.length*7/8)
			}
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
