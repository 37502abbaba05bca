package cut

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// ByTraceSize is about how many bytes, as OTLP protobuf, td comes to when it is
// cut by trace id and each part has its own copies of resources and scopes.
func ByTraceSize(td ptrace.Traces) int64 {
	var total int64
	for _, rs := range td.ResourceSpans().All() {
		below := map[pcommon.TraceID]struct{}{}
		for _, ss := range rs.ScopeSpans().All() {
			here := map[pcommon.TraceID]struct{}{}
			for _, span := range ss.Spans().All() {
				total += int64(sizer.SpanSize(span) + around)
				here[span.TraceID()] = struct{}{}
				below[span.TraceID()] = struct{}{}
			}
			total += int64(len(here)) * int64(scopeSize(ss))
		}
		total += int64(len(below)) * int64(resourceSize(rs))
	}
	return total
}
