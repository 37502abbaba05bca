package recorder

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// placed is a span and what it stands below.
type placed struct {
	rs   ptrace.ResourceSpans
	ss   ptrace.ScopeSpans
	span ptrace.Span
}

// maxDeliveries bounds with how many deliveries of a span another is compared: the
// ids are the senders' and may all be the same.
const maxDeliveries = 16

// dropDuplicates leaves one of the deliveries of each span of a run, and tells how
// many went. Senders repeat requests whose answer was lost, and some send a span as
// it begins and again as it ends: one goes that says nothing which another does not.
// Deliveries that differ otherwise all stay, and a translation merges them. Spans
// without an id are never the same.
func dropDuplicates(td ptrace.Traces) (dropped int) {
	first := make(map[pcommon.SpanID]placed, td.SpanCount())
	more := map[pcommon.SpanID][]placed{}
	gone := map[ptrace.Span]bool{}
	forEachSpan(td, func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, span ptrace.Span) {
		id := span.SpanID()
		p := placed{rs, ss, span}
		one, seen := first[id]
		switch {
		case id.IsEmpty():
			return
		case !seen:
			first[id] = p
			return
		case more[id] == nil:
			more[id] = []placed{one}
		}
		for i, other := range more[id] {
			if !p.sameOrigin(other) {
				continue
			}
			if equalSpans(span, other.span) || less(span, other.span) {
				gone[span] = true
				return
			}
			if less(other.span, span) {
				gone[other.span] = true
				more[id][i] = p
				return
			}
		}
		if len(more[id]) < maxDeliveries {
			more[id] = append(more[id], p)
		}
	})
	removeSpans(td, gone)
	return len(gone)
}

func removeSpans(td ptrace.Traces, gone map[ptrace.Span]bool) {
	if len(gone) == 0 {
		return
	}
	td.ResourceSpans().RemoveIf(func(rs ptrace.ResourceSpans) bool {
		rs.ScopeSpans().RemoveIf(func(ss ptrace.ScopeSpans) bool {
			before := ss.Spans().Len()
			ss.Spans().RemoveIf(func(span ptrace.Span) bool { return gone[span] })
			return ss.Spans().Len() == 0 && before > 0
		})
		return rs.ScopeSpans().Len() == 0
	})
}

func (p placed) sameOrigin(o placed) bool {
	return p.rs.Resource().Attributes().Equal(o.rs.Resource().Attributes()) &&
		p.ss.Scope().Name() == o.ss.Scope().Name() && p.ss.Scope().Version() == o.ss.Scope().Version() &&
		p.ss.Scope().Attributes().Equal(o.ss.Scope().Attributes()) &&
		p.rs.SchemaUrl() == o.rs.SchemaUrl() && p.ss.SchemaUrl() == o.ss.SchemaUrl()
}

// less reports whether a span had not ended, and all that it says is said by the
// other, which had.
func less(s, other ptrace.Span) bool {
	if s.EndTimestamp() != 0 || other.EndTimestamp() == 0 || s.StartTimestamp() != other.StartTimestamp() ||
		s.ParentSpanID() != other.ParentSpanID() || s.Name() != other.Name() || s.Kind() != other.Kind() ||
		s.TraceState().AsRaw() != other.TraceState().AsRaw() || s.Flags() != other.Flags() ||
		s.Status().Code() != ptrace.StatusCodeUnset || s.Status().Message() != "" ||
		s.Events().Len() > other.Events().Len() || s.Links().Len() > other.Links().Len() {
		return false
	}
	for name, v := range s.Attributes().All() {
		if o, ok := other.Attributes().Get(name); !ok || !o.Equal(v) {
			return false
		}
	}
	for i := range s.Events().Len() {
		if !equalEvents(s.Events().At(i), other.Events().At(i)) {
			return false
		}
	}
	for i := range s.Links().Len() {
		if !equalLinks(s.Links().At(i), other.Links().At(i)) {
			return false
		}
	}
	return true
}

func equalSpans(a, b ptrace.Span) bool {
	if a.ParentSpanID() != b.ParentSpanID() || a.Name() != b.Name() || a.Kind() != b.Kind() || a.Flags() != b.Flags() ||
		a.StartTimestamp() != b.StartTimestamp() || a.EndTimestamp() != b.EndTimestamp() ||
		a.TraceState().AsRaw() != b.TraceState().AsRaw() ||
		a.Status().Code() != b.Status().Code() || a.Status().Message() != b.Status().Message() ||
		a.DroppedAttributesCount() != b.DroppedAttributesCount() || a.DroppedEventsCount() != b.DroppedEventsCount() ||
		a.DroppedLinksCount() != b.DroppedLinksCount() ||
		a.Events().Len() != b.Events().Len() || a.Links().Len() != b.Links().Len() || !a.Attributes().Equal(b.Attributes()) {
		return false
	}
	for i := range a.Events().Len() {
		if !equalEvents(a.Events().At(i), b.Events().At(i)) {
			return false
		}
	}
	for i := range a.Links().Len() {
		if !equalLinks(a.Links().At(i), b.Links().At(i)) {
			return false
		}
	}
	return true
}

func equalEvents(a, b ptrace.SpanEvent) bool {
	return a.Name() == b.Name() && a.Timestamp() == b.Timestamp() && a.Attributes().Equal(b.Attributes()) &&
		a.DroppedAttributesCount() == b.DroppedAttributesCount()
}

func equalLinks(a, b ptrace.SpanLink) bool {
	return a.TraceID() == b.TraceID() && a.SpanID() == b.SpanID() && a.Flags() == b.Flags() &&
		a.TraceState().AsRaw() == b.TraceState().AsRaw() && a.Attributes().Equal(b.Attributes()) &&
		a.DroppedAttributesCount() == b.DroppedAttributesCount()
}
