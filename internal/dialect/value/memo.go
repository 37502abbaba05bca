package value

import (
	"hash/maphash"
	"strings"
)

// Memo reads JSON texts that repeat one another, as the conversations of a run
// do, of which every request holds the whole: the objects in their outermost
// arrays are parsed once, however often they come. The zero Memo is ready; nil
// remembers nothing. It is not safe for concurrent use.
//
// An element known from before costs a comparison with its text, a new one a
// scan for its end besides the parsing. Elements own their text: they keep no
// text alive that they were found in. What a Memo holds is bounded by
// [MemoBytes] of text; beyond that it starts over.
type Memo struct {
	seed  maphash.Seed
	known map[uint64]*Element
	// firsts are elements that arrays have begun with.
	firsts [4]*Element
	next   int
	bytes  int
	// length is about how long the last long array was.
	length int
}

// MemoBytes is how much text of elements a Memo holds.
const MemoBytes = 32 << 20

// Element is an object that was found in an array, the same one wherever its
// text was.
type Element struct {
	// Note is what its users made of it, for them to find again.
	Note any

	text  string
	value Value
	// after is what came after it the last time.
	after *Element
}

// NewElement makes v an element of its own, for readers of other notations than
// JSON.
func NewElement(v Value) Value {
	v.from = &Element{}
	return v
}

// Element is the element that the value is, nil if it is none.
func (v Value) Element() *Element { return v.from }

// Parse is [Parse] with what m remembers.
func (m *Memo) Parse(text string) (Value, error) {
	return (&parser{s: text, memo: m}).whole()
}

// room is for how many elements an array in so much text gets memory at first: a
// few more than the one it repeats.
func (m *Memo) room(text int) int { return min(m.length+2, text/32+1) }

// element reads the object at p, which came after another in its array.
func (m *Memo) element(p *parser, before *Element, depth int) (Value, error) {
	rest := p.s[p.i:]
	if before != nil {
		if e := before.after; e != nil && strings.HasPrefix(rest, e.text) {
			p.i += len(e.text)
			return e.value, nil
		}
	} else {
		for _, e := range m.firsts {
			if e != nil && strings.HasPrefix(rest, e.text) {
				p.i += len(e.text)
				return e.value, nil
			}
		}
	}
	n := objectEnd(rest)
	if n < 0 {
		// The parser says what is wrong, and where.
		plain := *p
		plain.memo = nil
		v, err := plain.object(depth)
		p.i = plain.i
		return v, err
	}
	e, err := m.find(p, rest[:n], depth)
	if err != nil {
		return Value{}, err
	}
	p.i += n
	if before != nil {
		before.after = e
	} else {
		m.firsts[m.next] = e
		m.next = (m.next + 1) % len(m.firsts)
	}
	return e.value, nil
}

// find is the element with a text, parsed if it is new.
func (m *Memo) find(p *parser, text string, depth int) (*Element, error) {
	if m.known == nil {
		m.seed, m.known = maphash.MakeSeed(), map[uint64]*Element{}
	}
	hash := maphash.String(m.seed, text)
	if e := m.known[hash]; e != nil && e.text == text {
		return e, nil
	}
	own := parser{s: strings.Clone(text), open: p.open}
	v, err := own.object(depth)
	p.open = own.open[:len(p.open)]
	if err != nil {
		p.i += own.i
		return nil, err
	}
	if m.bytes += len(text); m.bytes > MemoBytes {
		m.forget()
		m.bytes = len(text)
	}
	e := &Element{text: own.s, value: v}
	e.value.from = e
	m.known[hash] = e
	return e, nil
}

// forget lets go of all elements, also of each other.
func (m *Memo) forget() {
	for _, e := range m.known {
		e.after = nil
	}
	clear(m.known)
	m.firsts = [4]*Element{}
}

// objectEnd is the length of the object that text begins with, -1 if it does not
// end. What is between its braces is not looked at closely.
func objectEnd(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		case '"':
			n := stringEnd(text[i+1:])
			if n < 0 {
				return -1
			}
			i += n
		}
	}
	return -1
}

// stringEnd is the length of the rest of a string with its closing quote.
func stringEnd(text string) int {
	from := 0
	for {
		quote := strings.IndexByte(text[from:], '"')
		if quote < 0 {
			return -1
		}
		at := from + quote
		slashes := 0
		for slashes < at && text[at-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return at + 1
		}
		from = at + 1
	}
}
