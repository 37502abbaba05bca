package otlpfile

import (
	"encoding/json"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// goSpan is one span as the console exporter of OpenTelemetry Go writes it:
// members in capitals, attributes as lists of typed values.
type goSpan struct{}

func (goSpan) claims(members []string) bool { return slices.Contains(members, "SpanContext") }

type goContext struct {
	TraceID    json.RawMessage
	SpanID     json.RawMessage
	TraceState string
}

type goAttribute struct {
	Key   string
	Value struct {
		Type  string
		Value json.RawMessage
	}
}

type goEvent struct {
	Name                  string
	Time                  json.RawMessage
	Attributes            []goAttribute
	DroppedAttributeCount uint32
}

type goSpanJSON struct {
	Name        string
	SpanContext goContext
	Parent      goContext
	SpanKind    int32
	StartTime   json.RawMessage
	EndTime     json.RawMessage
	Attributes  []goAttribute
	Events      []goEvent
	Links       []struct {
		SpanContext goContext
		Attributes  []goAttribute
	}
	Status struct {
		Code        json.RawMessage
		Description string
	}
	DroppedAttributes      uint32
	DroppedEvents          uint32
	DroppedLinks           uint32
	Resource               []goAttribute
	InstrumentationScope   scopeJSON
	InstrumentationLibrary scopeJSON
}

func (goSpan) decode(doc []byte) (*Document, error) {
	var s goSpanJSON
	if err := read(doc, &s); err != nil {
		return nil, err
	}
	d := newDocument("Go span")
	resource, scope := d.newScope()
	goAttributes(resource.Attributes(), s.Resource)
	// Present versions write both, with the same content.
	from := s.InstrumentationScope
	if from.Name == "" {
		from = s.InstrumentationLibrary
	}
	scope.Scope().SetName(from.Name)
	scope.Scope().SetVersion(from.Version)
	return d, s.put(scope.Spans().AppendEmpty())
}

func (s *goSpanJSON) put(span ptrace.Span) error {
	if err := ids(span, s.SpanContext.TraceID, s.SpanContext.SpanID, s.Parent.SpanID, "SpanContext.TraceID", "SpanContext.SpanID", "Parent.SpanID"); err != nil {
		return err
	}
	if err := times(span, s.StartTime, s.EndTime, "StartTime", "EndTime"); err != nil {
		return err
	}
	span.SetName(s.Name)
	span.TraceState().FromRaw(s.SpanContext.TraceState)
	if s.SpanKind >= 0 && s.SpanKind <= int32(ptrace.SpanKindConsumer) {
		span.SetKind(ptrace.SpanKind(s.SpanKind))
	}
	setStatus(span, goStatus(s.Status.Code), s.Status.Description)
	goAttributes(span.Attributes(), s.Attributes)
	span.SetDroppedAttributesCount(s.DroppedAttributes)
	span.SetDroppedEventsCount(s.DroppedEvents)
	span.SetDroppedLinksCount(s.DroppedLinks)
	for i, e := range s.Events {
		when, err := readTime(e.Time)
		if err != nil {
			return in(at("Events", i)+".Time", err)
		}
		event := span.Events().AppendEmpty()
		event.SetName(e.Name)
		event.SetTimestamp(when)
		event.SetDroppedAttributesCount(e.DroppedAttributeCount)
		goAttributes(event.Attributes(), e.Attributes)
	}
	for i, l := range s.Links {
		link := span.Links().AppendEmpty()
		if err := putLink(link, l.SpanContext.TraceID, l.SpanContext.SpanID, nil, "SpanContext.TraceID", "SpanContext.SpanID"); err != nil {
			return in(at("Links", i), err)
		}
		goAttributes(link.Attributes(), l.Attributes)
	}
	return nil
}

// goStatus is the name of a status. Where the exporter had no pointer to it, it is
// a number, in the order that is Go's own.
func goStatus(raw json.RawMessage) string {
	switch code := textOf(raw); code {
	case "1":
		return "ERROR"
	case "2":
		return "OK"
	default:
		return code
	}
}

func goAttributes(to pcommon.Map, list []goAttribute) {
	for _, a := range list {
		if !given(a.Value.Value) {
			continue
		}
		v := to.PutEmpty(a.Key)
		putValue(v, a.Value.Value, 0)
		// A whole number loses its fraction in JSON.
		if a.Value.Type == "FLOAT64" && v.Type() == pcommon.ValueTypeInt {
			v.SetDouble(float64(v.Int()))
		}
	}
}
