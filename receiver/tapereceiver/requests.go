package tapereceiver

import "go.opentelemetry.io/collector/pdata/ptrace"

// requests cuts a run into parts of at most limit bytes, as OTLP protobuf; a
// span larger than that goes alone. Resource and scope are repeated in each part
// they are needed in. It takes td apart.
func requests(td ptrace.Traces, limit int) []ptrace.Traces {
	if td.SpanCount() == 0 {
		return nil
	}
	var size ptrace.ProtoMarshaler
	if limit <= 0 || size.TracesSize(td) <= limit {
		return []ptrace.Traces{td}
	}
	var parts []ptrace.Traces
	used := 0
	var current ptrace.Traces
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			around := overhead(rs, ss)
			var to ptrace.SpanSlice
			open := false
			for _, span := range ss.Spans().All() {
				n := size.SpanSize(span) + perSpan
				if used == 0 || used+n+around > limit {
					current = ptrace.NewTraces()
					parts = append(parts, current)
					used, open = 0, false
				}
				if !open {
					to = slot(current, rs, ss)
					used += around
					open = true
				}
				span.MoveTo(to.AppendEmpty())
				used += n
			}
		}
	}
	return parts
}

// perSpan is what protobuf needs around a span: a tag and a length.
const perSpan = 6

// overhead is what resource and scope need in a part.
func overhead(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans) int {
	td := ptrace.NewTraces()
	slot(td, rs, ss)
	var size ptrace.ProtoMarshaler
	return size.TracesSize(td) + 2*perSpan
}

// slot is where the spans of a resource and a scope go in a part.
func slot(td ptrace.Traces, rs ptrace.ResourceSpans, ss ptrace.ScopeSpans) ptrace.SpanSlice {
	to := td.ResourceSpans().AppendEmpty()
	rs.Resource().CopyTo(to.Resource())
	to.SetSchemaUrl(rs.SchemaUrl())
	scope := to.ScopeSpans().AppendEmpty()
	ss.Scope().CopyTo(scope.Scope())
	scope.SetSchemaUrl(ss.SchemaUrl())
	return scope.Spans()
}
