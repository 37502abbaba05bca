package recorder

import (
	"fmt"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/cut"
	"github.com/tapedeck/tapedeck/internal/dialect"
)

// piece is the part of one request that belongs to one run. Until it is encoded it
// holds pdata, spans or log records, and the bytes of it afterwards.
type piece struct {
	id   ID
	logs bool
	td   ptrace.Traces
	ld   plog.Logs

	amount Amount
	// bytes is the size as it came.
	bytes int64
	// root: one of the spans has no parent.
	root bool
	// session: some of the records came without a trace.
	session bool
	// moved: they were counted when they came.
	moved bool
	// kin is what it says of sessions and calls, nil where nobody asks.
	kin *kin
	// seen is what look found, nil before.
	seen *signs

	// late and lateLogs are what copyLate kept.
	late     ptrace.Traces
	lateLogs plog.Logs
	payload  []byte
	// part is that of a cut run.
	part uint64
}

// signs are what only a run that is decided, or cut, asks of a piece. calls: there
// is a tool or model call in it. failed: something in it ended in error, or was
// judged to be wrong.
type signs struct{ calls, failed bool }

func (s *signs) add(more signs) {
	s.calls = s.calls || more.calls
	s.failed = s.failed || more.failed
}

// look reads a piece for signs, before it is encoded. Most belong to open runs and
// are never asked.
func (p *piece) look(rules *dialect.Config) signs {
	if p.seen != nil {
		return *p.seen
	}
	seen := signs{}
	if p.logs {
		for _, rl := range p.ld.ResourceLogs().All() {
			for _, sl := range rl.ScopeLogs().All() {
				for _, rec := range sl.LogRecords().All() {
					kind, failed := rules.LogKind(rl.Resource(), sl.Scope(), rec)
					seen.add(signs{isCall(kind), failed || rules.LogEvaluationFailed(rec)})
				}
			}
		}
	} else {
		forEachSpan(p.td, func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, span ptrace.Span) {
			seen.add(signs{
				calls: isCall(dialect.KindOf(rs.Resource(), ss.Scope(), span)),
				failed: span.Status().Code() == ptrace.StatusCodeError || rules.Failed(rs.Resource(), ss.Scope(), span) ||
					rules.EvaluationFailed(span),
			})
		})
	}
	p.seen = &seen
	return seen
}

func isCall(kind dialect.Kind) bool { return kind == dialect.KindTool || kind == dialect.KindModel }

var sizer ptrace.ProtoMarshaler

// split takes a request apart by trace id, in the order in which the ids first
// appear, and by size where a part is large for its run. A request about one run,
// which is the common case, is taken as it is. The error is ErrTooLarge when the
// parts, each with its own resources and scopes, come to more than the spool has.
func (r *Recorder) split(td ptrace.Traces) ([]piece, error) {
	var pieces []piece
	at := make(map[ID]int, 1)
	forEachSpan(td, func(rs ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span) {
		id := ID(span.TraceID())
		i, ok := at[id]
		if !ok {
			i = len(pieces)
			at[id] = i
			pieces = append(pieces, piece{id: id})
		}
		p := &pieces[i]
		p.amount.Spans++
		p.root = p.root || span.ParentSpanID().IsEmpty()
		if r.deps.Logs {
			p.see(rs.Resource(), span)
		}
	})
	limit := r.cfg.Spool.MaxBytes
	if len(pieces) == 1 {
		pieces[0].td = td
		pieces[0].bytes = int64(sizer.TracesSize(td))
		return r.slice(pieces), nil
	}
	// Asked before anything is copied: a large resource above many traces is small
	// on the wire.
	if n := cut.ByTraceSize(td); n > limit {
		return nil, fmt.Errorf("%w: %d traces come to %d bytes, the spool has %d", ErrTooLarge, len(pieces), n, limit)
	}
	parts := make([]part, len(pieces))
	for i := range parts {
		parts[i].td = ptrace.NewTraces()
	}
	forEachSpan(td, func(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, span ptrace.Span) {
		p := &parts[at[ID(span.TraceID())]]
		span.MoveTo(p.spans(rs, ss).AppendEmpty())
	})
	for i := range pieces {
		pieces[i].td = parts[i].td
		pieces[i].bytes = int64(sizer.TracesSize(parts[i].td))
	}
	return r.slice(pieces), nil
}

// slice cuts parts that are large for their run, so that the middle of a run which
// outgrows its bounds can be left out in small parts.
func (r *Recorder) slice(pieces []piece) []piece {
	bytes, spans := r.cfg.MaxRunBytes/pieceShare, r.cfg.MaxRunSpans/pieceShare
	large := false
	for i := range pieces {
		large = large || pieces[i].bytes > bytes || pieces[i].amount.Spans > spans
	}
	if !large {
		return pieces
	}
	var out []piece
	for _, p := range pieces {
		if p.bytes <= bytes && p.amount.Spans <= spans {
			out = append(out, p)
			continue
		}
		limit := min(bytes, p.bytes*int64(spans)/int64(p.amount.Spans))
		for _, td := range cut.Requests(p.td, int(max(1, limit)), nil) {
			q := p
			q.td, q.amount.Spans, q.bytes = td, td.SpanCount(), int64(sizer.TracesSize(td))
			out = append(out, q)
		}
	}
	return out
}

// copyLate makes the piece keep what it holds when it is encoded: somebody gets it
// now.
func (p *piece) copyLate() {
	if p.logs {
		p.lateLogs = plog.NewLogs()
		p.ld.CopyTo(p.lateLogs)
		return
	}
	p.late = ptrace.NewTraces()
	p.td.CopyTo(p.late)
}

// pieceShare: a piece is at most that part of what a run may hold.
const pieceShare = 16

// part takes some spans of a request that are visited in their order, with the
// resources and scopes above them opened as they come.
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
