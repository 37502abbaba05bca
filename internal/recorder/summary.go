package recorder

import (
	"crypto/sha256"
	"encoding/binary"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/tape"
)

// summary is the one span that stands for a run that is not kept: the head's
// resource, name and status over the run's whole time, with the row. It is small,
// whatever the run has written into these.
func summary(td ptrace.Traces, row tape.Row) ptrace.Traces {
	h := findHead(td)
	out := ptrace.NewTraces()
	rs := out.ResourceSpans().AppendEmpty()
	copySmall(h.rs.Resource().Attributes(), rs.Resource().Attributes())
	rs.SetSchemaUrl(attr.ClipText(h.rs.SchemaUrl(), attr.MaxText))
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName(scopeName)
	span := ss.Spans().AppendEmpty()
	span.SetTraceID(h.span.TraceID())
	span.SetSpanID(summaryID(h.span.TraceID()))
	span.SetName(attr.ClipText(h.span.Name(), attr.MaxText))
	span.SetKind(h.span.Kind())
	span.SetStartTimestamp(h.start)
	span.SetEndTimestamp(max(h.start, h.end))
	span.Status().SetCode(h.span.Status().Code())
	span.Status().SetMessage(attr.ClipText(h.span.Status().Message(), attr.MaxText))
	m := span.Attributes()
	m.PutBool(attr.Summary, true)
	m.PutStr(attr.Outcome, string(row.Outcome))
	m.PutStr(attr.Trigger, string(row.Trigger))
	attr.PutRow(m, row)
	return out
}

// maxResource bounds the attributes of a summary's resource: the number that SDKs
// allow by default.
const maxResource = 128

// copySmall copies the first attributes. Long texts are cut, and what is long
// otherwise is left out.
func copySmall(from, to pcommon.Map) {
	to.EnsureCapacity(min(from.Len(), maxResource))
	for name, v := range from.All() {
		if to.Len() == maxResource {
			return
		}
		if len(name) > attr.MaxText || !small(v) {
			continue
		}
		if v.Type() == pcommon.ValueTypeStr {
			to.PutStr(name, attr.ClipText(v.Str(), attr.MaxText))
			continue
		}
		v.CopyTo(to.PutEmpty(name))
	}
}

// small tells values that can be taken whole, or cut.
func small(v pcommon.Value) bool {
	switch v.Type() {
	case pcommon.ValueTypeBytes:
		return v.Bytes().Len() <= attr.MaxText
	case pcommon.ValueTypeMap, pcommon.ValueTypeSlice:
		return valueSize(v) <= attr.MaxText
	default:
		return true
	}
}

func valueSize(v pcommon.Value) int {
	td := ptrace.NewTraces()
	v.CopyTo(td.ResourceSpans().AppendEmpty().Resource().Attributes().PutEmpty(""))
	return sizer.TracesSize(td)
}

// scopeName is the instrumentation scope of summary spans.
const scopeName = "github.com/tapedeck/tapedeck"

// summaryID derives the summary's span id from the trace id: the same run always
// gets the same one, and it meets no other span's.
func summaryID(id pcommon.TraceID) (out pcommon.SpanID) {
	sum := sha256.Sum256(append([]byte("tape.summary:"), id[:]...))
	binary.BigEndian.PutUint64(out[:], binary.BigEndian.Uint64(sum[:8])|1)
	return out
}
