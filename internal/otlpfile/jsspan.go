package otlpfile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// jsSpan is one span as the console exporter of OpenTelemetry JS describes it
// (id, timestamp and duration in microseconds), or as the span of its SDK turns
// into JSON (spanContext, startTime and endTime as seconds and nanoseconds).
// Kinds are numbered from INTERNAL.
type jsSpan struct{}

func (jsSpan) claims(members []string) bool {
	has := func(name string) bool { return slices.Contains(members, name) }
	switch {
	case has("spanContext"), has("_spanContext"):
		return true
	case !has("traceId") || !has("name"):
		return false
	}
	return has("timestamp") && has("id") || has("startTime") && has("spanId") && has("kind")
}

type jsContext struct {
	TraceID json.RawMessage `json:"traceId"`
	SpanID  json.RawMessage `json:"spanId"`
}

type jsSpanJSON struct {
	TraceID       json.RawMessage `json:"traceId"`
	ID            json.RawMessage `json:"id"`
	SpanID        json.RawMessage `json:"spanId"`
	Context       *jsContext      `json:"spanContext"`
	InnerContext  *jsContext      `json:"_spanContext"`
	ParentID      json.RawMessage `json:"parentId"`
	ParentSpanID  json.RawMessage `json:"parentSpanId"`
	ParentContext *jsContext      `json:"parentSpanContext"`
	Name          string          `json:"name"`
	Kind          json.RawMessage `json:"kind"`
	Timestamp     json.RawMessage `json:"timestamp"`
	Duration      json.RawMessage `json:"duration"`
	Start         json.RawMessage `json:"startTime"`
	End           json.RawMessage `json:"endTime"`
	Attributes    json.RawMessage `json:"attributes"`
	Dropped       json.Number     `json:"droppedAttributesCount"`
	Cut           json.Number     `json:"cutAttributesCount"`
	Status        struct {
		Code    json.Number `json:"code"`
		Message string      `json:"message"`
	} `json:"status"`
	Events   json.RawMessage `json:"events"`
	Links    json.RawMessage `json:"links"`
	Resource struct {
		Attributes json.RawMessage `json:"attributes"`
		Inner      json.RawMessage `json:"_attributes"`
	} `json:"resource"`
	Scope   scopeJSON `json:"instrumentationScope"`
	Library scopeJSON `json:"instrumentationLibrary"`
}

func (jsSpan) decode(doc []byte) (*Document, error) {
	var s jsSpanJSON
	if err := read(doc, &s); err != nil {
		return nil, err
	}
	d := newDocument("JavaScript span")
	resource, scope := d.newScope()
	for _, raw := range []json.RawMessage{s.Resource.Inner, s.Resource.Attributes} {
		if err := putAttributes(resource.Attributes(), raw); err != nil {
			return nil, in("resource.attributes", err)
		}
	}
	scope.Scope().SetName(s.Scope.Name + s.Library.Name)
	scope.Scope().SetVersion(s.Scope.Version + s.Library.Version)
	return d, s.put(scope.Spans().AppendEmpty())
}

