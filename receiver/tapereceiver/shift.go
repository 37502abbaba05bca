package tapereceiver

import (
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// shift moves all spans and their events by the same distance, so that the last of
// them ends now: a tracing backend that takes only recent spans takes them, and
// what was an hour after something else still is. Times that are unknown stay so.
// Links have none.
func shift(td ptrace.Traces, now time.Time) {
	var last pcommon.Timestamp
	times(td, func(t pcommon.Timestamp) pcommon.Timestamp {
		last = max(last, t)
		return t
	})
	if last == 0 {
		return
	}
	// Of unsigned numbers the difference is right also where it is negative.
	distance := pcommon.NewTimestampFromTime(now) - last
	times(td, func(t pcommon.Timestamp) pcommon.Timestamp {
		if t == 0 {
			return 0
		}
		return t + distance
	})
}

// times puts what fn makes of each time in its place.
func times(td ptrace.Traces, fn func(pcommon.Timestamp) pcommon.Timestamp) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				span.SetStartTimestamp(fn(span.StartTimestamp()))
				span.SetEndTimestamp(fn(span.EndTimestamp()))
				for _, event := range span.Events().All() {
					event.SetTimestamp(fn(event.Timestamp()))
				}
			}
		}
	}
}
