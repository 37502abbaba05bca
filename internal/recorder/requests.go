package recorder

import "go.opentelemetry.io/collector/pdata/ptrace"

// requests cuts a kept run into requests that stay under limit bytes, as long as
// no single span is larger, so that a run of any size passes receivers with a
// message limit. The span for which last reports true comes in the last request:
// it carries the run's row, which must not be seen before the rest of the run.
func requests(td ptrace.Traces, limit int, last func(ptrace.Span) bool) []ptrace.Traces {
	if marshaler.TracesSize(td) <= limit {
		return []ptrace.Traces{td}
	}
	var out []ptrace.Traces
	var cur *part
	size := 0
	add := func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, span ptrace.Span) {
		n := marshaler.SpanSize(span)
		// What a span costs beside itself in the worst case: its resource and
		// scope are written again.
		n += sizeAbove(rs, ss)
		if cur == nil || size+n > limit {
			cur = &part{td: ptrace.NewTraces()}
			out = append(out, cur.td)
			size = 0
		}
		span.CopyTo(cur.spans(rs, ss).AppendEmpty())
		size += n
	}
	var heldBack func()
	forEachSpan(td, func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, span ptrace.Span) {
		if heldBack == nil && last(span) {
			heldBack = func() { add(rs, ss, span) }
			return
		}
		add(rs, ss, span)
	})
	if heldBack != nil {
		heldBack()
	}
	return out
}

// sizeAbove is the size of a resource and a scope without their spans.
func sizeAbove(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans) int {
	td := ptrace.NewTraces()
	p := part{td: td}
	p.spans(rs, ss)
	return marshaler.TracesSize(td)
}
