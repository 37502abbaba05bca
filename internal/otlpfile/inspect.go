package otlpfile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// inspected converts objects as Node.js prints them, which is how its console
// exporter shows spans, into JSON:
//
//	{
//	  resource: { attributes: { 'service.name': 'shop' } },
//	  traceId: '0af7651916cd43dd8448eb211c80319c',
//	  parentSpanContext: undefined,
//	  attributes: { 'input.value': `{"q":"it's"}`, tags: [Array] }
//	}
//
// Undefined becomes null. What Node.js left out ([Object], [Array], "... 5 more
// items") becomes null too, and is counted as a dropped attribute where it was
// one. A text of which it printed the beginning ends with a mark that says so.
type inspected struct {
	in    []byte
	i     int
	out   []byte
	depth int
}

// fromInspected gives the JSON of one printed object.
func fromInspected(doc []byte) ([]byte, error) {
	p := inspected{in: doc}
	_, err := p.value()
	if err == nil && p.peekByte() != 0 {
		err = p.unexpected("the end of the object")
	}
	if err != nil {
		return nil, &fault{offset: p.i, err: fmt.Errorf("read as an object that Node.js printed: %w", err)}
	}
	return p.out, nil
}

// value converts one value. Cut reports that some of it was left out.
func (p *inspected) value() (cut bool, err error) {
	p.space()
	if p.i == len(p.in) {
		return false, ErrCut
	}
	if p.depth++; p.depth > maxDepth {
		return false, fmt.Errorf("nested deeper than %d levels", maxDepth)
	}
	defer func() { p.depth-- }()
	switch c := p.in[p.i]; {
	case c == '{':
		cut, _, err = p.object(false)
		return cut, err
	case c == '[' && p.placeholder():
		return p.left(']')
	case c == '[':
		return p.array()
	case c == '\'' || c == '"' || c == '`':
		return false, p.text()
	case c == '<':
		// <ref *1> before what a circle leads back to.
		return p.after('>')
	}
	return p.word()
}

// after passes over a remark and converts what follows it.
func (p *inspected) after(end byte) (bool, error) {
	n := bytes.IndexByte(p.in[p.i:], end)
	if n < 0 {
		return false, ErrCut
	}
	p.i += n + 1
	return p.value()
}

// placeholder reports whether the bracket at hand begins a remark, not an array.
func (p *inspected) placeholder() bool {
	for _, s := range []string{"[Object", "[Array", "[Circular", "[Function", "[AsyncFunction", "[Getter", "[Setter", "[Symbol", "[class"} {
		if bytes.HasPrefix(p.in[p.i:], []byte(s)) {
			return true
		}
	}
	return false
}

// left passes over a remark. One that names a prototype has its object after it.
func (p *inspected) left(end byte) (cut bool, err error) {
	n := bytes.IndexByte(p.in[p.i:], end)
	if n < 0 {
		return false, ErrCut
	}
	p.i += n + 1
	if p.peekByte() == '{' {
		return p.value()
	}
	p.out = append(p.out, "null"...)
	return true, nil
}

// object converts the members of an object. Attributes of which something is
// missing are counted, not written.
func (p *inspected) object(attributes bool) (cut bool, dropped int, err error) {
	p.i++
	p.out = append(p.out, '{')
	written := 0
	for first := true; ; first = false {
		done, err := p.next('}', first)
		switch {
		case err != nil:
			return false, 0, err
		case done:
			p.out = append(p.out, '}')
			return cut, dropped, nil
		case p.more():
			cut = true
			dropped++
			continue
		}
		start := len(p.out)
		if written > 0 {
			p.out = append(p.out, ',')
		}
		c, err := p.member(attributes)
		if err != nil {
			return false, 0, err
		}
		if c && attributes {
			dropped++
			p.out = p.out[:start]
			continue
		}
		cut = cut || c
		written++
	}
}

// member converts one member. The attributes of a span or an event bring along
// the count of those that are missing.
func (p *inspected) member(ofAttributes bool) (cut bool, err error) {
	name, err := p.name()
	if err != nil {
		return false, err
	}
	p.out = append(appendJSONString(p.out, name), ':')
	if ofAttributes || name != "attributes" || p.peekByte() != '{' {
		return p.value()
	}
	_, dropped, err := p.object(true)
	if dropped > 0 {
		p.out = strconv.AppendInt(append(p.out, `,"cutAttributesCount":`...), int64(dropped), 10)
	}
	return false, err
}

