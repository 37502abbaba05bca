package recorder

import (
	"encoding/binary"
	"hash/fnv"
	"slices"
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect"
)

// name stands for a text that only has to be told from others.
type name uint64

func nameOfText(s string) name {
	if s == "" {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(s))
	return name(h.Sum64())
}

// kin is what a run's spans say that log records without a trace may refer to, and
// which calls its log records name.
type kin struct {
	// sessions are the runs of the sessions that spans name, calls the calls.
	sessions []ID
	calls    []name
	// logCalls are named by log records without a trace.
	logCalls []name
	// service is that of the first span, start the earliest.
	service name
	start   pcommon.Timestamp
	spans   bool
}

// see adds what a span says.
func (p *piece) see(res pcommon.Resource, span ptrace.Span) {
	if p.kin == nil {
		p.kin = &kin{service: nameOfText(serviceOf(res)), spans: true}
	}
	k := p.kin
	session, call := dialect.SpanNames(span)
	if session != "" {
		k.sessions = appendNew(k.sessions, ID(dialect.LogTraceID(session)))
	}
	if call != "" {
		k.calls = appendNew(k.calls, nameOfText(call))
	}
	if at := span.StartTimestamp(); at != 0 && (k.start == 0 || at < k.start) {
		k.start = at
	}
}

func appendNew[T comparable](list []T, v T) []T {
	if slices.Contains(list, v) {
		return list
	}
	return append(list, v)
}

func serviceOf(res pcommon.Resource) string {
	if v, ok := res.Attributes().Get("service.name"); ok && v.Type() == pcommon.ValueTypeStr {
		return v.Str()
	}
	return ""
}

func timeOf(rec plog.LogRecord) pcommon.Timestamp {
	if at := rec.Timestamp(); at != 0 {
		return at
	}
	return rec.ObservedTimestamp()
}

// append writes it for the spool: three lists, each its length and its members,
// then service, start and whether there are spans.
func (k *kin) append(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(k.sessions)))
	for _, id := range k.sessions {
		b = append(b, id[:]...)
	}
	for _, list := range [][]name{k.calls, k.logCalls} {
		b = binary.AppendUvarint(b, uint64(len(list)))
		for _, n := range list {
			b = binary.LittleEndian.AppendUint64(b, uint64(n))
		}
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(k.service))
	b = binary.LittleEndian.AppendUint64(b, uint64(k.start))
	if k.spans {
		return append(b, 1)
	}
	return append(b, 0)
}

func readKin(d *decoder) *kin {
	k := &kin{}
	for n := d.uvarint(); n > 0 && d.err == nil; n-- {
		k.sessions = append(k.sessions, ID(d.take(16)))
	}
	for _, list := range []*[]name{&k.calls, &k.logCalls} {
		for n := d.uvarint(); n > 0 && d.err == nil; n-- {
			*list = append(*list, name(d.uint64()))
		}
	}
	k.service, k.start = name(d.uint64()), pcommon.Timestamp(d.uint64())
	k.spans = d.byte() == 1
	return k
}

// kinship finds the runs that log records without a trace belong to, and the
// records that a run has a claim to. It is one for all shards, because a session
// and its run are in different ones; where no log records come in, it is empty and
// nobody asks. Decided runs stay in it as long as the decision is known: what comes
// later follows it.
type kinship struct {
	on bool

	mu   sync.Mutex
	runs map[ID]*kin
	// bySession and bySpanCall find the runs whose spans name a session, by the id
	// of its run, or a call; byLogCall those whose log records name one.
	bySession             map[ID][]ID
	bySpanCall, byLogCall map[name][]ID
}

func newKinship(on bool) kinship {
	return kinship{
		on: on, runs: map[ID]*kin{}, bySession: map[ID][]ID{},
		bySpanCall: map[name][]ID{}, byLogCall: map[name][]ID{},
	}
}

