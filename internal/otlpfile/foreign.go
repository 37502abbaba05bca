package otlpfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// newDocument is a document without spans and logs.
func newDocument(format string) *Document {
	return &Document{Format: format, Traces: ptrace.NewTraces(), Logs: plog.NewLogs()}
}

// newScope adds a resource with one scope.
func (d *Document) newScope() (pcommon.Resource, ptrace.ScopeSpans) {
	rs := d.Traces.ResourceSpans().AppendEmpty()
	return rs.Resource(), rs.ScopeSpans().AppendEmpty()
}

// in says in which member an error arose.
func in(member string, err error) error {
	if err == nil {
		return nil
	}
	inner, ok := err.(*fault) //nolint:errorlint // A fault inside another error is not ours to move.
	if !ok {
		return &fault{offset: -1, member: member, err: err}
	}
	switch {
	case inner.member == "":
	case strings.HasPrefix(inner.member, "["):
		member += inner.member
	default:
		member += "." + inner.member
	}
	return &fault{offset: -1, member: member, err: inner.err}
}

func at(list string, i int) string { return list + "[" + strconv.Itoa(i) + "]" }

// read decodes JSON that is valid but may be of the wrong type.
func read(raw []byte, v any) error {
	err := json.Unmarshal(raw, v)
	var wrong *json.UnmarshalTypeError
	if errors.As(err, &wrong) {
		return &fault{offset: -1, member: wrong.Field, err: fmt.Errorf("want %s, found a JSON %s", goWant(wrong.Type.Kind().String()), wrong.Value)}
	}
	return err
}

// goWant names what a Go type is written as.
func goWant(kind string) string {
	switch kind {
	case "struct", "map":
		return "an object"
	case "slice":
		return "an array"
	case "string":
		return "a string"
	case "bool":
		return "true or false"
	}
	return "a number"
}

// given reports whether a member is there and not null.
func given(raw json.RawMessage) bool { return len(raw) > 0 && raw[0] != 'n' }

// ids reads the ids of a span; the parent may be missing.
func ids(span ptrace.Span, trace, id, parent json.RawMessage, traceName, idName, parentName string) error {
	traceID, err := readTraceID(trace)
	if err != nil {
		return in(traceName, err)
	}
	spanID, err := readSpanID(id)
	if err != nil {
		return in(idName, err)
	}
	switch {
	case traceID.IsEmpty():
		return fmt.Errorf("a span without %s", traceName)
	case spanID.IsEmpty():
		return fmt.Errorf("a span without %s", idName)
	}
	parentID, err := readSpanID(parent)
	if err != nil {
		return in(parentName, err)
	}
	span.SetTraceID(traceID)
	span.SetSpanID(spanID)
	span.SetParentSpanID(parentID)
	return nil
}

// times reads when a span began and ended; the end may be missing.
func times(span ptrace.Span, start, end json.RawMessage, startName, endName string) error {
	from, err := readTime(start)
	if err != nil {
		return in(startName, err)
	}
	to, err := readTime(end)
	if err != nil {
		return in(endName, err)
	}
	span.SetStartTimestamp(from)
	span.SetEndTimestamp(to)
	return nil
}

// spanKind reads the name of a kind, such as "SpanKind.CLIENT" or "client".
func spanKind(name string) ptrace.SpanKind {
	name = strings.ToUpper(name[strings.LastIndexByte(name, '.')+1:])
	// The numbers are those of OTLP; a name that is none is 0, unspecified.
	return ptrace.SpanKind(spanKinds[name])
}

// setStatus reads the name of a status, such as "StatusCode.ERROR" or "Error".
func setStatus(span ptrace.Span, code, message string) {
	code = strings.ToUpper(code[strings.LastIndexByte(code, '.')+1:])
	span.Status().SetCode(ptrace.StatusCode(statusCodes[code]))
	if span.Status().Code() == ptrace.StatusCodeError {
		span.Status().SetMessage(message)
	}
}

// elements calls f for each element of a JSON array; null is an empty one.
func elements(list string, raw json.RawMessage, f func(json.RawMessage) error) error {
	if !given(raw) {
		return nil
	}
	if raw[0] != '[' {
		return in(list, fmt.Errorf("want an array, found %s", describe(raw[0])))
	}
	c := cursor{b: raw}
	for i := range c.array() {
		if err := f(c.raw()); err != nil {
			return in(at(list, i), err)
		}
	}
	return nil
}

// raw passes over one value and gives its text.
func (c *cursor) raw() json.RawMessage {
	c.peek()
	start := c.i
	c.skip()
	return bytes.TrimRight(c.b[start:c.i], " \t\r\n")
}
