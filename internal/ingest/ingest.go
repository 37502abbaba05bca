package ingest

import (
	"encoding/hex"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/tape"
)

// Options say what a tape does not.
type Options struct {
	// Now is when the last call of a tape without times ended: when its file was
	// written, or the tape taken in first. With the same one come the same spans.
	Now time.Time
	// Service is the name of the service where the tape has none.
	Service string
}

// Run is one run of a tape as a trace.
type Run struct {
	// TraceID is in lower-case hex.
	TraceID string
	Traces  ptrace.Traces
	// Records is how many the trace was made of.
	Records int
	// ByReference counts the contents that the tape does not hold itself.
	ByReference int
}

// Traces makes one trace of each run on the tape, in the order in which they
// begin on it. A tape without records gives none.
func Traces(t *tape.Tape, opts Options) []Run {
	manifest := t.Manifest
	if manifest == nil {
		manifest = &tape.Manifest{}
	}
	groups := group(t)
	out := make([]Run, 0, len(groups))
	for _, g := range groups {
		b := newBuilder(manifest, g, opts)
		b.build()
		out = append(out, Run{TraceID: hex.EncodeToString(b.trace[:]), Traces: b.td, Records: len(g.records), ByReference: b.byReference})
	}
	return out
}

// builder makes the trace of one run.
type builder struct {
	manifest *tape.Manifest
	trace    pcommon.TraceID
	records  []*tape.Record
	ids      []pcommon.SpanID
	times    []interval
	tools    map[string]tape.Tool
	// defined has the version that the last definition of a tool gave.
	defined map[string]string

	td    ptrace.Traces
	spans ptrace.SpanSlice
	// calls are the spans of records by id, others those made around them.
	calls, others map[pcommon.SpanID]ptrace.Span
	// root is the span around all others. It is not made where the tape says that
	// the run never ended: it would say that it did.
	root        pcommon.SpanID
	byReference int
}

func newBuilder(m *tape.Manifest, g *runOf, opts Options) *builder {
	b := &builder{
		manifest: m, trace: g.trace, records: g.records,
		ids: spanIDs(g.trace, g.records), times: schedule(m, g.records, opts.Now),
		tools: map[string]tape.Tool{}, defined: map[string]string{}, td: ptrace.NewTraces(),
		calls: map[pcommon.SpanID]ptrace.Span{}, others: map[pcommon.SpanID]ptrace.Span{},
	}
	for _, tool := range m.Tools {
		b.tools[tool.Name] = tool
	}
	rs := b.td.ResourceSpans().AppendEmpty()
	setResource(rs.Resource(), m, opts.Service)
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName(dialect.RecordedScope)
	b.spans = ss.Spans()
	return b
}

func (b *builder) build() {
	b.root = b.rootID()
	for i, r := range b.records {
		if !isDraw(r) {
			b.calls[b.ids[i]] = b.call(i)
		}
	}
	if b.manifest.Outcome != tape.OutcomeIncomplete {
		b.others[b.root] = b.agent()
	}
	for i, r := range b.records {
		parent := b.parentOf(i)
		if isDraw(r) {
			b.draw(r, b.times[i], b.around(parent, b.times[i]))
			continue
		}
		b.calls[b.ids[i]].SetParentSpanID(parent)
		if _, seen := b.others[b.root]; seen || parent != b.root {
			b.around(parent, b.times[i])
		}
	}
}

func (b *builder) span(id pcommon.SpanID, name string, at interval) ptrace.Span {
	s := b.spans.AppendEmpty()
	s.SetTraceID(b.trace)
	s.SetSpanID(id)
	s.SetName(name)
	s.SetKind(ptrace.SpanKindInternal)
	s.SetStartTimestamp(pcommon.NewTimestampFromTime(at.start))
	s.SetEndTimestamp(pcommon.NewTimestampFromTime(at.end))
	return s
}

// rootID is the parent that the records have in common and that is no record:
// the root, or whatever stood directly below it. Without one it is made.
func (b *builder) rootID() pcommon.SpanID {
	have := make(map[pcommon.SpanID]bool, len(b.ids))
	for _, id := range b.ids {
		have[id] = true
	}
	var common pcommon.SpanID
	for _, r := range b.records {
		id, ok := parseSpanID(r.ParentID)
		switch {
		case !ok || have[id]:
		case common.IsEmpty():
			common = id
		case common != id:
			return derivedSpanID(b.trace, "root")
		}
	}
	if common.IsEmpty() {
		return derivedSpanID(b.trace, "root")
	}
	return common
}

// parentOf is the recorded parent of a record, or else the root.
func (b *builder) parentOf(i int) pcommon.SpanID {
	if id, ok := parseSpanID(b.records[i].ParentID); ok && id != b.ids[i] {
		return id
	}
	return b.root
}

// around is the span of a parent, which holds what happened then. A parent of which
// the tape has no record is made, with nothing but its time.
func (b *builder) around(id pcommon.SpanID, at interval) ptrace.Span {
	if s, ok := b.calls[id]; ok {
		return s
	}
	if _, seen := b.others[id]; !seen && id == b.root {
		id = derivedSpanID(b.trace, "events")
	}
	s, ok := b.others[id]
	if !ok {
		s = b.span(id, "recorded step", at)
		s.SetParentSpanID(b.root)
		b.others[id] = s
		return s
	}
	widen(s, at)
	return s
}

func widen(s ptrace.Span, at interval) {
	if from := pcommon.NewTimestampFromTime(at.start); from < s.StartTimestamp() {
		s.SetStartTimestamp(from)
	}
	if to := pcommon.NewTimestampFromTime(at.end); to > s.EndTimestamp() {
		s.SetEndTimestamp(to)
	}
}
