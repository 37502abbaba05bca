package tape

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
)

// MemberError says which member of a line is wrong, and how.
type MemberError struct {
	// Member is the name, such as "seq" or "body.bytes".
	Member string
	Reason string
}

func (e *MemberError) Error() string { return fmt.Sprintf("member %q: %s", e.Member, e.Reason) }

// UnmarshalJSON reads a record from one line of a tape. Missing members read
// as zero values, see [Verify]; a member of the wrong type is a [*MemberError].
func (r *Record) UnmarshalJSON(line []byte) error {
	*r = Record{}
	return members(line, r.set)
}

func (r *Record) set(name string, value []byte) error {
	if target := r.textMember(name); target != nil {
		return setText(target, name, value)
	}
	switch name {
	case "seq":
		return setInt(&r.Seq, name, value)
	case "done":
		return setInt(&r.Done, name, value)
	case "ms":
		return setFloat(&r.MS, name, value)
	case "args":
		r.Args = clone(value)
	case "result":
		r.Result = clone(value)
	case "args_validated":
		r.ArgsValidated = clone(value)
	case "caller_context":
		r.CallerContext = clone(value)
	case "side_effect":
		return setBool(&r.SideEffect, name, value)
	case "span_ids":
		return setStrings(&r.SpanIDs, name, value)
	case "redacted":
		return setStrings(&r.Redacted, name, value)
	case "error":
		return r.setError(value)
	case "body":
		return r.setBodies(value)
	default:
		r.Extra = append(r.Extra, Member{Name: name, Value: bytes.Clone(value)})
	}
	return nil
}

// textMember is where a member that is a string or null goes, nil for others.
func (r *Record) textMember(name string) *string {
	switch name {
	case "tool":
		return &r.Tool
	case "key":
		return &r.Key
	case "clock":
		return &r.Clock
	case "kind":
		return (*string)(&r.Kind)
	case "run_id":
		return &r.RunID
	case "step_id":
		return &r.StepID
	case "parent_id":
		return &r.ParentID
	case "tool_call_id":
		return &r.ToolCallID
	case "start":
		return &r.Start
	case "schema_version":
		return &r.SchemaVersion
	case "args_raw":
		return &r.ArgsRaw
	case "args_hash":
		return &r.ArgsHash
	case "prompt_version":
		return &r.PromptVersion
	case "model":
		return &r.Model
	case "policy_result":
		return &r.PolicyResult
	case "approval_id":
		return &r.ApprovalID
	case "failure_class":
		return &r.FailureClass
	case "fidelity":
		return (*string)(&r.Fidelity)
	case "dialect":
		return &r.Dialect
	case "expires":
		return &r.Expires
	}
	return nil
}

// setError reads the error member: null, false and "" are no error, a string
// is a message, and whatever else is not an object is kept as message text.
func (r *Record) setError(value []byte) error {
	r.Error = nil
	switch {
	case isNull(value), string(value) == "false", string(value) == `""`:
		return nil
	case value[0] == '"':
		r.Error = &Error{Message: unquote(value)}
		return nil
	case value[0] != '{':
		r.Error = &Error{Message: string(value)}
		return nil
	}
	recorded := &Error{}
	err := members(value, func(name string, value []byte) error {
		switch name {
		case "code":
			recorded.Code = looseText(value)
		case "message":
			recorded.Message = looseText(value)
		case "type":
			recorded.Type = looseText(value)
		default:
			recorded.Extra = append(recorded.Extra, Member{Name: name, Value: bytes.Clone(value)})
		}
		return nil
	})
	r.Error = recorded
	return err
}

// looseText is a string, or the JSON text of a value that should be one: codes
// come as numbers as often as not.
func looseText(value []byte) string {
	switch {
	case isNull(value):
		return ""
	case value[0] == '"':
		return unquote(value)
	}
	return string(value)
}

// setBodies reads one body or an array of them.
func (r *Record) setBodies(value []byte) error {
	r.Bodies = nil
	if isNull(value) {
		return nil
	}
	texts := []json.RawMessage{value}
	if value[0] == '[' {
		texts = nil
		if err := json.Unmarshal(value, &texts); err != nil {
			return &MemberError{Member: "body", Reason: err.Error()}
		}
	}
	if len(texts) > 2 {
		return &MemberError{Member: "body", Reason: fmt.Sprintf("want one or two, got %d", len(texts))}
	}
	for _, text := range texts {
		if text[0] != '{' {
			return wrongType("body", "an object or an array of objects", text)
		}
		var b Body
		if err := members(text, b.set); err != nil {
			return err
		}
		r.Bodies = append(r.Bodies, b)
	}
	return nil
}

func (b *Body) set(name string, value []byte) error {
	switch name {
	case "sha256":
		return setText(&b.SHA256, "body.sha256", value)
	case "media_type":
		return setText(&b.MediaType, "body.media_type", value)
	case "of":
		return setText(&b.Of, "body.of", value)
	case "bytes":
		var bytes int
		err := setInt(&bytes, "body.bytes", value)
		b.Bytes = int64(bytes)
		return err
	}
	b.Extra = append(b.Extra, Member{Name: name, Value: bytes.Clone(value)})
	return nil
}

func isNull(value []byte) bool { return value[0] == 'n' }

// clone copies a value; null is nil.
func clone(value []byte) json.RawMessage {
	if isNull(value) {
		return nil
	}
	return bytes.Clone(value)
}

func wrongType(name, want string, value []byte) error {
	const enough = 40
	shown := string(value)
	if len(shown) > enough {
		shown = shown[:enough] + "…"
	}
	return &MemberError{Member: name, Reason: fmt.Sprintf("want %s, got %s", want, shown)}
}

func setText(target *string, name string, value []byte) error {
	switch {
	case isNull(value):
		*target = ""
	case value[0] == '"':
		*target = unquote(value)
	default:
		return wrongType(name, "a string", value)
	}
	return nil
}

func setInt(target *int, name string, value []byte) error {
	*target = 0
	if isNull(value) {
		return nil
	}
	n, err := strconv.Atoi(string(value))
	if err != nil {
		// Some writers spell whole numbers 1.0.
		x, floatErr := strconv.ParseFloat(string(value), 64)
		if floatErr != nil || x != math.Trunc(x) || math.Abs(x) >= 1<<53 {
			return wrongType(name, "a whole number", value)
		}
		n = int(x)
	}
	*target = n
	return nil
}

func setFloat(target *float64, name string, value []byte) error {
	*target = 0
	if isNull(value) {
		return nil
	}
	x, err := strconv.ParseFloat(string(value), 64)
	if err != nil {
		return wrongType(name, "a number", value)
	}
	*target = x
	return nil
}

func setBool(target **bool, name string, value []byte) error {
	*target = nil
	switch {
	case isNull(value):
	case value[0] == 't', value[0] == 'f':
		b := value[0] == 't'
		*target = &b
	default:
		return wrongType(name, "true, false or null", value)
	}
	return nil
}

func setStrings(target *[]string, name string, value []byte) error {
	*target = nil
	if err := json.Unmarshal(value, target); err != nil {
		return wrongType(name, "a list of strings", value)
	}
	return nil
}
