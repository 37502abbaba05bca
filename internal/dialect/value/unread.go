package value

import (
	"strings"
	"sync/atomic"
)

// unread is an array or object of which the text has been checked but not read:
// most results are only written down again, as they came. It is read when it is
// asked for what is in it, one level at a time.
type unread struct {
	text string
	// count is how many elements or members it has.
	count int
	// level counts the arrays and objects around it.
	level int
	// plain is set where the text is what [Value.Append] writes.
	plain bool
	// inside is the value, once it was read. Two readers may both read it.
	inside atomic.Pointer[Value]
}

// unreadBytes is how long the text of an array or object is that is worth leaving
// unread.
const unreadBytes = 256

// unreadLevels is how many levels are read one at a time. What is deeper is read
// at once, because each level costs a look at all the text below it.
const unreadLevels = 4

// unreadValue is the array or object that text holds, if it is well-formed and
// long enough, unread.
func unreadValue(text string) (Value, bool) {
	if len(text) < unreadBytes || text[0] != '{' && text[0] != '[' {
		return Value{}, false
	}
	c := checker{s: text, plain: true}
	count, ok := c.container(0)
	if !ok || c.i != len(text) {
		return Value{}, false
	}
	return Value{kind: kindOf(text[0]), unread: &unread{text: text, count: count, plain: c.written()}}, true
}

func kindOf(open byte) Kind {
	if open == '{' {
		return Object
	}
	return Array
}

// read is the value with what is in it.
func (u *unread) read() *Value {
	if v := u.inside.Load(); v != nil {
		return v
	}
	v := u.parse()
	u.inside.Store(&v)
	return &v
}

// parse reads one level. The text is well-formed, so nothing can go wrong.
func (u *unread) parse() Value {
	v := Value{kind: kindOf(u.text[0])}
	p := parser{s: u.text, i: 1}
	if v.kind == Object {
		v.members = make([]Member, 0, u.count)
	} else {
		v.items = make([]Value, 0, u.count)
	}
	for range u.count {
		p.space()
		if v.kind == Array {
			v.items = append(v.items, u.part(&p))
		} else {
			name, _ := p.str()
			p.space()
			p.i++
			p.space()
			v.members = append(v.members, Member{name, u.part(&p)})
		}
		p.space()
		p.i++
	}
	return v
}

// part is one value inside, unread if it is large itself.
func (u *unread) part(p *parser) Value {
	if c := p.s[p.i]; (c == '{' || c == '[') && u.level < unreadLevels {
		if n := objectEnd(p.s[p.i:]); n >= unreadBytes {
			text := p.s[p.i : p.i+n]
			p.i += n
			return Value{kind: kindOf(c), unread: &unread{text: text, count: countParts(text), level: u.level + 1, plain: u.plain}}
		}
	}
	v, _ := p.value(1)
	return v
}

// countParts counts the elements or members of well-formed text.
func countParts(text string) int {
	p := parser{s: text, i: 1}
	if p.space(); p.i == len(text)-1 {
		return 0
	}
	count, depth := 1, 0
	for i := 1; i < len(text)-1; i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		case '"':
			i += stringEnd(text[i+1:])
		case ',':
			if depth == 0 {
				count++
			}
		}
	}
	return count
}

// append writes the text as [Value.Append] writes the value.
func (u *unread) append(dst []byte) []byte {
	if u.plain {
		return append(dst, u.text...)
	}
	p := parser{s: u.text}
	for p.i < len(p.s) {
		switch c := p.s[p.i]; c {
		case ' ', '\t', '\n', '\r':
			p.i++
		case '"':
			s, _ := p.str()
			dst = AppendString(dst, s)
		default:
			dst = append(dst, c)
			p.i++
		}
	}
	return dst
}

func (u *unread) clone() *unread {
	return &unread{text: strings.Clone(u.text), count: u.count, level: u.level, plain: u.plain}
}