func (p *inspected) array() (cut bool, err error) {
	p.i++
	p.out = append(p.out, '[')
	for first := true; ; first = false {
		done, err := p.next(']', first)
		if err != nil {
			return false, err
		}
		if done {
			p.out = append(p.out, ']')
			return cut, nil
		}
		if p.more() {
			cut = true
			continue
		}
		if p.out[len(p.out)-1] != '[' {
			p.out = append(p.out, ',')
		}
		c, err := p.value()
		if err != nil {
			return false, err
		}
		cut = cut || c
	}
}

// next passes over the comma before an element, or the end of the list.
func (p *inspected) next(end byte, first bool) (done bool, err error) {
	p.space()
	if !first && p.i < len(p.in) && p.in[p.i] == ',' {
		p.i++
		p.space()
		first = true
	}
	switch {
	case p.i == len(p.in):
		return false, ErrCut
	case p.in[p.i] == end:
		p.i++
		return true, nil
	case !first:
		return false, p.unexpected("a comma")
	}
	return false, nil
}

// more passes over "... 5 more items".
func (p *inspected) more() bool {
	if !bytes.HasPrefix(p.in[p.i:], []byte("... ")) {
		return false
	}
	for p.i < len(p.in) && p.in[p.i] != '\n' && p.in[p.i] != ',' && p.in[p.i] != ']' && p.in[p.i] != '}' {
		p.i++
	}
	return true
}

// name reads the name of a member and its colon.
func (p *inspected) name() (string, error) {
	var name string
	switch p.in[p.i] {
	case '\'', '"', '`':
		s, err := p.quoted()
		if err != nil {
			return "", err
		}
		name = s
	case '[':
		n := bytes.IndexByte(p.in[p.i:], ']')
		if n < 0 {
			return "", ErrCut
		}
		name = string(p.in[p.i : p.i+n+1])
		p.i += n + 1
	default:
		start := p.i
		for p.i < len(p.in) && isWordByte(p.in[p.i]) {
			p.i++
		}
		name = string(p.in[start:p.i])
	}
	if name == "" || p.peekByte() != ':' {
		return "", p.unexpected("the name of a member and a colon")
	}
	p.i++
	return name, nil
}

func isWordByte(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}

// word converts a number, a literal, a date, or an object with the name of its
// class before it.
func (p *inspected) word() (cut bool, err error) {
	start := p.i
	if bytes.HasPrefix(p.in[p.i:], []byte("Symbol(")) {
		return p.left(')')
	}
	for p.i < len(p.in) && (isWordByte(p.in[p.i]) || bytes.IndexByte([]byte("+-.:()"), p.in[p.i]) >= 0) {
		p.i++
	}
	w := string(p.in[start:p.i])
	switch {
	case w == "":
		return false, p.unexpected("a value")
	case w == "true" || w == "false" || w == "null":
		p.out = append(p.out, w...)
		return false, nil
	case w == "undefined":
		p.out = append(p.out, "null"...)
		return false, nil
	case json.Valid([]byte(w)):
		p.out = append(p.out, w...)
		return false, nil
	case w == "NaN" || strings.HasSuffix(w, "Infinity"):
		p.out = appendJSONString(p.out, w)
		return false, nil
	}
	if digits, ok := strings.CutSuffix(w, "n"); ok && json.Valid([]byte(digits)) {
		p.out = append(p.out, digits...)
		return false, nil
	}
	if c := p.peekByte(); c == '{' || c == '[' {
		return p.value()
	}
	if w[0] >= '0' && w[0] <= '9' {
		p.out = appendJSONString(p.out, w)
		return false, nil
	}
	p.i = start
	return false, p.unexpected("a value")
}

func (p *inspected) space() {
	for p.i < len(p.in) && (p.in[p.i] == ' ' || p.in[p.i] == '\n' || p.in[p.i] == '\r' || p.in[p.i] == '\t') {
		p.i++
	}
}

// peekByte is the next byte that is no white space, 0 at the end.
func (p *inspected) peekByte() byte {
	p.space()
	if p.i == len(p.in) {
		return 0
	}
	return p.in[p.i]
}

func (p *inspected) unexpected(want string) error {
	if p.i == len(p.in) {
		return ErrCut
	}
	rest := p.in[p.i:min(len(p.in), p.i+24)]
	return fmt.Errorf("want %s, found %q", want, bytes.ToValidUTF8(rest, nil))
}
