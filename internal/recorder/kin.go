package recorder

import (
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/buffer"
	"github.com/tapedeck/tapedeck/internal/dialect"
)

// kin is what a run's spans say that log records without a trace may refer to.
type kin struct {
	// sessions are the runs of the sessions that spans name, calls the calls.
	sessions []buffer.ID
	calls    []string
	// service is that of the first span, start the earliest.
	service string
	start   pcommon.Timestamp
}

// see adds what a span says.
func (k *kin) see(res pcommon.Resource, span ptrace.Span) {
	session, call := dialect.SpanNames(span)
	if session != "" {
		if id := buffer.ID(dialect.LogTraceID(session)); !slices.Contains(k.sessions, id) {
			k.sessions = append(k.sessions, id)
		}
	}
	if call != "" && !slices.Contains(k.calls, call) {
		k.calls = append(k.calls, call)
	}
	if k.service == "" {
		k.service = serviceOf(res)
	}
	if at := span.StartTimestamp(); at != 0 && (k.start == 0 || at < k.start) {
		k.start = at
	}
}

func serviceOf(res pcommon.Resource) string {
	if v, ok := res.Attributes().Get("service.name"); ok && v.Type() == pcommon.ValueTypeStr {
		return v.Str()
	}
	return ""
}

// join adds what later spans of the run say, and tells what is new of it.
func (k *kin) join(more kin) (sessions []buffer.ID, calls []string) {
	for _, id := range more.sessions {
		if !slices.Contains(k.sessions, id) {
			k.sessions = append(k.sessions, id)
			sessions = append(sessions, id)
		}
	}
	for _, c := range more.calls {
		if !slices.Contains(k.calls, c) {
			k.calls = append(k.calls, c)
			calls = append(calls, c)
		}
	}
	if k.service == "" {
		k.service = more.service
	}
	if more.start != 0 && (k.start == 0 || more.start < k.start) {
		k.start = more.start
	}
	return sessions, calls
}

// owner is the run among relatives of a session that a record belongs to: one of
// the record's own service, if there is one; one whose spans name the record's
// call, if there is one; of what is left the last that had begun, or else the
// first. It is nil where there are no relatives.
func owner(relatives []*run, service, call string, at pcommon.Timestamp) *run {
	relatives = narrow(relatives, func(r *run) bool { return service != "" && r.kin.service == service })
	if call != "" {
		relatives = narrow(relatives, func(r *run) bool { return slices.Contains(r.kin.calls, call) })
	}
	var best *run
	for _, r := range relatives {
		switch {
		case best == nil:
			best = r
		case r.kin.start <= at && (best.kin.start > at || r.kin.start > best.kin.start):
			best = r
		case r.kin.start > at && best.kin.start > at && r.kin.start < best.kin.start:
			best = r
		}
	}
	return best
}

// narrow keeps those that fit, or all if none does.
func narrow(all []*run, fits func(*run) bool) (out []*run) {
	for _, r := range all {
		if fits(r) {
			out = append(out, r)
		}
	}
	if len(out) == 0 {
		return all
	}
	return out
}

// relate notes what spans of a run refer to.
func (x *index) relate(rn *run, more kin) {
	sessions, calls := rn.kin.join(more)
	for _, id := range sessions {
		x.bySession[id] = append(x.bySession[id], rn)
	}
	for _, c := range calls {
		x.bySpanCall[c] = append(x.bySpanCall[c], rn)
	}
}

// unrelate forgets it.
func (x *index) unrelate(rn *run) {
	for _, id := range rn.kin.sessions {
		drop(x.bySession, id, rn)
	}
	for _, c := range rn.kin.calls {
		drop(x.bySpanCall, c, rn)
	}
}

func drop[K comparable](m map[K][]*run, key K, rn *run) {
	left := slices.DeleteFunc(m[key], func(o *run) bool { return o == rn })
	if len(left) == 0 {
		delete(m, key)
		return
	}
	m[key] = left
}

// relatives are the runs with spans that belong to the session of a run of log
// records: their spans name the session, or a call that its records name.
func (x *index) relatives(session *run) []*run {
	out := slices.Clone(x.bySession[session.id])
	for _, call := range session.callIDs {
		for _, rn := range x.bySpanCall[call] {
			if !slices.Contains(out, rn) {
				out = append(out, rn)
			}
		}
	}
	return slices.DeleteFunc(out, func(rn *run) bool { return rn == session || rn.spans == 0 })
}
