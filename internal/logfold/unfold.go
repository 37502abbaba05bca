package logfold

import (
	"cmp"
	"encoding/hex"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Unfold gives the spans without the folded records, and the records. It does not
// change td; without folded records it gives td itself and no records.
func Unfold(td ptrace.Traces) (ptrace.Traces, plog.Logs) {
	ld := plog.NewLogs()
	if !folded(td) {
		return td, ld
	}
	spans := ptrace.NewTraces()
	td.CopyTo(spans)
	var records []record
	spans.ResourceSpans().RemoveIf(func(rs ptrace.ResourceSpans) bool {
		rs.ScopeSpans().RemoveIf(func(ss ptrace.ScopeSpans) bool {
			ss.Spans().RemoveIf(func(s ptrace.Span) bool {
				records = takeRecords(records, s)
				return isTrue(s.Attributes(), Anchor)
			})
			return ss.Spans().Len() == 0
		})
		return rs.ScopeSpans().Len() == 0
	})
	build(ld, records)
	return spans, ld
}

func folded(td ptrace.Traces) bool {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				for _, e := range s.Events().All() {
					if isTrue(e.Attributes(), Mark) {
						return true
					}
				}
			}
		}
	}
	return false
}

func isTrue(m pcommon.Map, name string) bool {
	v, ok := m.Get(name)
	return ok && v.Type() == pcommon.ValueTypeBool && v.Bool()
}

// record is a folded record with the group it came in.
type record struct {
	group int64
	index int64
	trace pcommon.TraceID
	span  pcommon.SpanID
	event ptrace.SpanEvent
}

// takeRecords moves the folded records out of a span.
func takeRecords(list []record, s ptrace.Span) []record {
	s.Events().RemoveIf(func(e ptrace.SpanEvent) bool {
		if !isTrue(e.Attributes(), Mark) {
			return false
		}
		r := record{trace: s.TraceID(), span: s.SpanID(), event: ptrace.NewSpanEvent()}
		e.CopyTo(r.event)
		if isTrue(s.Attributes(), Anchor) {
			r.span = spanNamed(e.Attributes())
			// Delivered again, the record may hang on its own span.
			r.event.Attributes().Remove(Span)
		}
		r.group, r.index = number(e.Attributes(), Group), number(e.Attributes(), Index)
		list = append(list, r)
		return true
	})
	return list
}

func number(m pcommon.Map, name string) int64 {
	if v, ok := m.Get(name); ok {
		return v.Int()
	}
	return 0
}

func spanNamed(m pcommon.Map) (id pcommon.SpanID) {
	if v, ok := m.Get(Span); ok {
		if raw, err := hex.DecodeString(v.Str()); err == nil && len(raw) == len(id) {
			copy(id[:], raw)
		}
	}
	return id
}

// build writes records below resources and scopes, those of a group together and
// each once, groups in the order of time.
func build(ld plog.Logs, records []record) {
	begun := map[int64]pcommon.Timestamp{}
	for _, r := range records {
		if at, ok := begun[r.group]; !ok || r.event.Timestamp() < at {
			begun[r.group] = r.event.Timestamp()
		}
	}
	slices.SortStableFunc(records, func(a, b record) int {
		return cmp.Or(
			cmp.Compare(begun[a.group], begun[b.group]),
			cmp.Compare(a.group, b.group),
			cmp.Compare(a.index, b.index),
		)
	})
	records = once(records)
	for len(records) > 0 {
		n := 1
		for n < len(records) && records[n].group == records[0].group {
			n++
		}
		rl := ld.ResourceLogs().AppendEmpty()
		sl := rl.ScopeLogs().AppendEmpty()
		for _, r := range records[:n] {
			r.into(rl, sl)
		}
		records = records[n:]
	}
}

// once drops what was delivered again, from sorted records. Equal places are not
// enough: records without any time would all be one.
func once(records []record) []record {
	kept := records[:0]
	for _, r := range records {
		again := false
		for i := len(kept) - 1; i >= 0 && !again && kept[i].group == r.group && kept[i].index == r.index; i-- {
			again = kept[i].same(r)
		}
		if !again {
			kept = append(kept, r)
		}
	}
	return kept
}

func (r record) same(o record) bool {
	return r.trace == o.trace && r.span == o.span && r.event.Name() == o.event.Name() && r.event.Attributes().Equal(o.event.Attributes())
}

// into writes one record. What belongs to the group stands on one of its records.
func (r record) into(rl plog.ResourceLogs, sl plog.ScopeLogs) {
	out := sl.LogRecords().AppendEmpty()
	out.SetTraceID(r.trace)
	out.SetSpanID(r.span)
	out.SetTimestamp(r.event.Timestamp())
	a := r.event.Attributes()
	if v, ok := a.Get(Body); ok {
		v.CopyTo(out.Body())
	}
	out.SetObservedTimestamp(pcommon.Timestamp(number(a, Observed)))
	out.SetSeverityNumber(plog.SeverityNumber(number(a, Severity)))
	out.SetSeverityText(text(a, SeverityText))
	out.SetEventName(text(a, Name))
	if v, ok := a.Get(Scope); ok {
		sl.Scope().SetName(v.Str())
		sl.Scope().SetVersion(text(a, ScopeVersion))
		if res, ok := a.Get(Resource); ok && res.Type() == pcommon.ValueTypeMap {
			res.Map().CopyTo(rl.Resource().Attributes())
		}
	}
	a.CopyTo(out.Attributes())
	out.Attributes().RemoveIf(func(name string, _ pcommon.Value) bool { return own[name] })
}

var own = map[string]bool{
	Mark: true, Body: true, Name: true, Severity: true, SeverityText: true, Observed: true,
	Group: true, Index: true, Scope: true, ScopeVersion: true, Resource: true, Span: true,
}

func text(m pcommon.Map, name string) string {
	if v, ok := m.Get(name); ok && v.Type() == pcommon.ValueTypeStr {
		return v.Str()
	}
	return ""
}
