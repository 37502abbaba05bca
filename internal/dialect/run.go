package dialect

import (
	"bytes"
	"cmp"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// run is one trace on its way to a tape.
type run struct {
	id    pcommon.TraceID
	hex   string
	nodes []*node
	byID  map[pcommon.SpanID]*node
	opts  *Options
	// history is what the spans have shown so far.
	history *history

	// logs are the log records of the run, whatever else they are joined to.
	logs []Log

	requests []*request

	// above is what is known of the context above calls.
	above map[*node]callContext
}

// node is one span in the tree, or a call that has no span of its own.
type node struct {
	*Span
	call *Call
	// kind is that of the call; merged nodes become KindPart.
	kind Kind
	// up is the parent, near the nearest node above that is a call or an agent,
	// root the uppermost.
	up, near, root *node
	linked         linkState
	ids            []pcommon.SpanID
	start, end     int64
	fail           *Failure
	// written is the content as it is written down, once it is known.
	written *written

	// asked is the request of a model call that this tool call answers.
	asked *request
	// on is the node of the span whose event or log record this is.
	on *node
	// log is set on calls known from log records.
	log *logOrigin
	// synth marks a call known from messages alone, index its place among the
	// requests of its model call.
	synth bool
	index int
}

func emptyRun(id pcommon.TraceID, opts *Options) *run {
	return &run{id: id, opts: opts, byID: map[pcommon.SpanID]*node{}, history: &history{}}
}

// newRun reads the spans of a trace. The error is that of restoring one.
func newRun(g *group, opts *Options) (*run, error) {
	r := emptyRun(g.id, opts)
	r.logs, r.nodes = g.logs, make([]*node, 0, len(g.spans))
	slab := make([]node, len(g.spans))
	for i := range g.spans {
		s := &g.spans[i]
		if g.restore != nil {
			whole, err := g.restore(i)
			if err != nil {
				return nil, err
			}
			whole.Logs = s.Logs
			*s = whole
		}
		n := &slab[i]
		r.read(n, s)
		if g.restore != nil {
			n.shed(opts.config())
		}
		r.nodes = append(r.nodes, n)
		if !s.SpanID().IsEmpty() {
			r.byID[s.SpanID()] = n
		}
	}
	slices.SortStableFunc(r.nodes, compareNodes)
	r.link()
	return r, nil
}

// read makes the node of a span.
func (r *run) read(n *node, s *Span) {
	s.history = r.history
	*n = node{Span: s, call: read(s), start: int64(s.StartTimestamp()), end: int64(s.EndTimestamp())}
	n.call.trust(r.opts)
	if n.call == nil {
		return
	}
	n.kind = n.call.Kind
	if n.kind == KindModel {
		n.call.Cost = s.cost()
	}
	n.ids = []pcommon.SpanID{s.SpanID()}
	n.fail = failureOf(s, n.call)
	r.history.share(n.call)
	n.call.Tools = r.history.sameTools(n.call.Tools)
}

// written is the content of a record.
type written struct{ args, result Content }

type linkState uint8

const (
	unlinked linkState = iota
	linking
	linked
)

// link makes the tree, in one step a node. A parent that was not seen makes a
// root, and so does a cycle, which only hostile input has.
func (r *run) link() {
	for _, n := range r.nodes {
		if p := r.byID[n.ParentSpanID()]; p != nil && p != n {
			n.up = p
		}
	}
	var path []*node
	for _, n := range r.nodes {
		path = path[:0]
		top := n
		for top != nil && top.linked == unlinked {
			top.linked = linking
			path = append(path, top)
			top = top.up
		}
		if top != nil && top.linked == linking {
			path[len(path)-1].up = nil
		}
		for i := len(path) - 1; i >= 0; i-- {
			path[i].place()
		}
	}
}

// place finds near and root, once they are known of the parent.
func (n *node) place() {
	n.linked = linked
	switch {
	case n.up == nil:
		n.root = n
	case n.up.kind == KindOther:
		n.root, n.near = n.up.root, n.up.near
	default:
		n.root, n.near = n.up.root, n.up
	}
}

func compareNodes(a, b *node) int {
	ai, bi := a.spanID(), b.spanID()
	return cmp.Or(
		cmp.Compare(a.start, b.start),
		bytes.Compare(ai[:], bi[:]),
		cmp.Compare(a.index, b.index),
	)
}

// spanID is the id by which ties are broken; a call without a span borrows
// that of the model call that asked for it.
func (n *node) spanID() pcommon.SpanID {
	if n.Span != nil {
		return n.SpanID()
	}
	if n.asked != nil {
		return n.asked.model.spanID()
	}
	if n.on != nil {
		return n.on.SpanID()
	}
	return n.log.spanID()
}

// over is the nearest node above n of one of the kinds, looking through nodes
// that are no calls and stopping at any other call or agent.
func (n *node) over(through Kind, kinds ...Kind) *node {
	for up := n.near; up != nil; up = up.near {
		if slices.Contains(kinds, up.kind) {
			return up
		}
		if up.kind != KindOther && up.kind != KindPart && up.kind != through {
			return nil
		}
	}
	return nil
}

// calls are the nodes of a kind, in order of start.
func (r *run) calls(kinds ...Kind) []*node {
	var out []*node
	for _, n := range r.nodes {
		if slices.Contains(kinds, n.kind) {
			out = append(out, n)
		}
	}
	slices.SortStableFunc(out, compareNodes)
	return out
}

// errored reports a span that ended in error.
func (n *node) errored() bool {
	return n.Span != nil && (n.Status().Code() == ptrace.StatusCodeError || n.errorLevel)
}
