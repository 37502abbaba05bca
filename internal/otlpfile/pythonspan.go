package otlpfile

import (
	"encoding/json"
	"slices"
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// pythonSpan is one span as the console exporter of OpenTelemetry Python prints
// it (ids with 0x), as OpenInference writes it into JSON lines, and as Phoenix
// exports it. They agree on name, context, parent_id and times, and differ in
// how they write status and kind; attributes may be flat or nested.
type pythonSpan struct{}

func (pythonSpan) claims(members []string) bool {
	return slices.Contains(members, "context") && slices.Contains(members, "name")
}

type pythonContext struct {
	TraceID json.RawMessage `json:"trace_id"`
	SpanID  json.RawMessage `json:"span_id"`
	State   json.RawMessage `json:"trace_state"`
}

type pythonSpanJSON struct {
	Name     string          `json:"name"`
	Context  pythonContext   `json:"context"`
	Kind     json.RawMessage `json:"kind"`
	OIKind   string          `json:"span_kind"`
	ParentID json.RawMessage `json:"parent_id"`
	// Parent is how the console exporter of other languages names it.
	Parent     *pythonContext  `json:"parent"`
	Start      json.RawMessage `json:"start_time"`
	End        json.RawMessage `json:"end_time"`
	Status     json.RawMessage `json:"status"`
	StatusCode string          `json:"status_code"`
	StatusText string          `json:"status_message"`
	Attributes json.RawMessage `json:"attributes"`
	Events     json.RawMessage `json:"events"`
	Links      json.RawMessage `json:"links"`
	Resource   struct {
		Attributes json.RawMessage `json:"attributes"`
		SchemaURL  string          `json:"schema_url"`
	} `json:"resource"`
	Scope           scopeJSON `json:"instrumentation_scope"`
	Instrumentation scopeJSON `json:"instrumentation_info"`
	ShortScope      scopeJSON `json:"scope"`
}

type scopeJSON struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

func (pythonSpan) decode(doc []byte) (*Document, error) {
	var s pythonSpanJSON
	if err := read(doc, &s); err != nil {
		return nil, err
	}
	d := newDocument("Python span")
	resource, scope := d.newScope()
	if err := putAttributes(resource.Attributes(), s.Resource.Attributes); err != nil {
		return nil, in("resource.attributes", err)
	}
	scope.Scope().SetName(s.Scope.Name + s.ShortScope.Name + s.Instrumentation.Name)
	scope.Scope().SetVersion(s.Scope.Version + s.ShortScope.Version + s.Instrumentation.Version)
	return d, s.put(scope.Spans().AppendEmpty())
}

func (s *pythonSpanJSON) put(span ptrace.Span) error {
	parent := s.ParentID
	if s.Parent != nil && !given(parent) {
		parent = s.Parent.SpanID
	}
	if err := ids(span, s.Context.TraceID, s.Context.SpanID, parent, "context.trace_id", "context.span_id", "parent_id"); err != nil {
		return err
	}
	if err := times(span, s.Start, s.End, "start_time", "end_time"); err != nil {
		return err
	}
	span.SetName(s.Name)
	if given(s.Kind) {
		span.SetKind(spanKind(textOf(s.Kind)))
	}
	if err := flatten(span.Attributes(), s.Attributes); err != nil {
		return in("attributes", err)
	}
	if s.OIKind != "" && s.OIKind != "UNKNOWN" {
		if _, ok := span.Attributes().Get("openinference.span.kind"); !ok {
			span.Attributes().PutStr("openinference.span.kind", strings.ToUpper(s.OIKind))
		}
	}
	if err := s.putStatus(span); err != nil {
		return in("status", err)
	}
	if err := elements("events", s.Events, func(raw json.RawMessage) error { return pythonEvent(span.Events().AppendEmpty(), raw) }); err != nil {
		return err
	}
	return elements("links", s.Links, func(raw json.RawMessage) error { return pythonLink(span.Links().AppendEmpty(), raw) })
}

// putStatus reads {"status_code", "description"}, a name, or the members of
// Phoenix.
func (s *pythonSpanJSON) putStatus(span ptrace.Span) error {
	code, message := s.StatusCode, s.StatusText
	switch {
	case !given(s.Status):
	case s.Status[0] == '"':
		code = text(s.Status)
	default:
		var status struct {
			Code        string `json:"status_code"`
			Short       string `json:"code"`
			Description string `json:"description"`
			Message     string `json:"message"`
		}
		if err := read(s.Status, &status); err != nil {
			return err
		}
		code, message = status.Code+status.Short, status.Description+status.Message
	}
	setStatus(span, code, message)
	return nil
}

func pythonEvent(e ptrace.SpanEvent, raw json.RawMessage) error {
	var event struct {
		Name       string          `json:"name"`
		Time       json.RawMessage `json:"timestamp"`
		Attributes json.RawMessage `json:"attributes"`
		// Phoenix keeps what an exception said without the names of the attributes.
		Message string `json:"message"`
	}
	if err := read(raw, &event); err != nil {
		return err
	}
	when, err := readTime(event.Time)
	if err != nil {
		return in("timestamp", err)
	}
	e.SetName(event.Name)
	e.SetTimestamp(when)
	if err := flatten(e.Attributes(), event.Attributes); err != nil {
		return in("attributes", err)
	}
	if _, ok := e.Attributes().Get("exception.message"); !ok && event.Name == "exception" {
		putText(e.Attributes(), "exception.message", event.Message)
	}
	return nil
}

func pythonLink(l ptrace.SpanLink, raw json.RawMessage) error {
	var link struct {
		Context    pythonContext   `json:"context"`
		Attributes json.RawMessage `json:"attributes"`
	}
	if err := read(raw, &link); err != nil {
		return err
	}
	return putLink(l, link.Context.TraceID, link.Context.SpanID, link.Attributes, "context.trace_id", "context.span_id")
}

// textOf is a string, or any other JSON as it stands.
func textOf(raw json.RawMessage) string {
	if len(raw) > 0 && raw[0] == '"' {
		return text(raw)
	}
	return string(raw)
}
