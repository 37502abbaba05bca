// Package cut takes a trace apart into requests that receivers accept.
//
// Each part needs its own copy of the resource and the scope above its spans, so
// that cutting can make much out of little: a resource of megabytes above ten
// thousand small spans. This package promises bounds. [Requests] gives at most
// about three times the bytes it was given, and [ByTraceSize] tells what a cut by
// trace id would come to before anybody makes it.
//
// Both cost one pass over the spans and one over what stands above them.
package cut

import "go.opentelemetry.io/collector/pdata/ptrace"

// around is what protobuf needs at most around a message: a tag and a length.
const around = 6

var sizer ptrace.ProtoMarshaler

// Requests cuts td into parts of at most limit bytes as OTLP protobuf; 0 or less
// is no limit. A part is larger where a single span is, and where resource and
// scope alone take more than half of the limit: then it has as many bytes of spans
// as of them. Spans keep their order, except that the first for which last reports
// true comes at the end of the last part; last may be nil. Requests takes td apart.
// Without spans there are no parts.
func Requests(td ptrace.Traces, limit int, last func(ptrace.Span) bool) []ptrace.Traces {
	if td.SpanCount() == 0 {
		return nil
	}
	if limit <= 0 || sizer.TracesSize(td) <= limit {
		return []ptrace.Traces{td}
	}
	c := cutter{limit: limit}
	var final func()
	for _, rs := range td.ResourceSpans().All() {
		resource := resourceSize(rs)
		for _, ss := range rs.ScopeSpans().All() {
			at := place{rs: rs, ss: ss, resource: resource, scope: scopeSize(ss)}
			for _, span := range ss.Spans().All() {
				if final == nil && last != nil && last(span) {
					final = func() { c.add(at, span) }
					continue
				}
				c.add(at, span)
			}
		}
	}
	if final != nil {
		final()
	}
	return c.parts
}

// place is where spans stand, and the sizes of what stands above them.
type place struct {
	rs              ptrace.ResourceSpans
	ss              ptrace.ScopeSpans
	resource, scope int
}

type cutter struct {
	limit int
	parts []ptrace.Traces

	// used are the bytes of the last part. open is where its last span came from,
	// resource and spans where it went.
	used     int
	open     place
	resource ptrace.ResourceSpans
	spans    ptrace.SpanSlice
}

func (c *cutter) add(at place, span ptrace.Span) {
	size := sizer.SpanSize(span) + around
	newResource := len(c.parts) == 0 || c.open.rs != at.rs
	newScope := newResource || c.open.ss != at.ss
	more := size
	if newResource {
		more += at.resource
	}
	if newScope {
		more += at.scope
	}
	if len(c.parts) == 0 || c.used+more > max(c.limit, 2*(at.resource+at.scope)) {
		c.parts = append(c.parts, ptrace.NewTraces())
		c.used, more = 0, size+at.resource+at.scope
		newResource, newScope = true, true
	}
	if newResource {
		c.resource = c.parts[len(c.parts)-1].ResourceSpans().AppendEmpty()
		at.rs.Resource().CopyTo(c.resource.Resource())
		c.resource.SetSchemaUrl(at.rs.SchemaUrl())
	}
	if newScope {
		to := c.resource.ScopeSpans().AppendEmpty()
		at.ss.Scope().CopyTo(to.Scope())
		to.SetSchemaUrl(at.ss.SchemaUrl())
		c.spans = to.Spans()
	}
	span.MoveTo(c.spans.AppendEmpty())
	c.open = at
	c.used += more
}

// resourceSize is what a resource takes in a part, without what is below it.
func resourceSize(rs ptrace.ResourceSpans) int {
	td := ptrace.NewTraces()
	to := td.ResourceSpans().AppendEmpty()
	rs.Resource().CopyTo(to.Resource())
	to.SetSchemaUrl(rs.SchemaUrl())
	return sizer.TracesSize(td) + around
}

// scopeSize is what a scope takes in a part, without its spans.
func scopeSize(ss ptrace.ScopeSpans) int {
	td := ptrace.NewTraces()
	to := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	ss.Scope().CopyTo(to.Scope())
	to.SetSchemaUrl(ss.SchemaUrl())
	return sizer.TracesSize(td) + around
}
