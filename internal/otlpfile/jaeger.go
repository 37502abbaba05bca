package otlpfile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// jaegerJSON is a trace as the Jaeger UI downloads it and its query API answers
// with: spans that name a process, whose tags are typed. Times are
// microseconds.
type jaegerJSON struct{}

func (jaegerJSON) claims(members []string) bool {
	return slices.Contains(members, "spans") && (slices.Contains(members, "traceID") || slices.Contains(members, "processes"))
}

type jaegerTrace struct {
	TraceID   json.RawMessage          `json:"traceID"`
	Spans     json.RawMessage          `json:"spans"`
	Processes map[string]jaegerProcess `json:"processes"`
}

type jaegerProcess struct {
	Service string      `json:"serviceName"`
	Tags    []jaegerTag `json:"tags"`
}

type jaegerTag struct {
	Key   string          `json:"key"`
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

type jaegerSpan struct {
	TraceID    json.RawMessage `json:"traceID"`
	SpanID     json.RawMessage `json:"spanID"`
	ParentID   json.RawMessage `json:"parentSpanID"`
	Name       string          `json:"operationName"`
	References []struct {
		Type    string          `json:"refType"`
		TraceID json.RawMessage `json:"traceID"`
		SpanID  json.RawMessage `json:"spanID"`
	} `json:"references"`
	Start    json.RawMessage `json:"startTime"`
	Duration json.RawMessage `json:"duration"`
	Tags     []jaegerTag     `json:"tags"`
	Logs     []struct {
		Time   json.RawMessage `json:"timestamp"`
		Fields []jaegerTag     `json:"fields"`
	} `json:"logs"`
	ProcessID string         `json:"processID"`
	Process   *jaegerProcess `json:"process"`
}

func (jaegerJSON) decode(doc []byte) (*Document, error) {
	var t jaegerTrace
	if err := read(doc, &t); err != nil {
		return nil, err
	}
	d := newDocument("Jaeger JSON")
	scopes := map[string]ptrace.ScopeSpans{}
	err := elements("spans", t.Spans, func(raw json.RawMessage) error {
		var s jaegerSpan
		if err := read(raw, &s); err != nil {
			return err
		}
		if !given(s.TraceID) {
			s.TraceID = t.TraceID
		}
		process, known := t.Processes[s.ProcessID]
		if s.Process != nil {
			process, known = *s.Process, true
		}
		if !known && s.ProcessID != "" {
			return in("processID", fmt.Errorf("there is no process %q", clip(s.ProcessID)))
		}
		return s.put(d.jaegerScope(scopes, &s, process))
	})
	if err != nil {
		return nil, err
	}
	if d.Traces.SpanCount() == 0 {
		return nil, fmt.Errorf("%w: a Jaeger trace without spans", ErrFormat)
	}
	return d, nil
}

// jaegerScope is where the spans of a process and an instrumentation go, which
// Jaeger keeps in tags.
func (d *Document) jaegerScope(scopes map[string]ptrace.ScopeSpans, s *jaegerSpan, process jaegerProcess) ptrace.Span {
	name, version := s.tag("otel.scope.name", "otel.library.name"), s.tag("otel.scope.version", "otel.library.version")
	key := strings.Join([]string{s.ProcessID, name, version}, "\x00")
	scope, known := scopes[key]
	// A process that the span brings along has no name to know it by.
	if !known || s.Process != nil {
		var resource pcommon.Resource
		resource, scope = d.newScope()
		putText(resource.Attributes(), "service.name", process.Service)
		for _, t := range process.Tags {
			t.put(resource.Attributes())
		}
		scope.Scope().SetName(name)
		scope.Scope().SetVersion(version)
		scopes[key] = scope
	}
	return scope.Spans().AppendEmpty()
}

func (s *jaegerSpan) tag(names ...string) string {
	for _, t := range s.Tags {
		if slices.Contains(names, t.Key) {
			return t.text()
		}
	}
	return ""
}

func (s *jaegerSpan) put(span ptrace.Span) error {
	parent := s.ParentID
	for _, r := range s.References {
		if r.Type == "CHILD_OF" && !given(parent) {
			parent = r.SpanID
			continue
		}
		link := span.Links().AppendEmpty()
		traceID, err := readTraceID(r.TraceID)
		if err != nil {
			return in("references.traceID", err)
		}
		spanID, err := readSpanID(r.SpanID)
		if err != nil {
			return in("references.spanID", err)
		}
		link.SetTraceID(traceID)
		link.SetSpanID(spanID)
	}
	if err := ids(span, s.TraceID, s.SpanID, parent, "traceID", "spanID", "references.spanID"); err != nil {
		return err
	}
	start, err := microseconds(s.Start)
	if err != nil {
		return in("startTime", err)
	}
	took, err := microseconds(s.Duration)
	if err != nil {
		return in("duration", err)
	}
	span.SetStartTimestamp(start)
	span.SetEndTimestamp(start + took)
	span.SetName(s.Name)
	s.putTags(span)
	for i, l := range s.Logs {
		e := span.Events().AppendEmpty()
		when, err := microseconds(l.Time)
		if err != nil {
			return in(at("logs", i)+".timestamp", err)
		}
		e.SetTimestamp(when)
		for _, f := range l.Fields {
			if f.Key == "event" && e.Name() == "" {
				e.SetName(f.text())
				continue
			}
			f.put(e.Attributes())
		}
	}
	return nil
}

// putTags sorts the tags that stand for members of an OTLP span from the
// attributes.
func (s *jaegerSpan) putTags(span ptrace.Span) {
	var message string
	failed := false
	for _, t := range s.Tags {
		switch t.Key {
		case "span.kind":
			span.SetKind(spanKind(t.text()))
		case "otel.status_code":
			setStatus(span, t.text(), "")
		case "otel.status_description":
			message = t.text()
		case "error":
			failed = t.text() == "true"
			if !failed && t.text() != "false" {
				t.put(span.Attributes())
			}
		case "w3c.tracestate":
			span.TraceState().FromRaw(t.text())
		case "otel.scope.name", "otel.scope.version", "otel.library.name", "otel.library.version", "internal.span.format":
		default:
			t.put(span.Attributes())
		}
	}
	if failed {
		span.Status().SetCode(ptrace.StatusCodeError)
	}
	if span.Status().Code() == ptrace.StatusCodeError {
		span.Status().SetMessage(message)
	}
}

func (t jaegerTag) text() string {
	if given(t.Value) && t.Value[0] == '"' {
		return text(t.Value)
	}
	return string(t.Value)
}

// put sets an attribute. 64-bit integers may be in strings, and binary values
// are base64.
func (t jaegerTag) put(to pcommon.Map) {
	if !given(t.Value) {
		return
	}
	v := to.PutEmpty(t.Key)
	s := t.text()
	switch strings.ToLower(t.Type) {
	case "string":
		v.SetStr(s)
		return
	case "int64", "long":
		if n, err := strconv.ParseInt(s, 10, 64); err == nil {
			v.SetInt(n)
			return
		}
	case "float64", "double":
		if x, err := strconv.ParseFloat(s, 64); err == nil {
			v.SetDouble(x)
			return
		}
	case "bool":
		if s == "true" || s == "false" {
			v.SetBool(s == "true")
			return
		}
	case "binary":
		if b, err := decodeBase64(s); err == nil {
			v.SetEmptyBytes().FromRaw(b)
			return
		}
	}
	putValue(v, t.Value, 0)
}

// microseconds reads a time or a duration.
func microseconds(raw json.RawMessage) (pcommon.Timestamp, error) {
	if !given(raw) {
		return 0, nil
	}
	s := string(raw)
	if raw[0] == '"' {
		s = text(raw)
	}
	return nanoseconds(s, 1e3, "0")
}
