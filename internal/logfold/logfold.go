// Package logfold carries log records inside a trace, as span events, and takes
// them out again.
//
// Agents write a part of what they say as log records: messages in one era of the
// GenAI conventions, whole tool calls in coding CLIs. A run is kept as a trace, so
// its log records travel with it: each becomes an event of the span it names, or
// of an anchor span where that span is not there. Everything that handles spans
// then handles them too: redaction, offload, fragments, any tracing backend.
// Unfold gives back spans and log records as Fold got them, as far as a tape is
// read from them: resource, scope, severity, name, times, body, attributes and
// which records came together.
//
// Fold costs one event for each record. Unfold of a trace without folded records
// copies nothing.
package logfold

import (
	"crypto/sha256"
	"encoding/binary"
	"hash/fnv"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Attributes of an event that is a folded record.
const (
	// Mark is true on each of them.
	Mark = "tape.log"
	// Body holds the record's body, whatever its type.
	Body = "tape.log.body"
	// Name, Severity, SeverityText and Observed hold what an event has no place for.
	Name         = "tape.log.event_name"
	Severity     = "tape.log.severity"
	SeverityText = "tape.log.severity_text"
	Observed     = "tape.log.observed_unix_nano"
	// Group is one number for the records that came together, below one scope;
	// Index is the place of a record among them. The same delivery has the same
	// group however often it comes.
	Group = "tape.log.group"
	Index = "tape.log.index"
	// Scope and Resource hold what the record stood below, on the first of a group.
	Scope        = "tape.log.scope"
	ScopeVersion = "tape.log.scope_version"
	Resource     = "tape.log.resource"
	// Span is the span a record names that is not in the trace, in hex.
	Span = "tape.log.span_id"
)

// Anchor is true on the span that holds records whose own span is not there.
const Anchor = "tape.logs"

// anchorName is the name of an anchor span.
const anchorName = "log records"

type place struct {
	trace pcommon.TraceID
	span  pcommon.SpanID
}

// Fold moves the records of ld into td. Records without a trace id belong to no
// trace and are left out; it returns how many those are.
func Fold(td ptrace.Traces, ld plog.Logs) (left int) {
	f := folder{td: td, spans: map[place]ptrace.Span{}, anchors: map[pcommon.TraceID]ptrace.Span{}}
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				at := place{s.TraceID(), s.SpanID()}
				if _, twice := f.spans[at]; !twice {
					f.spans[at] = s
				}
			}
		}
	}
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			group := groupOf(sl)
			first := true
			for i, r := range sl.LogRecords().All() {
				if r.TraceID().IsEmpty() {
					left++
					continue
				}
				event := f.event(r)
				event.Attributes().PutInt(Group, group)
				event.Attributes().PutInt(Index, int64(i))
				if first {
					a := event.Attributes()
					a.PutStr(Scope, sl.Scope().Name())
					a.PutStr(ScopeVersion, sl.Scope().Version())
					rl.Resource().Attributes().CopyTo(a.PutEmptyMap(Resource))
					first = false
				}
			}
		}
	}
	return left
}

type folder struct {
	td      ptrace.Traces
	spans   map[place]ptrace.Span
	anchors map[pcommon.TraceID]ptrace.Span
}

// groupOf tells deliveries apart by when and for which spans their records were
// written. Content has no part in it: it is not redacted yet.
func groupOf(sl plog.ScopeLogs) int64 {
	h := fnv.New64a()
	var buf [32]byte
	for _, r := range sl.LogRecords().All() {
		trace, span := r.TraceID(), r.SpanID()
		b := append(buf[:0], trace[:]...)
		b = append(b, span[:]...)
		b = binary.BigEndian.AppendUint64(b, uint64(r.Timestamp()))
		b = binary.BigEndian.AppendUint64(b, uint64(r.ObservedTimestamp()))
		_, _ = h.Write(b)
	}
	return int64(h.Sum64() >> 1)
}

func (f *folder) event(r plog.LogRecord) ptrace.SpanEvent {
	span, own := f.spans[place{r.TraceID(), r.SpanID()}]
	if !own {
		span = f.anchor(r)
	}
	e := span.Events().AppendEmpty()
	e.SetName(nameOf(r))
	e.SetTimestamp(r.Timestamp())
	a := e.Attributes()
	a.EnsureCapacity(r.Attributes().Len() + 6)
	r.Attributes().CopyTo(a)
	a.PutBool(Mark, true)
	if r.Body().Type() != pcommon.ValueTypeEmpty {
		r.Body().CopyTo(a.PutEmpty(Body))
	}
	putText(a, Name, r.EventName())
	putText(a, SeverityText, r.SeverityText())
	if n := r.SeverityNumber(); n != 0 {
		a.PutInt(Severity, int64(n))
	}
	if t := r.ObservedTimestamp(); t != 0 {
		a.PutInt(Observed, int64(t))
	}
	if !own && !r.SpanID().IsEmpty() {
		a.PutStr(Span, r.SpanID().String())
	}
	return e
}

// nameOf is what a backend shows: the name of the event, wherever it stands.
func nameOf(r plog.LogRecord) string {
	if n := r.EventName(); n != "" {
		return n
	}
	if v, ok := r.Attributes().Get("event.name"); ok && v.Type() == pcommon.ValueTypeStr && v.Str() != "" {
		return v.Str()
	}
	return "log"
}

func putText(m pcommon.Map, name, text string) {
	if text != "" {
		m.PutStr(name, text)
	}
}

// anchor is the span for records whose own is not there. Its id follows from the
// trace id, so that folding parts of a run apart gives one anchor.
func (f *folder) anchor(r plog.LogRecord) ptrace.Span {
	span, ok := f.anchors[r.TraceID()]
	at := max(r.Timestamp(), r.ObservedTimestamp())
	if r.Timestamp() != 0 {
		at = r.Timestamp()
	}
	if !ok {
		span = f.td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
		span.SetTraceID(r.TraceID())
		span.SetSpanID(AnchorID(r.TraceID()))
		span.SetName(anchorName)
		span.SetStartTimestamp(at)
		span.Attributes().PutBool(Anchor, true)
		f.anchors[r.TraceID()] = span
	}
	span.SetStartTimestamp(min(span.StartTimestamp(), at))
	span.SetEndTimestamp(max(span.EndTimestamp(), at))
	return span
}

// AnchorID is the id of the anchor span of a trace.
func AnchorID(trace pcommon.TraceID) (id pcommon.SpanID) {
	sum := sha256.Sum256(append([]byte("tape.logs:"), trace[:]...))
	copy(id[:], sum[:])
	id[0] |= 1
	return id
}
