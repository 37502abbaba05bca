package dialect

import (
	"bytes"
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// group is what was delivered of one trace.
type group struct {
	id    pcommon.TraceID
	count int
	spans []Span
	// restore gives the span at a place of spans, where that holds no more than
	// its names; nil where spans are whole.
	restore func(at int) (Span, error)
	// logs are the log records that name the trace.
	logs []Log
}

// collect groups spans by trace and makes one span of all deliveries of the
// same span id, whatever their order.
func collect(td ptrace.Traces) []*group {
	byTrace := map[pcommon.TraceID]*group{}
	var groups []*group
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				g := byTrace[span.TraceID()]
				if g == nil {
					g = &group{id: span.TraceID()}
					byTrace[span.TraceID()] = g
					groups = append(groups, g)
				}
				g.count++
			}
		}
	}
	for _, g := range groups {
		g.spans = make([]Span, 0, g.count)
	}
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				g := byTrace[span.TraceID()]
				g.spans = append(g.spans, newSpan(rs.Resource(), ss.Scope(), span))
			}
		}
	}
	for _, g := range groups {
		g.dedupe()
	}
	return groups
}

// dedupe merges deliveries of one span. Spans without an id stay apart.
func (g *group) dedupe() {
	first := make(map[pcommon.SpanID]int, len(g.spans))
	var again map[pcommon.SpanID][]Span
	kept := g.spans[:0]
	for _, s := range g.spans {
		id := s.SpanID()
		at, seen := first[id]
		if id.IsEmpty() || !seen {
			if !id.IsEmpty() {
				first[id] = len(kept)
			}
			kept = append(kept, s)
			continue
		}
		if again == nil {
			again = map[pcommon.SpanID][]Span{}
		}
		if again[id] == nil {
			again[id] = []Span{kept[at]}
		}
		again[id] = append(again[id], s)
	}
	g.spans = kept
	for id, deliveries := range again {
		g.spans[first[id]] = mergeDeliveries(deliveries)
	}
}

// mergeDeliveries makes one span of several: a partial update never erases
// what another delivery has, and the order of arrival does not matter.
func mergeDeliveries(all []Span) Span {
	slices.SortFunc(all, func(a, b Span) int {
		return cmp.Or(
			cmp.Compare(b.EndTimestamp(), a.EndTimestamp()),
			cmp.Compare(b.Attributes().Len(), a.Attributes().Len()),
			cmp.Compare(b.Events().Len(), a.Events().Len()),
			cmp.Compare(b.Name(), a.Name()),
			bytes.Compare(fingerprint(b), fingerprint(a)),
		)
	})
	out := ptrace.NewSpan()
	all[0].CopyTo(out)
	for _, s := range all[1:] {
		mergeInto(out, s.Span)
	}
	merged := newSpan(all[0].Resource, all[0].Scope, out)
	return merged
}

func mergeInto(to, from ptrace.Span) {
	if to.ParentSpanID().IsEmpty() {
		to.SetParentSpanID(from.ParentSpanID())
	}
	if to.Name() == "" {
		to.SetName(from.Name())
	}
	if s := from.StartTimestamp(); s != 0 && (to.StartTimestamp() == 0 || s < to.StartTimestamp()) {
		to.SetStartTimestamp(s)
	}
	if worseStatus(from.Status(), to.Status()) {
		from.Status().CopyTo(to.Status())
	}
	to.SetDroppedAttributesCount(max(to.DroppedAttributesCount(), from.DroppedAttributesCount()))
	for k, v := range from.Attributes().All() {
		have, ok := to.Attributes().Get(k)
		switch {
		case !ok:
			v.CopyTo(to.Attributes().PutEmpty(k))
		case fuller(v, have):
			v.CopyTo(have)
		}
	}
	more := false
events:
	for i := range from.Events().Len() {
		e := from.Events().At(i)
		for j := range to.Events().Len() {
			if sameEvent(e, to.Events().At(j)) {
				continue events
			}
		}
		e.CopyTo(to.Events().AppendEmpty())
		more = true
	}
	if more {
		to.Events().Sort(func(a, b ptrace.SpanEvent) bool { return a.Timestamp() < b.Timestamp() })
	}
}

func worseStatus(a, b ptrace.Status) bool {
	if a.Code() != b.Code() {
		return a.Code() == ptrace.StatusCodeError || b.Code() == ptrace.StatusCodeUnset
	}
	return len(a.Message()) > len(b.Message()) || len(a.Message()) == len(b.Message()) && a.Message() > b.Message()
}

// fuller prefers the value that says more, by a rule that does not depend on
// which came first.
func fuller(a, b pcommon.Value) bool {
	if a.Equal(b) {
		return false
	}
	x, y := a.AsString(), b.AsString()
	if len(x) != len(y) {
		return len(x) > len(y)
	}
	return x > y || x == y && a.Type() > b.Type()
}

func sameEvent(a, b ptrace.SpanEvent) bool {
	return a.Name() == b.Name() && a.Timestamp() == b.Timestamp() && a.Attributes().Equal(b.Attributes())
}

// fingerprint orders deliveries that differ in nothing simpler.
func fingerprint(s Span) []byte {
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	s.Resource.CopyTo(rs.Resource())
	ss := rs.ScopeSpans().AppendEmpty()
	s.Scope.CopyTo(ss.Scope())
	s.CopyTo(ss.Spans().AppendEmpty())
	b, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	if err != nil {
		return nil
	}
	return b
}
