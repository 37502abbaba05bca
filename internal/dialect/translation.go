package dialect

import (
	"fmt"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect/pieces"
	"github.com/tapedeck/tapedeck/internal/logfold"
)

// Translation makes tapes of traces that come in parts and are too large to be
// held at once. It gives what [Runs] gives of all parts together, however they
// were cut.
//
//	Add ──► spans as bytes, what they repeat once (package pieces)
//	Runs ─► one span at a time restored, read, and let go of but for what is small
//
// What it needs is in proportion to the text that is there without its
// repetitions, and to the number of spans; a whole translation, one without
// [Options.Lean], also holds its records, which repeat it all. Log records are
// held as they are. It is not safe for concurrent use.
type Translation struct {
	opts   Options
	store  pieces.Store
	groups map[pcommon.TraceID]*heldGroup
	order  []*heldGroup
	logs   plog.Logs
	// folded are traces with log records in them. They are unfolded when all are
	// there, because a record may have its place in another part.
	folded ptrace.Traces
}

// heldGroup is what was added of one trace.
type heldGroup struct {
	id    pcommon.TraceID
	spans []heldSpan
	byID  map[pcommon.SpanID]int
}

// heldSpan is one span: its deliveries, and what log records may name it by.
type heldSpan struct {
	id         pcommon.SpanID
	deliveries []pieces.Ref
	tool, call string
}

// NewTranslation begins a translation.
func NewTranslation(opts Options) *Translation {
	return &Translation{
		opts: opts, groups: map[pcommon.TraceID]*heldGroup{}, logs: plog.NewLogs(), folded: ptrace.NewTraces(),
	}
}

// Add takes over a part of the traces. The caller must not use td afterwards; no
// part of it is kept, unless log records travel in it. An error means that a span
// cannot be marshalled.
func (t *Translation) Add(td ptrace.Traces) error {
	if _, logs := logfold.Unfold(td); logs.LogRecordCount() > 0 {
		td.ResourceSpans().MoveAndAppendTo(t.folded.ResourceSpans())
		return nil
	}
	return t.hold(td)
}

// AddLogs takes over log records, which are read like those of
// [TranslateWithLogs].
func (t *Translation) AddLogs(ld plog.Logs) {
	ld.ResourceLogs().MoveAndAppendTo(t.logs.ResourceLogs())
}

func (t *Translation) hold(td ptrace.Traces) error {
	var marshal ptrace.ProtoMarshaler
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				id, trace := span.SpanID(), span.TraceID()
				held := heldSpan{id: id, tool: strings.Clone(attrText(span.Attributes(), "tool_name")), call: strings.Clone(attrText(span.Attributes(), callIDKey))}
				one := ptrace.NewTraces()
				alone := one.ResourceSpans().AppendEmpty()
				rs.Resource().CopyTo(alone.Resource())
				scoped := alone.ScopeSpans().AppendEmpty()
				ss.Scope().CopyTo(scoped.Scope())
				span.MoveTo(scoped.Spans().AppendEmpty())
				b, err := marshal.MarshalTraces(one)
				if err != nil {
					return fmt.Errorf("span %s: %w", id, err)
				}
				held.deliveries = []pieces.Ref{t.store.Put(b)}
				t.group(trace).add(held)
			}
		}
	}
	return nil
}

func (t *Translation) group(id pcommon.TraceID) *heldGroup {
	g := t.groups[id]
	if g == nil {
		g = &heldGroup{id: id, byID: map[pcommon.SpanID]int{}}
		t.groups[id] = g
		t.order = append(t.order, g)
	}
	return g
}

// add adds a delivery. Spans without an id stay apart.
func (g *heldGroup) add(s heldSpan) {
	if at, again := g.byID[s.id]; again && !s.id.IsEmpty() {
		have := &g.spans[at]
		have.deliveries = append(have.deliveries, s.deliveries...)
		pick(&have.tool, s.tool)
		pick(&have.call, s.call)
		return
	}
	g.byID[s.id] = len(g.spans)
	g.spans = append(g.spans, s)
}

// Runs ends the translation: what was added is let go of. An error means that a
// span cannot be read back.
func (t *Translation) Runs() ([]Run, error) {
	if t.folded.SpanCount() > 0 {
		td, logs := logfold.Unfold(t.folded)
		if err := t.hold(td); err != nil {
			return nil, err
		}
		t.logs.ResourceLogs().MoveAndAppendTo(logs.ResourceLogs())
		t.logs = logs
	}
	groups := make([]*group, 0, len(t.order))
	for _, held := range t.order {
		groups = append(groups, t.collect(held))
	}
	runs, err := translate(groups, t.logs, &t.opts)
	*t = *NewTranslation(t.opts)
	return runs, err
}

// collect is the group of spans of which no more is there than their names.
func (t *Translation) collect(held *heldGroup) *group {
	g := &group{id: held.id, spans: make([]Span, len(held.spans))}
	for i, h := range held.spans {
		s := ptrace.NewSpan()
		s.SetSpanID(h.id)
		g.spans[i].Span = s
		if h.tool != "" && h.call != "" {
			s.Attributes().PutStr(callIDKey, h.call)
			g.spans[i].toolCall = true
		}
	}
	var buf []byte
	var resources resourceCache
	g.restore = func(at int) (Span, error) {
		deliveries := held.spans[at].deliveries
		all := make([]Span, 0, len(deliveries))
		for _, ref := range deliveries {
			buf = t.store.Append(buf[:0], ref)
			td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(buf)
			if err != nil {
				return Span{}, fmt.Errorf("span %s: %w", held.spans[at].id, err)
			}
			rs := td.ResourceSpans().At(0)
			ss := rs.ScopeSpans().At(0)
			all = append(all, newSpan(resources.same(rs.Resource()), ss.Scope(), ss.Spans().At(0)))
		}
		held.spans[at].deliveries = nil
		if len(all) == 1 {
			return all[0], nil
		}
		return mergeDeliveries(all), nil
	}
	return g
}

// resourceCache makes one of resources that are alike, of which each span brings
// its own.
type resourceCache struct {
	recent [8]pcommon.Resource
	count  int
}

func (c *resourceCache) same(r pcommon.Resource) pcommon.Resource {
	for _, old := range c.recent[:min(c.count, len(c.recent))] {
		if old.DroppedAttributesCount() == r.DroppedAttributesCount() && old.Attributes().Equal(r.Attributes()) {
			return old
		}
	}
	own := pcommon.NewResource()
	r.CopyTo(own)
	c.recent[c.count%len(c.recent)] = own
	c.count++
	return own
}
