package archive

import (
	"context"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/offload"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// prepared is spans ready to be stored.
type prepared struct {
	td       ptrace.Traces
	redacted int
	// trusted: all of it came from a processor.
	trusted bool
}

// prepare redacts what came without the mark of a policy, and sees to it that
// only references to bodies that a processor made are taken for such. It leaves
// td as it is, so that another attempt starts from the same.
func (a *Archive) prepare(ctx context.Context, r *run) (prepared, error) {
	td := r.td
	decided := isDecided(td)
	trusted := decided
	for _, rs := range td.ResourceSpans().All() {
		trusted = trusted && isRedacted(rs)
	}
	if trusted {
		return prepared{td: td, trusted: true}, nil
	}
	out, raw := ptrace.NewTraces(), ptrace.NewTraces()
	td.CopyTo(out)
	out.ResourceSpans().RemoveIf(func(rs ptrace.ResourceSpans) bool {
		if isRedacted(rs) {
			return false
		}
		rs.MoveTo(raw.ResourceSpans().AppendEmpty())
		return true
	})
	policy := a.opts.Scrubber.Policy().Manifest()
	if raw.ResourceSpans().Len() > 0 {
		if err := r.store.PutPolicy(ctx, policy); err != nil {
			return prepared{}, err
		}
	}
	stats := a.opts.Scrubber.Traces(raw)
	for _, rs := range raw.ResourceSpans().All() {
		rs.Resource().Attributes().PutStr(attr.Redaction, policy.Policy)
	}
	// A processor moves bodies out of the runs it decides, and of no others.
	forged := []ptrace.Traces{raw}
	if !decided {
		forged = append(forged, out)
	}
	for _, part := range forged {
		// With no threshold nothing moves, but what looks like a reference is
		// marked as none.
		if _, err := offload.Traces(part, 0, func(offload.Body) error { return nil }); err != nil {
			return prepared{}, err
		}
	}
	raw.ResourceSpans().MoveAndAppendTo(out.ResourceSpans())
	return prepared{td: out, redacted: stats.Values}, nil
}

func isRedacted(rs ptrace.ResourceSpans) bool {
	_, ok := rs.Resource().Attributes().Get(attr.Redaction)
	return ok
}
