package tape

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
)

// UnmarshalJSON reads a manifest from one line of a tape. It does not judge the
// version; [Reader] does. A member of the wrong type is a [*MemberError].
func (m *Manifest) UnmarshalJSON(line []byte) error {
	type plain Manifest
	*m = Manifest{}
	extra, err := decodeWith(line, (*plain)(m),
		"tape", "trace_id", "conversation_id", "service", "agent", "agent_version", "code_version",
		"environment", "started", "ended", "outcome", "trigger", "failure", "complete", "gaps",
		"fidelity", "tools", "redaction", "resource", "recorder", "parent")
	m.Extra = extra
	return err
}

// UnmarshalJSON reads a parent and keeps the members it does not know.
func (p *Parent) UnmarshalJSON(text []byte) (err error) {
	type plain Parent
	p.Extra, err = decodeWith(text, (*plain)(p), "trace_id", "experiment", "fork")
	return err
}

// UnmarshalJSON reads a failure and keeps the members it does not know.
func (f *Failure) UnmarshalJSON(text []byte) (err error) {
	type plain Failure
	f.Extra, err = decodeWith(text, (*plain)(f), "class", "seq", "reason", "evidence")
	return err
}

// UnmarshalJSON reads a gap and keeps the members it does not know.
func (g *Gap) UnmarshalJSON(text []byte) (err error) {
	type plain Gap
	g.Extra, err = decodeWith(text, (*plain)(g), "seq", "what", "why", "fix")
	return err
}

// UnmarshalJSON reads a tool and keeps the members it does not know.
func (t *Tool) UnmarshalJSON(text []byte) (err error) {
	type plain Tool
	t.Extra, err = decodeWith(text, (*plain)(t), "name", "description", "schema", "schema_version")
	return err
}

// UnmarshalJSON reads a redaction and keeps the members it does not know.
func (r *Redaction) UnmarshalJSON(text []byte) (err error) {
	type plain Redaction
	r.Extra, err = decodeWith(text, (*plain)(r), "policy", "rules")
	return err
}

// decodeWith decodes the known members of an object into v and returns the
// others. Only the known ones are shown to encoding/json, which would take
// "Service" for "service", and one at a time, so that an error has its name.
func decodeWith(text []byte, v any, known ...string) (extra []Member, err error) {
	var object []byte
	err = members(text, func(name string, value []byte) error {
		if !slices.Contains(known, name) {
			extra = append(extra, Member{Name: name, Value: bytes.Clone(value)})
			return nil
		}
		object = append(appendString(append(object[:0], '{'), name), ':')
		object = append(append(object, value...), '}')
		return inMember(name, json.Unmarshal(object, v))
	})
	if err != nil {
		return nil, err
	}
	return extra, nil
}

// inMember says in which member an error occurred.
func inMember(name string, err error) error {
	var wrong *json.UnmarshalTypeError
	var inner *MemberError
	var shape *JSONError
	switch {
	case errors.As(err, &inner):
		return &MemberError{Member: name + "." + inner.Member, Reason: inner.Reason}
	case errors.As(err, &wrong):
		return &MemberError{Member: name, Reason: "want " + jsonType(wrong.Type) + ", got " + wrong.Value}
	case errors.As(err, &shape):
		// The text as a whole has been found to be JSON.
		return &MemberError{Member: name, Reason: shape.Reason}
	}
	return err
}

// jsonType names the JSON that a type is read from.
func jsonType(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Int:
		return "a whole number"
	case reflect.Slice:
		return "an array"
	case reflect.Struct, reflect.Map, reflect.Pointer:
		return "an object"
	}
	return "a number"
}
