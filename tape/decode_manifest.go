package tape

import (
	"bytes"
	"encoding/json"
	"errors"
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
		"fidelity", "tools", "redaction", "resource", "recorder")
	m.Extra = extra
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
// "Service" for "service".
func decodeWith(text []byte, v any, known ...string) (extra []Member, err error) {
	object := []byte{'{'}
	err = members(text, func(name string, value []byte) error {
		if !slices.Contains(known, name) {
			extra = append(extra, Member{Name: name, Value: bytes.Clone(value)})
			return nil
		}
		if len(object) > 1 {
			object = append(object, ',')
		}
		object = append(appendString(object, name), ':')
		object = append(object, value...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(append(object, '}'), v); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) && wrong.Field != "" {
			return nil, &MemberError{Member: wrong.Field, Reason: "want " + wrong.Type.String() + ", got " + wrong.Value}
		}
		return nil, err
	}
	return extra, nil
}
