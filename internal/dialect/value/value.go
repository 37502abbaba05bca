// Package value holds JSON values whose objects keep the order of their
// members and whose numbers keep their spelling, so that what a tool was given
// can be written down as it was given: encoding/json would sort members and
// lose large integers.
//
// [Parse] reads JSON text and says whether it is wrong or merely cut short.
// [ParsePython] reads the literals that Python's repr writes. Both are bounded
// by [MaxDepth] and never panic. Values share memory with the text they were
// parsed from; parsing costs one pass and no copy of strings without escapes. Of
// long arrays and objects it only checks the text, which is read one level at a
// time when it is asked for, and written again as it came.
package value

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxDepth bounds the nesting of a value. Deeper text is refused, so hostile
// input cannot exhaust the stack.
const MaxDepth = 512

// Kind is the JSON type of a value.
type Kind uint8

// The kinds of a value. The zero Value is null.
const (
	Null Kind = iota
	Bool
	Number
	String
	Array
	Object
)

// Value is one JSON value. The zero Value is null.
type Value struct {
	kind    Kind
	text    string
	items   []Value
	members []Member
	// from is the element of a Memo this value is.
	from *Element
	// unread is what an array or object is that has not been read.
	unread *unread
}

// Member is a name and a value in an object.
type Member struct {
	Name  string
	Value Value
}

// Str returns a string value.
func Str(s string) Value { return Value{kind: String, text: s} }

// Boolean returns a boolean value.
func Boolean(b bool) Value { return Value{kind: Bool, text: strconv.FormatBool(b)} }

// Int returns an integral number.
func Int(n int64) Value { return Value{kind: Number, text: strconv.FormatInt(n, 10)} }

// Float returns a number that stays recognisable as a float: 4 is written 4.0,
// because an integer and a float have different keys. NaN and the infinities,
// which JSON cannot hold, become strings.
func Float(f float64) Value {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Str(strconv.FormatFloat(f, 'g', -1, 64))
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return Value{kind: Number, text: s}
}

// List returns an array.
func List(items ...Value) Value { return Value{kind: Array, items: items} }

// Obj returns an object with the members in the given order.
func Obj(members ...Member) Value { return Value{kind: Object, members: members} }

// M is a member, for building objects.
func M(name string, v Value) Member { return Member{Name: name, Value: v} }

// Clone is the value in memory of its own: it keeps no text alive that it was
// parsed from.
func (v Value) Clone() Value {
	out := Value{kind: v.kind, text: strings.Clone(v.text)}
	if v.unread != nil {
		out.unread = v.unread.clone()
	}
	if v.items != nil {
		out.items = make([]Value, len(v.items))
		for i := range v.items {
			out.items[i] = v.items[i].Clone()
		}
	}
	if v.members != nil {
		out.members = make([]Member, len(v.members))
		for i, m := range v.members {
			out.members[i] = Member{strings.Clone(m.Name), m.Value.Clone()}
		}
	}
	return out
}

// Kind is the JSON type.
func (v Value) Kind() Kind { return v.kind }

// IsNull reports whether the value is null.
func (v Value) IsNull() bool { return v.kind == Null }

// Text is the content of a string, the spelling of a number or boolean, and ""
// for anything else.
func (v Value) Text() string { return v.text }

// Str is the content of a string, "" for anything else.
func (v Value) Str() string {
	if v.kind == String {
		return v.text
	}
	return ""
}

// Len counts the elements of an array or the members of an object.
func (v Value) Len() int {
	if v.unread != nil {
		return v.unread.count
	}
	return max(len(v.items), len(v.members))
}

// Items are the elements of an array, nil of anything else.
func (v Value) Items() []Value {
	if v.unread != nil && v.kind == Array {
		return v.unread.read().items
	}
	return v.items
}

// Members are the members of an object, nil of anything else.
func (v Value) Members() []Member {
	if v.unread != nil && v.kind == Object {
		return v.unread.read().members
	}
	return v.members
}

