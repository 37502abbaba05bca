package otlpfile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// normalise checks a valid JSON object against a message and gives the text
// that pdata reads as meant: ids in hex, integers without exponent, enums as
// numbers, null as the default, members in their present spelling. Text that
// needs no change is returned as it is, not copied.
func normalise(doc []byte, m *message) ([]byte, error) {
	n := normaliser{cursor: cursor{b: doc}}
	if err := n.object(m); err != nil {
		return nil, &fault{offset: n.at, member: path(n.steps), err: err}
	}
	if n.out == nil {
		return doc, nil
	}
	return append(n.out, doc[n.copied:]...), nil
}

type normaliser struct {
	cursor
	steps []step
	// at is where the value under check begins.
	at int
	// out holds the changed text up to copied in b; nil while nothing changed.
	out    []byte
	copied int
}

// step is one part of the path to the value under check; index is -1 for a
// member that is not an array.
type step struct {
	name  string
	index int
}

// path renders steps as "resourceSpans[0].resource". Attributes can nest deep,
// which a message need not show.
func path(steps []step) string {
	const most = 16
	var b strings.Builder
	for i, s := range steps {
		if i == most {
			fmt.Fprintf(&b, "…(%d more)", len(steps)-most)
			break
		}
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(s.name)
		if s.index >= 0 {
			b.WriteString("[" + strconv.Itoa(s.index) + "]")
		}
	}
	return b.String()
}

// replace writes text in place of b[from:to].
func (n *normaliser) replace(from, to int, text string) {
	n.out = append(n.out, n.b[n.copied:from]...)
	n.out = append(n.out, text...)
	n.copied = to
}

// object checks the value at the cursor as a message. On an error the steps are
// left as they are, since they are then the path to the fault.
func (n *normaliser) object(m *message) error {
	first := n.peek()
	start := n.i
	n.at = start
	if first != '{' {
		return fmt.Errorf("want an object, found %s", describe(first))
	}
	var known, unknown int
	var stranger string
	var seen uint
	var fail error
	for name := range n.cursor.object() {
		f := m.byName[string(name)]
		if f == nil {
			// pdata takes an empty name for the end of the object.
			if len(name) == 0 {
				n.at, fail = n.i, errors.New("a member without a name")
				break
			}
			if unknown == 0 {
				stranger = string(name)
			}
			unknown++
			n.skip()
			continue
		}
		known++
		if f.renames != "" {
			n.rename(f)
		}
		n.steps = append(n.steps, step{f.name, -1})
		given, err := n.member(f)
		if err != nil {
			fail = err
			break
		}
		n.steps = n.steps[:len(n.steps)-1]
		if given {
			seen |= f.need
		}
	}
	if fail != nil {
		return fail
	}
	n.at = start
	if known == 0 && unknown > 0 {
		return fmt.Errorf("%q is no member of %s", clip(stranger), m.name)
	}
	return m.checkNeeds(seen)
}

// rename rewrites the member name that ends at the colon before the cursor.
func (n *normaliser) rename(f *field) {
	end := n.i - 1
	for n.b[end] != '"' {
		end--
	}
	start := end - 1
	for n.b[start] != '"' {
		start--
	}
	n.replace(start, end+1, strconv.Quote(f.renames))
}

// member checks one member and reports whether it holds more than nothing.
func (n *normaliser) member(f *field) (given bool, err error) {
	first := n.peek()
	n.at = n.i
	switch {
	case first == 'n':
		n.scalar()
		n.replace(n.at, n.i, zero(f))
		return false, nil
	case f.repeated && first != '[':
		return false, fmt.Errorf("want an array, found %s", describe(first))
	case f.repeated:
		last := len(n.steps) - 1
		for i := range n.array() {
			n.steps[last].index = i
			if f.kind == kindMessage {
				err = n.object(f.message)
			} else {
				_, err = n.value(f)
			}
			if err != nil {
				return false, err
			}
			given = true
		}
		n.steps[last].index = -1
		return given, nil
	case f.kind == kindMessage:
		return true, n.object(f.message)
	}
	return n.value(f)
}

// value checks one scalar.
func (n *normaliser) value(f *field) (given bool, err error) {
	first := n.peek()
	n.at = n.i
	if first == '{' || first == '[' {
		return false, fmt.Errorf("want %s, found %s", f.kind.want(), describe(first))
	}
	token := n.scalar()
	out, given, err := f.check(token)
	if err != nil {
		return false, err
	}
	if out != "" {
		n.replace(n.at, n.i, out)
	}
	return given, nil
}

// describe names a JSON value by its first byte.
func describe(first byte) string {
	switch first {
	case '{':
		return "an object"
	case '[':
		return "an array"
	case '"':
		return "a string"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// zero is the JSON text of a field that is not set.
func zero(f *field) string {
	switch {
	case f.repeated:
		return "[]"
	case f.kind == kindMessage:
		return "{}"
	case f.kind == kindBool:
		return "false"
	case f.kind == kindString, f.kind == kindBytes, f.kind == kindTraceID, f.kind == kindSpanID:
		return `""`
	}
	return "0"
}
