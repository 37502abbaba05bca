package value

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// ParsePython reads one Python literal as repr writes it: dict, list, tuple,
// set, string, number, True, False and None. Tuples and sets become arrays,
// keys that are not strings become strings as json.dumps makes them. What has
// no JSON form (bytes, nan, any constructor call) is refused rather than
// guessed at. Errors are those of [Parse].
func ParsePython(text string) (Value, error) {
	p := pyParser{parser{s: text}}
	p.space()
	v, err := p.literal(0)
	if err != nil {
		return Value{}, fmt.Errorf("offset %d: %w", p.i, err)
	}
	p.space()
	if p.i != len(p.s) {
		return Value{}, fmt.Errorf("offset %d: %w", p.i, ErrSyntax)
	}
	return v, nil
}

// PythonPrefix reads the Python literal at the beginning of text, and says how
// many bytes it takes.
func PythonPrefix(text string) (Value, int, error) {
	p := pyParser{parser{s: text}}
	v, err := p.literal(0)
	if err != nil {
		return Value{}, p.i, fmt.Errorf("offset %d: %w", p.i, err)
	}
	return v, p.i, nil
}

type pyParser struct{ parser }

func (p *pyParser) literal(depth int) (Value, error) {
	if depth > MaxDepth {
		return Value{}, ErrDepth
	}
	if p.i >= len(p.s) {
		return Value{}, ErrTruncated
	}
	switch c := p.s[p.i]; c {
	case '{':
		return p.braces(depth)
	case '[':
		return p.sequence(']', depth)
	case '(':
		return p.tuple(depth)
	case '\'', '"':
		s, err := p.quoted()
		return Str(s), err
	case 'T':
		return p.word("True", Boolean(true))
	case 'F':
		return p.word("False", Boolean(false))
	case 'N':
		return p.word("None", Value{})
	case 's':
		return p.word("set()", List())
	default:
		if c == '-' || c >= '0' && c <= '9' {
			return p.num()
		}
	}
	return Value{}, ErrSyntax
}

// sequence reads elements up to the closing bracket; a trailing comma is fine.
func (p *pyParser) sequence(closing byte, depth int) (Value, error) {
	v := Value{kind: Array, items: []Value{}}
	p.i++
	for {
		p.space()
		if p.i >= len(p.s) {
			return v, ErrTruncated
		}
		if p.s[p.i] == closing {
			p.i++
			return v, nil
		}
		e, err := p.literal(depth + 1)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, e)
		p.space()
		if p.i < len(p.s) && p.s[p.i] == closing {
			continue
		}
		if err := p.expect(','); err != nil {
			return v, err
		}
	}
}

// tuple reads a tuple. A parenthesised value without a comma is not one, and
// repr never writes it.
func (p *pyParser) tuple(depth int) (Value, error) {
	start := p.i
	v, err := p.sequence(')', depth)
	if err == nil && len(v.items) == 1 && !strings.HasSuffix(strings.TrimRight(p.s[start:p.i-1], " "), ",") {
		return v, ErrSyntax
	}
	return v, err
}

// braces reads a dict or a set, which begin alike.
func (p *pyParser) braces(depth int) (Value, error) {
	obj := Value{kind: Object}
	var set []Value
	p.i++
	for {
		p.space()
		if p.i >= len(p.s) {
			return obj, ErrTruncated
		}
		if p.s[p.i] == '}' {
			p.i++
			if set != nil {
				return List(set...), nil
			}
			return obj, nil
		}
		key, err := p.literal(depth + 1)
		if err != nil {
			return obj, err
		}
		p.space()
		if set == nil && p.i < len(p.s) && p.s[p.i] == ':' {
			name, ok := dictKey(key)
			if !ok {
				return obj, ErrSyntax
			}
			p.i++
			p.space()
			m, err := p.literal(depth + 1)
			if err != nil {
				return obj, err
			}
			obj.members = append(obj.members, Member{name, m})
		} else {
			if len(obj.members) > 0 || p.i >= len(p.s) {
				return obj, p.short()
			}
			set = append(set, key)
		}
		p.space()
		if p.i < len(p.s) && p.s[p.i] == '}' {
			continue
		}
		if err := p.expect(','); err != nil {
			return obj, err
		}
	}
}

func dictKey(v Value) (string, bool) {
	switch v.kind {
	case String, Number, Bool:
		return v.text, true
	case Null:
		return "null", true
	}
	return "", false
}

// num reads a number; Python's floats may lack digits JSON demands.
func (p *pyParser) num() (Value, error) {
	start := p.i
	p.i++
	for p.i < len(p.s) && strings.IndexByte("0123456789.eE+-_", p.s[p.i]) >= 0 {
		p.i++
	}
	text := p.s[start:p.i]
	strict := parser{s: text}
	if v, err := strict.number(); err == nil && strict.i == len(text) {
		return v, nil
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(f, 0) || !strings.ContainsAny(text, ".eE") {
		return Value{}, p.short()
	}
	return Float(f), nil
}

func (p *pyParser) quoted() (string, error) {
	quote := p.s[p.i]
	p.i++
	start := p.i
	var b []byte
	for p.i < len(p.s) {
		c := p.s[p.i]
		switch c {
		case quote:
			if b == nil {
				s := p.s[start:p.i]
				p.i++
				return s, nil
			}
			p.i++
			return string(b), nil
		case '\n':
			return "", ErrSyntax
		case '\\':
			if b == nil {
				b = append(make([]byte, 0, p.i-start+32), p.s[start:p.i]...)
			}
			var err error
			if b, err = p.escape(b); err != nil {
				return "", err
			}
			continue
		}
		if b != nil {
			b = append(b, c)
		}
		p.i++
	}
	return "", ErrTruncated
}

// escape appends what one backslash escape stands for. An unknown escape stays
// as it is written, as in Python.
func (p *pyParser) escape(b []byte) ([]byte, error) {
	if p.i+1 >= len(p.s) {
		return b, ErrTruncated
	}
	c := p.s[p.i+1]
	p.i += 2
	switch c {
	case '\\', '\'', '"':
		return append(b, c), nil
	case 'n':
		return append(b, '\n'), nil
	case 'r':
		return append(b, '\r'), nil
	case 't':
		return append(b, '\t'), nil
	case 'b':
		return append(b, '\b'), nil
	case 'f':
		return append(b, '\f'), nil
	case 'a':
		return append(b, 7), nil
	case 'v':
		return append(b, 11), nil
	case '0':
		return append(b, 0), nil
	case 'x':
		return p.point(b, 2)
	case 'u':
		return p.point(b, 4)
	case 'U':
		return p.point(b, 8)
	}
	return append(b, '\\', c), nil
}

func (p *pyParser) point(b []byte, digits int) ([]byte, error) {
	var r rune
	for range digits {
		if p.i >= len(p.s) {
			return b, ErrTruncated
		}
		d := unhex(p.s[p.i])
		if d < 0 {
			return b, ErrSyntax
		}
		r = r<<4 | d
		p.i++
	}
	if !utf8.ValidRune(r) {
		r = utf8.RuneError
	}
	return utf8.AppendRune(b, r), nil
}
