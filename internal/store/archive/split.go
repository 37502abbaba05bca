package archive

import (
	"fmt"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/cut"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// run is the spans of one trace id and one tenant in one request.
type run struct {
	// id is in lower-case hex, "" for the zero id.
	id     string
	tenant string
	td     ptrace.Traces

	// store is that of the tenant.
	store *store.Store

	// Where the last span went, so that neighbours share resource and scope.
	resource, scope int
	spans           ptrace.SpanSlice
}

// maxSplit bounds a request that is taken apart by run, in bytes of OTLP, each run
// having its own copies of resources and scopes.
const maxSplit = 1 << 30

// runKey tells runs apart. Whoever made a trace id is not to be trusted with the
// tapes of others: the same id under two tenants is two runs.
type runKey struct {
	id     pcommon.TraceID
	tenant string
}

// split takes td apart by trace id and tenant, in order of first appearance.
// Resources and scopes are copied for each run they occur in, spans are moved. The
// error is store.ErrTooLarge, and td is then as it was.
func split(td ptrace.Traces, tenantOf func(pcommon.Resource) string) ([]*run, error) {
	if r, ok := single(td, tenantOf); ok {
		return []*run{r}, nil
	}
	// Asked before anything is copied: a large resource above many runs is small on
	// the wire.
	if n := cut.ByTraceSize(td); n > maxSplit {
		return nil, fmt.Errorf("taken apart by run, the request has %d bytes: %w", n, store.ErrTooLarge)
	}
	var runs []*run
	byKey := map[runKey]*run{}
	resource, scope := 0, 0
	for _, rs := range td.ResourceSpans().All() {
		resource++
		tenant := tenantOf(rs.Resource())
		for _, ss := range rs.ScopeSpans().All() {
			scope++
			for _, span := range ss.Spans().All() {
				key := runKey{span.TraceID(), tenant}
				r := byKey[key]
				if r == nil {
					r = &run{id: key.id.String(), tenant: tenant, td: ptrace.NewTraces()}
					byKey[key] = r
					runs = append(runs, r)
				}
				span.MoveTo(r.slot(rs, ss, resource, scope))
			}
		}
	}
	return runs, nil
}

// single leaves a request of one run as it is, which is what a processor sends.
func single(td ptrace.Traces, tenantOf func(pcommon.Resource) string) (*run, bool) {
	var key runKey
	first := true
	for _, rs := range td.ResourceSpans().All() {
		tenant := tenantOf(rs.Resource())
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				if this := (runKey{span.TraceID(), tenant}); first {
					key, first = this, false
				} else if this != key {
					return nil, false
				}
			}
		}
	}
	if first {
		return nil, false
	}
	return &run{id: key.id.String(), tenant: key.tenant, td: td}, true
}

// slot is a new span of the run below copies of the resource and the scope.
func (r *run) slot(rs ptrace.ResourceSpans, ss ptrace.ScopeSpans, resource, scope int) ptrace.Span {
	if r.scope != scope {
		var to ptrace.ResourceSpans
		if all := r.td.ResourceSpans(); r.resource == resource {
			to = all.At(all.Len() - 1)
		} else {
			to = all.AppendEmpty()
			rs.Resource().CopyTo(to.Resource())
			to.SetSchemaUrl(rs.SchemaUrl())
		}
		scopeSpans := to.ScopeSpans().AppendEmpty()
		ss.Scope().CopyTo(scopeSpans.Scope())
		scopeSpans.SetSchemaUrl(ss.SchemaUrl())
		r.resource, r.scope, r.spans = resource, scope, scopeSpans.Spans()
	}
	return r.spans.AppendEmpty()
}

// marks is what a processor wrote on the spans of a run.
type marks struct {
	// summaries are the rows of summary spans.
	summaries []tape.Row
	// row is the newest row of the kept run, nil when no span carries one.
	row *tape.Row
	// outcome is that of the decision, "" when there was none.
	outcome tape.Outcome
	// class is that of the run as the processor chose it, "" where it says none.
	class string
	// spans are all but the summary spans.
	spans ptrace.Traces
}

// isDecided reports whether any span carries a decision.
func isDecided(td ptrace.Traces) bool {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				if attr.OutcomeOf(span.Attributes()) != "" {
					return true
				}
			}
		}
	}
	return false
}

func readMarks(id string, td ptrace.Traces) marks {
	m := marks{spans: td}
	anySummary := false
	for _, rs := range td.ResourceSpans().All() {
		if v, ok := rs.Resource().Attributes().Get(attr.Class); ok && m.class == "" {
			m.class = v.AsString()
		}
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				at := span.Attributes()
				row, hasRow := attr.RowFrom(at)
				row.TraceID = id
				switch {
				case attr.IsSummary(at):
					anySummary = true
					if !hasRow {
						row.Outcome = attr.OutcomeOf(at)
					}
					row.Kept, row.Class, row.Bytes = false, "", 0
					m.summaries = append(m.summaries, row)
					continue
				case hasRow && (m.row == nil || row.Decided >= m.row.Decided):
					m.row = &row
				}
				if m.outcome == "" {
					m.outcome = attr.OutcomeOf(at)
				}
			}
		}
	}
	if anySummary {
		m.spans = withoutSummaries(td)
	}
	return m
}

// withoutSummaries copies, because the run must stay whole for another attempt.
func withoutSummaries(td ptrace.Traces) ptrace.Traces {
	out := ptrace.NewTraces()
	td.CopyTo(out)
	out.ResourceSpans().RemoveIf(func(rs ptrace.ResourceSpans) bool {
		rs.ScopeSpans().RemoveIf(func(ss ptrace.ScopeSpans) bool {
			ss.Spans().RemoveIf(func(span ptrace.Span) bool { return attr.IsSummary(span.Attributes()) })
			return ss.Spans().Len() == 0
		})
		return rs.ScopeSpans().Len() == 0
	})
	return out
}
