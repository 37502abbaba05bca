package recorder

import (
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/logfold"
	"github.com/tapedeck/tapedeck/tape"
)

// mark puts the decision on every span and the record on every span that stands
// for a call.
func mark(td ptrace.Traces, t *tape.Tape, outcome tape.Outcome, trigger tape.Trigger) {
	records := make(map[string]*tape.Record)
	if t != nil {
		for i := range t.Records {
			rec := &t.Records[i]
			records[rec.StepID] = rec
			for _, id := range rec.SpanIDs {
				records[id] = rec
			}
		}
	}
	forEachSpan(td, func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span) {
		m := span.Attributes()
		m.PutStr(attr.Outcome, string(outcome))
		m.PutStr(attr.Trigger, string(trigger))
		id := span.SpanID()
		if rec := records[id.String()]; rec != nil && !id.IsEmpty() {
			markRecord(m, rec)
		}
	})
	if t != nil {
		markEvidence(td, t)
	}
}

// markEvidence puts what shows why the run failed on the span of the call that made
// it fail, and where there is none on the one with the row. A comparison with the
// last good run cannot be made again when the tape is.
func markEvidence(td ptrace.Traces, t *tape.Tape) {
	if t.Manifest == nil || t.Manifest.Failure == nil || len(t.Manifest.Failure.Evidence) == 0 {
		return
	}
	f := t.Manifest.Failure
	step := ""
	for i := range t.Records {
		if rec := &t.Records[i]; f.Seq > 0 && rec.Seq == f.Seq {
			step = rec.StepID
		}
	}
	at, found := ptrace.Span{}, false
	if step != "" {
		forEachSpan(td, func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span) {
			if !found && span.SpanID().String() == step {
				at, found = span, true
			}
		})
	}
	if !found {
		at = findHead(td).span
	}
	list := at.Attributes().PutEmptySlice(attr.FailureEvidence)
	list.EnsureCapacity(len(f.Evidence))
	for _, text := range f.Evidence {
		list.AppendEmpty().SetStr(text)
	}
}

func markRecord(m pcommon.Map, rec *tape.Record) {
	m.PutStr(attr.Kind, string(rec.KindOf()))
	if rec.Seq > 0 {
		m.PutInt(attr.Seq, int64(rec.Seq))
	}
	m.PutStr(attr.Key, rec.Key)
	m.PutStr(attr.Dialect, rec.Dialect)
	if rec.FailureClass != "" {
		m.PutStr(attr.FailureClass, rec.FailureClass)
	}
}

// strip takes away marks that came in with the spans, from a sender or from
// another Tapedeck: the decision is made anew.
func strip(td ptrace.Traces) {
	for _, rs := range td.ResourceSpans().All() {
		attr.Strip(rs.Resource().Attributes())
		for _, ss := range rs.ScopeSpans().All() {
			attr.Strip(ss.Scope().Attributes())
			for _, span := range ss.Spans().All() {
				attr.Strip(span.Attributes())
			}
		}
	}
}

// stampResources notes which policy redacted what lies below the resources.
func stampResources(td ptrace.Traces, policy string) {
	for _, rs := range td.ResourceSpans().All() {
		rs.Resource().Attributes().PutStr(attr.Redaction, policy)
	}
}

// stampClass notes the class of a run in requests that may not have its row: the
// spans go where its bodies are.
func stampClass(out []ptrace.Traces, class string) {
	if class == "" {
		return
	}
	for _, part := range out {
		part.ResourceSpans().At(0).Resource().Attributes().PutStr(attr.Class, class)
	}
}

// head is the span that speaks for a run: the one without parent, else the
// earliest; ties go to the smaller id, so that the order of arrival decides
// nothing.
type head struct {
	rs    ptrace.ResourceSpans
	span  ptrace.Span
	found bool
	// start and end are the run's first and last moment.
	start, end pcommon.Timestamp
}

func findHead(td ptrace.Traces) head {
	var h head
	forEachSpan(td, func(rs ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span) {
		// 0 stands for unknown.
		if t := span.StartTimestamp(); t != 0 && (h.start == 0 || t < h.start) {
			h.start = t
		}
		h.end = max(h.end, span.EndTimestamp())
		if !h.found || before(span, h.span) {
			h.rs, h.span, h.found = rs, span, true
		}
	})
	return h
}

// isAnchor tells the span that holds log records, which speaks for a run only
// where there is no other.
func isAnchor(s ptrace.Span) bool {
	v, ok := s.Attributes().Get(logfold.Anchor)
	return ok && v.Bool()
}

func before(a, b ptrace.Span) bool {
	if la, lb := isAnchor(a), isAnchor(b); la != lb {
		return lb
	}
	if ra, rb := a.ParentSpanID().IsEmpty(), b.ParentSpanID().IsEmpty(); ra != rb {
		return ra
	}
	if a.StartTimestamp() != b.StartTimestamp() {
		return a.StartTimestamp() < b.StartTimestamp()
	}
	ia, ib := a.SpanID(), b.SpanID()
	return string(ia[:]) < string(ib[:])
}