func (s *jsSpanJSON) put(span ptrace.Span) error {
	trace, id, parent := s.TraceID, s.ID, s.ParentID
	for _, c := range []*jsContext{s.InnerContext, s.Context} {
		if c != nil {
			trace, id = c.TraceID, c.SpanID
		}
	}
	if given(s.SpanID) {
		id = s.SpanID
	}
	if given(s.ParentSpanID) {
		parent = s.ParentSpanID
	}
	if s.ParentContext != nil {
		parent = s.ParentContext.SpanID
	}
	if err := ids(span, trace, id, parent, "traceId", "id", "parentId"); err != nil {
		return err
	}
	if err := s.putTimes(span); err != nil {
		return err
	}
	span.SetName(s.Name)
	span.SetKind(jsKind(s.Kind))
	code, err := small(s.Status.Code)
	if err != nil {
		return in("status.code", err)
	}
	if code <= 2 {
		span.Status().SetCode(ptrace.StatusCode(code))
	}
	if code == 2 {
		span.Status().SetMessage(s.Status.Message)
	}
	if err := putAttributes(span.Attributes(), s.Attributes); err != nil {
		return in("attributes", err)
	}
	dropped, err := small(s.Dropped, s.Cut)
	if err != nil {
		return in("droppedAttributesCount", err)
	}
	span.SetDroppedAttributesCount(dropped)
	if err := elements("events", s.Events, func(raw json.RawMessage) error { return jsEvent(span.Events().AppendEmpty(), raw) }); err != nil {
		return err
	}
	return elements("links", s.Links, func(raw json.RawMessage) error { return jsLink(span.Links().AppendEmpty(), raw) })
}

// jsKind reads a kind, by its number or its name.
func jsKind(raw json.RawMessage) ptrace.SpanKind {
	name := textOf(raw)
	if n, err := strconv.Atoi(name); err == nil && n >= 0 && n < int(ptrace.SpanKindConsumer) {
		return ptrace.SpanKind(n + 1)
	}
	return spanKind(name)
}

// putTimes prefers the timestamp, which only the console exporter has.
func (s *jsSpanJSON) putTimes(span ptrace.Span) error {
	if !given(s.Timestamp) {
		return times(span, s.Start, s.End, "startTime", "endTime")
	}
	start, err := microseconds(s.Timestamp)
	if err != nil {
		return in("timestamp", err)
	}
	took, err := microseconds(s.Duration)
	if err != nil {
		return in("duration", err)
	}
	span.SetStartTimestamp(start)
	span.SetEndTimestamp(start + took)
	return nil
}

func jsEvent(e ptrace.SpanEvent, raw json.RawMessage) error {
	var event struct {
		Name       string          `json:"name"`
		Time       json.RawMessage `json:"time"`
		Attributes json.RawMessage `json:"attributes"`
		Dropped    json.Number     `json:"droppedAttributesCount"`
		Cut        json.Number     `json:"cutAttributesCount"`
	}
	if err := read(raw, &event); err != nil {
		return err
	}
	when, err := readTime(event.Time)
	if err != nil {
		return in("time", err)
	}
	dropped, err := small(event.Dropped, event.Cut)
	if err != nil {
		return in("droppedAttributesCount", err)
	}
	e.SetName(event.Name)
	e.SetTimestamp(when)
	e.SetDroppedAttributesCount(dropped)
	return in("attributes", putAttributes(e.Attributes(), event.Attributes))
}

func jsLink(l ptrace.SpanLink, raw json.RawMessage) error {
	var link struct {
		Context    jsContext       `json:"context"`
		Attributes json.RawMessage `json:"attributes"`
	}
	if err := read(raw, &link); err != nil {
		return err
	}
	return putLink(l, link.Context.TraceID, link.Context.SpanID, link.Attributes, "context.traceId", "context.spanId")
}

func putLink(l ptrace.SpanLink, trace, id, attributes json.RawMessage, traceName, idName string) error {
	traceID, err := readTraceID(trace)
	if err != nil {
		return in(traceName, err)
	}
	spanID, err := readSpanID(id)
	if err != nil {
		return in(idName, err)
	}
	l.SetTraceID(traceID)
	l.SetSpanID(spanID)
	return in("attributes", putAttributes(l.Attributes(), attributes))
}

// small adds up counts, or reads the number of a name; none is 0.
func small(numbers ...json.Number) (sum uint32, err error) {
	for _, n := range numbers {
		if n == "" {
			continue
		}
		v, err := strconv.ParseUint(n.String(), 10, 16)
		if err != nil {
			return 0, fmt.Errorf("%q is not a small whole number", clip(n.String()))
		}
		sum += uint32(v)
	}
	return sum, nil
}
