package tape

import "fmt"

// MaxDepth is how deeply JSON values may nest before they are refused. It is
// the limit of encoding/json, so that what is read here can be decoded there.
const MaxDepth = 10_000

// JSONError says where JSON text is wrong.
type JSONError struct {
	// Offset is the byte offset of the fault, 0-based.
	Offset int
	Reason string
	// AtEnd is set when the text was good as far as it went but ended early.
	AtEnd bool
}

func (e *JSONError) Error() string {
	return fmt.Sprintf("invalid JSON at byte %d: %s", e.Offset, e.Reason)
}

// scanner walks JSON text and checks it, without building values: members are
// handed out as spans of the text, so that what was read can be written back
// byte for byte.
type scanner struct {
	data  []byte
	pos   int
	depth int
}

func (s *scanner) fail(reason string) error {
	return &JSONError{Offset: s.pos, Reason: reason, AtEnd: s.pos >= len(s.data)}
}

func (s *scanner) ended() error {
	return &JSONError{Offset: len(s.data), Reason: "unexpected end", AtEnd: true}
}

func (s *scanner) space() {
	for s.pos < len(s.data) {
		switch s.data[s.pos] {
		case ' ', '\t', '\n', '\r':
			s.pos++
		default:
			return
		}
	}
}

// end checks that nothing but white space is left.
func (s *scanner) end() error {
	s.space()
	if s.pos < len(s.data) {
		return s.fail("text after the value")
	}
	return nil
}

func (s *scanner) enter() error {
	if s.depth++; s.depth > MaxDepth {
		return s.fail(fmt.Sprintf("nested deeper than %d", MaxDepth))
	}
	s.pos++
	return nil
}

// skipNumber moves past a number and reports whether it is an integer, which
// is a matter of spelling: 1e3 is not one.
func (s *scanner) skipNumber() (integer bool, err error) {
	if s.data[s.pos] == '-' {
		s.pos++
	}
	switch {
	case s.pos == len(s.data):
		return false, s.ended()
	case s.data[s.pos] == '0':
		s.pos++
	case !s.digits():
		return false, s.fail("not a JSON value")
	}
	integer = true
	if s.pos < len(s.data) && s.data[s.pos] == '.' {
		integer = false
		s.pos++
		if !s.digits() {
			return false, s.fail("no digit after the decimal point")
		}
	}
	if s.pos < len(s.data) && s.data[s.pos]|0x20 == 'e' {
		integer = false
		s.pos++
		if s.pos < len(s.data) && (s.data[s.pos] == '+' || s.data[s.pos] == '-') {
			s.pos++
		}
		if !s.digits() {
			return false, s.fail("no digit in the exponent")
		}
	}
	return integer, nil
}

func (s *scanner) digits() bool {
	from := s.pos
	for s.pos < len(s.data) && s.data[s.pos]-'0' <= 9 {
		s.pos++
	}
	return s.pos > from
}

func (s *scanner) literal(word string) error {
	rest := s.data[s.pos:]
	if len(rest) >= len(word) && string(rest[:len(word)]) == word {
		s.pos += len(word)
		return nil
	}
	if len(rest) < len(word) && word[:len(rest)] == string(rest) {
		return s.ended()
	}
	return s.fail("not a JSON value")
}

// skip moves past one value, checking it.
func (s *scanner) skip() error {
	s.space()
	if s.pos == len(s.data) {
		return s.ended()
	}
	switch s.data[s.pos] {
	case '{':
		return s.object(func(_, _ []byte) error { return nil })
	case '[':
		return s.array()
	case '"':
		return s.skipString()
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	default:
		_, err := s.skipNumber()
		return err
	}
}

func (s *scanner) array() error {
	if err := s.enter(); err != nil {
		return err
	}
	for first := true; ; first = false {
		done, err := s.separator(']', first)
		if err != nil || done {
			return err
		}
		if err := s.skip(); err != nil {
			return err
		}
	}
}

// separator moves to the next element of an array or object, or past its end.
func (s *scanner) separator(closing byte, first bool) (done bool, err error) {
	s.space()
	if s.pos == len(s.data) {
		return false, s.ended()
	}
	switch c := s.data[s.pos]; {
	case c == closing:
		s.pos++
		s.depth--
		return true, nil
	case first:
		return false, nil
	case c != ',':
		return false, s.fail("expected a comma or " + string(closing))
	}
	s.pos++
	s.space()
	if s.pos < len(s.data) && s.data[s.pos] == closing {
		return false, s.fail("comma before " + string(closing))
	}
	return false, nil
}

// name moves past a member's name and colon, to the start of its value, and
// returns the quoted name. With a canonicaliser the caller reads the name
// itself and calls colon.
func (s *scanner) name() ([]byte, error) {
	if err := s.quote(); err != nil {
		return nil, err
	}
	from := s.pos
	if err := s.skipString(); err != nil {
		return nil, err
	}
	name := s.data[from:s.pos]
	return name, s.colon()
}

func (s *scanner) quote() error {
	if s.pos == len(s.data) {
		return s.ended()
	}
	if s.data[s.pos] != '"' {
		return s.fail("expected a member name")
	}
	return nil
}

func (s *scanner) colon() error {
	s.space()
	if s.pos == len(s.data) {
		return s.ended()
	}
	if s.data[s.pos] != ':' {
		return s.fail("expected a colon")
	}
	s.pos++
	s.space()
	return nil
}

// object walks an object and gives each member's quoted name and raw value.
func (s *scanner) object(member func(name, value []byte) error) error {
	if err := s.enter(); err != nil {
		return err
	}
	for first := true; ; first = false {
		done, err := s.separator('}', first)
		if err != nil || done {
			return err
		}
		name, err := s.name()
		if err != nil {
			return err
		}
		from := s.pos
		if err := s.skip(); err != nil {
			return err
		}
		if err := member(name, s.data[from:s.pos]); err != nil {
			return err
		}
	}
}

// members walks the object that text is.
func members(text []byte, member func(name string, value []byte) error) error {
	s := scanner{data: text}
	s.space()
	if s.pos == len(text) {
		return s.ended()
	}
	if text[s.pos] != '{' {
		return s.fail("not an object")
	}
	err := s.object(func(name, value []byte) error { return member(unquote(name), value) })
	if err != nil {
		return err
	}
	return s.end()
}

// valid checks that text is one JSON value.
func valid(text []byte) error {
	s := scanner{data: text}
	if err := s.skip(); err != nil {
		return err
	}
	return s.end()
}
