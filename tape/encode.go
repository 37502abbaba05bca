package tape

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
)

// encoder writes one JSON object, member by member. The first error sticks.
type encoder struct {
	dst []byte
	err error
	// encoded is set where arguments and results are JSON on one line already.
	encoded bool
}

func (e *encoder) name(name string) {
	if e.dst[len(e.dst)-1] != '{' {
		e.dst = append(e.dst, ',')
	}
	e.dst = append(appendString(e.dst, name), ':')
}

func (e *encoder) text(name, value string) {
	e.name(name)
	e.dst = appendString(e.dst, value)
}

// textIf writes a string that is not empty.
func (e *encoder) textIf(name, value string) {
	if value != "" {
		e.text(name, value)
	}
}

func (e *encoder) number(name string, value float64) {
	e.name(name)
	if math.IsNaN(value) || math.IsInf(value, 0) {
		e.fail(name, errors.New("not a finite number"))
		return
	}
	e.dst = strconv.AppendFloat(e.dst, value, 'f', -1, 64)
}

// raw writes JSON text as it is, unless a line break in it would end the line.
func (e *encoder) raw(name string, value json.RawMessage) {
	e.name(name)
	if len(value) == 0 {
		e.dst = append(e.dst, nullText...)
		return
	}
	if e.encoded {
		e.dst = append(e.dst, value...)
		return
	}
	if err := valid(value); err != nil {
		e.fail(name, err)
		return
	}
	if bytes.IndexByte(value, '\n') >= 0 || bytes.IndexByte(value, '\r') >= 0 {
		var line bytes.Buffer
		// The text is valid, so compaction cannot fail.
		_ = json.Compact(&line, value)
		value = line.Bytes()
	}
	e.dst = append(e.dst, value...)
}

func (e *encoder) rawIf(name string, value json.RawMessage) {
	if len(value) > 0 {
		e.raw(name, value)
	}
}

// strings writes a list of strings that is not empty.
func (e *encoder) strings(name string, values []string) {
	if len(values) == 0 {
		return
	}
	e.name(name)
	for i, value := range values {
		e.dst = append(e.dst, "[,"[min(i, 1)])
		e.dst = appendString(e.dst, value)
	}
	e.dst = append(e.dst, ']')
}

func (e *encoder) extra(list []Member) {
	for _, m := range list {
		e.raw(m.Name, m.Value)
	}
}

func (e *encoder) fail(name string, err error) {
	if e.err == nil {
		e.err = fmt.Errorf("member %q: %w", name, err)
	}
}

// AppendJSON appends the record as one line of a tape, without the line break:
// the eight core members always, the others where they are not empty, then
// what was kept in Extra. Args and Result keep their bytes, but for line
// breaks. An error names the member that is not JSON, and dst is then returned
// as it was.
func (r *Record) AppendJSON(dst []byte) ([]byte, error) { return r.appendJSON(dst, false) }

func (r *Record) appendJSON(dst []byte, encoded bool) ([]byte, error) {
	e := encoder{dst: append(dst, '{'), encoded: encoded}
	e.number("seq", float64(r.Seq))
	e.text("tool", r.Tool)
	e.text("key", r.Key)
	e.raw("args", r.Args)
	e.raw("result", r.Result)
	e.encoded = false
	e.number("ms", r.MS)
	if r.SideEffect != nil {
		e.name("side_effect")
		e.dst = strconv.AppendBool(e.dst, *r.SideEffect)
	} else {
		e.raw("side_effect", nil)
	}
	if r.Clock != "" {
		e.text("clock", r.Clock)
	} else {
		e.raw("clock", nil)
	}
	e.textIf("kind", string(r.Kind))
	if r.Error != nil {
		e.name("error")
		e.error(r.Error)
	}
	e.textIf("run_id", r.RunID)
	e.textIf("step_id", r.StepID)
	e.textIf("parent_id", r.ParentID)
	e.strings("span_ids", r.SpanIDs)
	e.textIf("tool_call_id", r.ToolCallID)
	e.textIf("start", r.Start)
	if r.Done != 0 {
		e.number("done", float64(r.Done))
	}
	e.textIf("schema_version", r.SchemaVersion)
	e.textIf("args_raw", r.ArgsRaw)
	e.textIf("args_hash", r.ArgsHash)
	e.rawIf("args_validated", r.ArgsValidated)
	e.rawIf("caller_context", r.CallerContext)
	e.textIf("prompt_version", r.PromptVersion)
	e.textIf("model", r.Model)
	e.textIf("policy_result", r.PolicyResult)
	e.textIf("approval_id", r.ApprovalID)
	e.textIf("failure_class", r.FailureClass)
	e.textIf("fidelity", string(r.Fidelity))
	e.strings("redacted", r.Redacted)
	e.bodies(r.Bodies)
	e.textIf("dialect", r.Dialect)
	e.textIf("expires", r.Expires)
	e.extra(r.Extra)
	if e.err != nil {
		return dst, e.err
	}
	return append(e.dst, '}'), nil
}