// join adds what a piece of a run says.
func (x *kinship) join(id ID, more *kin) {
	if !x.on || more == nil {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	k := x.runs[id]
	if k == nil {
		k = &kin{}
		x.runs[id] = k
	}
	for _, session := range more.sessions {
		if !slices.Contains(k.sessions, session) {
			k.sessions = append(k.sessions, session)
			x.bySession[session] = append(x.bySession[session], id)
		}
	}
	for _, c := range more.calls {
		if !slices.Contains(k.calls, c) {
			k.calls = append(k.calls, c)
			x.bySpanCall[c] = append(x.bySpanCall[c], id)
		}
	}
	for _, c := range more.logCalls {
		if !slices.Contains(k.logCalls, c) {
			k.logCalls = append(k.logCalls, c)
			x.byLogCall[c] = append(x.byLogCall[c], id)
		}
	}
	if k.service == 0 {
		k.service = more.service
	}
	if more.start != 0 && (k.start == 0 || more.start < k.start) {
		k.start = more.start
	}
	k.spans = k.spans || more.spans
}

// drop forgets a run.
func (x *kinship) drop(id ID) {
	if !x.on {
		return
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	k := x.runs[id]
	if k == nil {
		return
	}
	for _, session := range k.sessions {
		without(x.bySession, session, id)
	}
	for _, c := range k.calls {
		without(x.bySpanCall, c, id)
	}
	for _, c := range k.logCalls {
		without(x.byLogCall, c, id)
	}
	delete(x.runs, id)
}

func without[K comparable](m map[K][]ID, key K, id ID) {
	left := slices.DeleteFunc(m[key], func(o ID) bool { return o == id })
	if len(left) == 0 {
		delete(m, key)
		return
	}
	m[key] = left
}

// related lists the runs of the sessions that a run's spans name, and those whose
// records name one of its calls: not every agent writes its session on spans.
func (x *kinship) related(id ID) (ids []ID) {
	if !x.on {
		return nil
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	k := x.runs[id]
	if k == nil || !k.spans {
		return nil
	}
	ids = slices.Clone(k.sessions)
	for _, c := range k.calls {
		for _, from := range x.byLogCall[c] {
			ids = appendNew(ids, from)
		}
	}
	return slices.DeleteFunc(ids, func(from ID) bool { return from == id })
}

// relative is a run with spans, as one that records may belong to.
type relative struct {
	id ID
	kin
}

// relatives are the runs with spans that belong to the session of a run of log
// records: their spans name the session, or a call that its records name.
func (x *kinship) relatives(session ID) (out []relative) {
	x.mu.Lock()
	defer x.mu.Unlock()
	ids := slices.Clone(x.bySession[session])
	if k := x.runs[session]; k != nil {
		for _, c := range k.logCalls {
			for _, id := range x.bySpanCall[c] {
				ids = appendNew(ids, id)
			}
		}
	}
	for _, id := range ids {
		if k := x.runs[id]; id != session && k.spans {
			out = append(out, relative{id, kin{calls: slices.Clone(k.calls), service: k.service, start: k.start}})
		}
	}
	return out
}

// owner is the run among relatives of a session that a record belongs to: one of
// the record's own service, if there is one; one whose spans name the record's
// call, if there is one; of what is left the last that had begun, or else the
// first. It is zero where there are no relatives.
func owner(relatives []relative, service, call name, at pcommon.Timestamp) (id ID) {
	relatives = narrow(relatives, func(r *relative) bool { return service != 0 && r.service == service })
	if call != 0 {
		relatives = narrow(relatives, func(r *relative) bool { return slices.Contains(r.calls, call) })
	}
	var best *relative
	for i := range relatives {
		r := &relatives[i]
		switch {
		case best == nil:
			best = r
		case r.start <= at && (best.start > at || r.start > best.start):
			best = r
		case r.start > at && best.start > at && r.start < best.start:
			best = r
		}
	}
	if best == nil {
		return ID{}
	}
	return best.id
}

// narrow keeps those that fit, or all if none does.
func narrow(all []relative, fits func(*relative) bool) (out []relative) {
	for i := range all {
		if fits(&all[i]) {
			out = append(out, all[i])
		}
	}
	if len(out) == 0 {
		return all
	}
	return out
}