// Get is the member of that name; of several, the last, as JSON readers have it.
func (v Value) Get(name string) (Value, bool) {
	members := v.Members()
	for i := len(members) - 1; i >= 0; i-- {
		if members[i].Name == name {
			return members[i].Value, true
		}
	}
	return Value{}, false
}

// At is the member of that name, or null.
func (v Value) At(name string) Value {
	m, _ := v.Get(name)
	return m
}

// First is the first of the named members that is present and not null.
func (v Value) First(names ...string) Value {
	for _, n := range names {
		if m, ok := v.Get(n); ok && !m.IsNull() {
			return m
		}
	}
	return Value{}
}

// Has reports whether all named members are present.
func (v Value) Has(names ...string) bool {
	for _, n := range names {
		if _, ok := v.Get(n); !ok {
			return false
		}
	}
	return true
}

// Only reports whether the object is not empty and has no members but the
// named ones.
func (v Value) Only(names ...string) bool {
	if v.kind != Object || v.Len() == 0 {
		return false
	}
next:
	for _, m := range v.Members() {
		for _, n := range names {
			if m.Name == n {
				continue next
			}
		}
		return false
	}
	return true
}

// With returns the object with one more member, or with its value replaced.
func (v Value) With(name string, m Value) Value {
	out := Value{kind: Object, members: make([]Member, 0, v.Len()+1)}
	found := false
	for _, old := range v.Members() {
		if old.Name == name {
			old.Value, found = m, true
		}
		out.members = append(out.members, old)
	}
	if !found {
		out.members = append(out.members, Member{name, m})
	}
	return out
}

// Truthy is the truth of a value as scripting languages see it: false for
// null, false, zero, and the empty string, array and object.
func (v Value) Truthy() bool {
	switch v.kind {
	case Bool:
		return v.text == "true"
	case Number:
		f, err := strconv.ParseFloat(v.text, 64)
		return err != nil || f != 0
	case String:
		return v.text != ""
	case Array, Object:
		return v.Len() > 0
	}
	return false
}

// Int64 is the integer a number or a numeric string holds. Fractions are cut.
func (v Value) Int64() (int64, bool) {
	if v.kind != Number && v.kind != String {
		return 0, false
	}
	s := strings.TrimSpace(v.text)
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	if f, err := strconv.ParseFloat(s, 64); err == nil && math.Abs(f) < 1<<62 {
		return int64(f), true
	}
	return 0, false
}

// JSON is the compact text of the value.
func (v Value) JSON() string { return string(v.Append(nil)) }

// Append appends the compact text of the value to dst. Invalid UTF-8 in
// strings becomes U+FFFD, which is all JSON can hold.
func (v Value) Append(dst []byte) []byte {
	if v.unread != nil {
		return v.unread.append(dst)
	}
	switch v.kind {
	case Bool, Number:
		return append(dst, v.text...)
	case String:
		return AppendString(dst, v.text)
	case Array:
		dst = append(dst, '[')
		for i, e := range v.items {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = e.Append(dst)
		}
		return append(dst, ']')
	case Object:
		dst = append(dst, '{')
		for i, m := range v.members {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = AppendString(dst, m.Name)
			dst = append(dst, ':')
			dst = m.Value.Append(dst)
		}
		return append(dst, '}')
	}
	return append(dst, "null"...)
}

const hex = "0123456789abcdef"

// AppendString appends s as JSON text.
func AppendString(dst []byte, s string) []byte {
	// Room for a few escapes: growing by doubling would copy a long text often.
	dst = append(slices.Grow(dst, len(s)+len(s)/8+2), '"')
	start := 0
	for i := 0; ; {
		if i += plainRun(s[i:]); i == len(s) {
			break
		}
		c := s[i]
		if c >= utf8.RuneSelf {
			r, size := utf8.DecodeRuneInString(s[i:])
			if r == utf8.RuneError && size == 1 {
				dst = append(append(dst, s[start:i]...), "\uFFFD"...)
				start = i + 1
			}
			i += size
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}
