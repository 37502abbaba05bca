package recorder

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/buffer"
	"github.com/tapedeck/tapedeck/internal/cut"
	"github.com/tapedeck/tapedeck/internal/dialect"
)

// chunk is the part of one request that belongs to one run.
type chunk struct {
	id   buffer.ID
	data []byte
	// spans or log records.
	spans, records int
	// callIDs are the calls that records without a trace name.
	callIDs []string
	// session: some of them are records without a trace.
	session bool
	// moved: they were counted when they came.
	moved bool
	kin   kin
	// root: one of the spans has no parent.
	root bool
	// seen is what look found, nil before.
	seen *signs
}

// signs are what only a run that is decided already asks of a chunk. calls: there
// is a tool or model call in it. failed: something in it ended in error.
type signs struct{ calls, failed bool }

// look reads the content of a chunk for signs. Most chunks belong to open runs and
// are never asked, which is why nobody looks on arrival.
func (c *chunk) look(rules *dialect.Config) *signs {
	if c.seen != nil {
		return c.seen
	}
	c.seen = &signs{}
	p := decode([][]byte{c.data})
	forEachSpan(p.td, func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, span ptrace.Span) {
		c.seen.failed = c.seen.failed || span.Status().Code() == ptrace.StatusCodeError ||
			rules.Failed(rs.Resource(), ss.Scope(), span)
		c.seen.calls = c.seen.calls || isCall(dialect.KindOf(rs.Resource(), ss.Scope(), span))
	})
	for _, rl := range p.ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, rec := range sl.LogRecords().All() {
				kind, failed := dialect.LogKind(rl.Resource(), sl.Scope(), rec)
				c.seen.failed = c.seen.failed || failed
				c.seen.calls = c.seen.calls || isCall(kind)
			}
		}
	}
	return c.seen
}

func isCall(kind dialect.Kind) bool { return kind == dialect.KindTool || kind == dialect.KindModel }

func (c *chunk) amount() Amount { return Amount{c.spans, c.records} }

var marshaler ptrace.ProtoMarshaler

// split cuts a request by trace id and marshals the parts, in the order in
// which the ids first appear. A request about one run, which is the common case,
// is marshalled as it is. The error is ErrTooLarge when the parts, each with its
// own resources and scopes, come to more than limit bytes.
func split(td ptrace.Traces, limit int64) ([]chunk, error) {
	var chunks []chunk
	at := make(map[buffer.ID]int, 1)
	forEachSpan(td, func(rs ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span) {
		id := buffer.ID(span.TraceID())
		i, ok := at[id]
		if !ok {
			i = len(chunks)
			at[id] = i
			chunks = append(chunks, chunk{id: id})
		}
		c := &chunks[i]
		c.spans++
		c.kin.see(rs.Resource(), span)
		c.root = c.root || span.ParentSpanID().IsEmpty()
	})
	if len(chunks) == 1 {
		return chunks, chunks[0].marshal(td)
	}
	// Asked before anything is copied: a large resource above many traces is small
	// on the wire.
	if n := cut.ByTraceSize(td); n > limit {
		return nil, fmt.Errorf("%w: %d traces come to %d bytes, buffer has %d", ErrTooLarge, len(chunks), n, limit)
	}
	parts := make([]part, len(chunks))
	for i := range parts {
		parts[i].td = ptrace.NewTraces()
	}
	forEachSpan(td, func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, span ptrace.Span) {
		p := &parts[at[buffer.ID(span.TraceID())]]
		span.CopyTo(p.spans(rs, ss).AppendEmpty())
	})
	for i := range chunks {
		if err := chunks[i].marshal(parts[i].td); err != nil {
			return nil, err
		}
	}
	return chunks, nil
}

func (c *chunk) marshal(td ptrace.Traces) (err error) {
	if c.data, err = marshaler.MarshalTraces(td); err != nil {
		return fmt.Errorf("marshal trace %x: %w", c.id, err)
	}
	return nil
}

// part is a copy of some spans of a request that are visited in their order,
// with the resources and scopes above them opened as they come.
type part struct {
	td ptrace.Traces

	fromRS, toRS ptrace.ResourceSpans
	fromSS, toSS ptrace.ScopeSpans
	begun        bool
}

// spans is where a span that stands below rs and ss belongs.
func (p *part) spans(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans) ptrace.SpanSlice {
	newResource := !p.begun || p.fromRS != rs
	if newResource {
		p.toRS = p.td.ResourceSpans().AppendEmpty()
		rs.Resource().CopyTo(p.toRS.Resource())
		p.toRS.SetSchemaUrl(rs.SchemaUrl())
	}
	if newResource || p.fromSS != ss {
		p.toSS = p.toRS.ScopeSpans().AppendEmpty()
		ss.Scope().CopyTo(p.toSS.Scope())
		p.toSS.SetSchemaUrl(ss.SchemaUrl())
	}
	p.fromRS, p.fromSS, p.begun = rs, ss, true
	return p.toSS.Spans()
}

func forEachSpan(td ptrace.Traces, fn func(ptrace.ResourceSpans, ptrace.ScopeSpans, ptrace.Span)) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				fn(rs, ss, span)
			}
		}
	}
}