func (e *encoder) error(recorded *Error) {
	e.dst = append(e.dst, '{')
	e.textIf("code", recorded.Code)
	e.textIf("message", recorded.Message)
	e.textIf("type", recorded.Type)
	e.extra(recorded.Extra)
	e.dst = append(e.dst, '}')
}

// bodies writes one body as an object and two as an array.
func (e *encoder) bodies(list []Body) {
	if len(list) == 0 {
		return
	}
	e.name("body")
	if len(list) == 1 {
		e.body(&list[0], list[0].Of)
		return
	}
	for i := range list {
		of := list[i].Of
		if of == "" {
			of = "result"
		}
		e.dst = append(e.dst, "[,"[min(i, 1)])
		e.body(&list[i], of)
	}
	e.dst = append(e.dst, ']')
}

func (e *encoder) body(b *Body, of string) {
	e.dst = append(e.dst, '{')
	e.text("sha256", b.SHA256)
	e.number("bytes", float64(b.Bytes))
	e.textIf("media_type", b.MediaType)
	e.textIf("of", of)
	e.extra(b.Extra)
	e.dst = append(e.dst, '}')
}

// AppendJSON appends the manifest as one line of a tape, without the line
// break; an empty version is written as [Version].
func (m *Manifest) AppendJSON(dst []byte) ([]byte, error) {
	line := *m
	if line.Tape == "" {
		line.Tape = Version
	}
	type plain Manifest
	return appendWith(dst, (*plain)(&line), m.Extra)
}

// appendWith appends v, an object, with extra members at its end.
func appendWith(dst []byte, v any, extra []Member) ([]byte, error) {
	var buf bytes.Buffer
	known := json.NewEncoder(&buf)
	known.SetEscapeHTML(false)
	if err := known.Encode(v); err != nil {
		return dst, err
	}
	// Without the closing brace and the line break that Encode adds.
	e := encoder{dst: append(dst, buf.Bytes()[:buf.Len()-2]...)}
	e.extra(extra)
	if e.err != nil {
		return dst, e.err
	}
	return append(e.dst, '}'), nil
}

// MarshalJSON is [Record.AppendJSON]. Note that encoding/json, which calls it,
// compacts what it returns and escapes <, > and &.
func (r *Record) MarshalJSON() ([]byte, error) { return r.AppendJSON(nil) }

// MarshalJSON is [Manifest.AppendJSON], with the same note.
func (m *Manifest) MarshalJSON() ([]byte, error) { return m.AppendJSON(nil) }

// MarshalJSON writes the failure with the members it was read with.
func (f *Failure) MarshalJSON() ([]byte, error) {
	type plain Failure
	return appendWith(nil, (*plain)(f), f.Extra)
}

// MarshalJSON writes the gap with the members it was read with.
func (g Gap) MarshalJSON() ([]byte, error) {
	type plain Gap
	return appendWith(nil, plain(g), g.Extra)
}

// MarshalJSON writes the tool with the members it was read with.
func (t Tool) MarshalJSON() ([]byte, error) {
	type plain Tool
	return appendWith(nil, plain(t), t.Extra)
}

// MarshalJSON writes the redaction with the members it was read with.
func (r *Redaction) MarshalJSON() ([]byte, error) {
	type plain Redaction
	return appendWith(nil, (*plain)(r), r.Extra)
}

// MarshalJSON writes the parent with the members it was read with.
func (p *Parent) MarshalJSON() ([]byte, error) {
	type plain Parent
	return appendWith(nil, (*plain)(p), p.Extra)
}
