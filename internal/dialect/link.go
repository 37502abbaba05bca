package dialect

import (
	"bytes"
	"slices"
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// request is a tool call in the output of a model call.
type request struct {
	message.Part
	model *node
	order int // of the model call among all
	index int // among the requests of its model call
	taken *node
	// answer is the reply a later model call was given, by is that call.
	answer *message.Part
	by     *node
}

// linkMessages connects tool calls with the model calls that asked for them
// and were told the outcome, fills what the spans lack, and makes calls of
// those that have no span.
func (r *run) linkMessages() {
	models := r.calls(KindModel)
	for i, m := range models {
		m.outputFromHistory(models[i+1:])
	}
	for order, m := range models {
		r.requests = append(r.requests, requestsOf(m, order)...)
	}
	tools := r.calls(KindTool)
	r.assign(tools)
	for order, m := range models {
		r.answer(m, order, tools)
	}
	for _, n := range tools {
		n.complete()
	}
	for _, q := range r.requests {
		if q.taken == nil {
			r.nodes = append(r.nodes, q.synthesise())
		}
	}
}

// outputFromHistory takes the answer of a model call from the history that the
// next call of the same conversation was given, where the call's own span has
// none, or has other tool calls: some instrumentations of streams run the calls
// of one answer together.
func (n *node) outputFromHistory(later []*node) {
	in := n.call.Input
	if len(in) == 0 {
		return
	}
	last := &in[len(in)-1]
	for _, m := range later[:min(len(later), 8)] {
		history := m.call.Input
		if len(history) <= len(in) || !sameMessage(&history[len(in)-1], last) {
			continue
		}
		said := history[len(in):]
		for i, msg := range said {
			if msg.Role != "assistant" {
				said = said[:i]
				break
			}
		}
		if names := callNames(said); names != "" && names != callNames(n.call.Output) {
			if len(n.call.Output) > 0 {
				said = slices.Clone(said)
				said[len(said)-1] = said[len(said)-1].WithFinish(n.call.Output[len(n.call.Output)-1].FinishReason)
			}
			n.call.Output, n.call.Response = said, Content{Grade: Rebuilt, FromMessages: true}
		}
		return
	}
}

func sameMessage(a, b *message.Message) bool {
	if f := a.Form(); f != nil && f == b.Form() {
		return true
	}
	return bytes.Equal(a.Append(nil), b.Append(nil))
}

// callNames names the tool calls of messages, to compare two readings.
func callNames(ms []message.Message) string {
	var b strings.Builder
	for _, m := range ms {
		for _, p := range m.Parts {
			if p.Type == message.ToolCall {
				b.WriteString(p.Name + "\n")
			}
		}
	}
	return b.String()
}

func requestsOf(m *node, order int) []*request {
	var out []*request
	for i := range m.call.Output {
		for _, p := range m.call.Output[i].Parts {
			if p.Type != message.ToolCall || p.Name == "" && p.ID == "" {
				continue
			}
			if p.ID != "" && slices.ContainsFunc(out, func(q *request) bool { return q.repeats(&p) }) {
				continue
			}
			out = append(out, &request{Part: p, model: m, order: order, index: len(out)})
		}
	}
	return out
}

// repeats reports whether an answer lists the same call a second time. Ids alone
// do not tell: some models give one to several calls.
func (q *request) repeats(p *message.Part) bool {
	return q.ID == p.ID && q.Name == p.Name && (hollow(q.Args) || hollow(p.Args) || equal(argsOf(q.Part).Value, argsOf(*p).Value))
}

// sameID is the rule that the id decides.
func sameID(n *node, q *request) bool { return n.call.ID != "" && n.call.ID == q.ID }

// assign finds the request of each tool call: by id, name and arguments, by id,
// by name and arguments, then by whatever of these is known. Ids repeat, so of several the
// request of the latest model call before the tool is taken.
func (r *run) assign(tools []*node) {
	rules := []func(n *node, q *request) bool{
		func(n *node, q *request) bool {
			return n.call.ID != "" && n.call.ID == q.ID && sameName(n.call.Tool, q.Name) && sameArgs(n.call.Args, argsOf(q.Part))
		},
		sameID,
		func(n *node, q *request) bool {
			return (n.call.ID == "" || q.ID == "") && sameName(n.call.Tool, q.Name) && n.call.Args.Present() && equal(n.call.Args.Value, q.Args)
		},
		func(n *node, q *request) bool {
			return (n.call.ID == "" || q.ID == "") && sameName(n.call.Tool, q.Name) && !n.call.Args.Present()
		},
		func(n *node, q *request) bool {
			return (n.call.ClassName || n.call.Stem != "" && n.call.Stem == q.Name) && n.call.Args.Present() && equal(n.call.Args.Value, q.Args)
		},
		// Some instrumentations write {} whatever the arguments were.
		func(n *node, q *request) bool {
			return (n.call.ID == "" || q.ID == "") && sameName(n.call.Tool, q.Name) && (hollow(n.call.Args.Value) || hollow(q.Args))
		},
	}
	for _, rule := range rules {
		for _, n := range tools {
			if n.asked != nil {
				continue
			}
			if best := r.latest(n, rule); best != nil {
				best.taken, n.asked = n, best
			}
		}
	}
	// A clock ahead of another may put a tool before its request; an id says
	// enough then.
	for _, n := range tools {
		if n.asked != nil || n.call.ID == "" {
			continue
		}
		for _, q := range r.requests {
			if q.taken == nil && sameID(n, q) {
				q.taken, n.asked = n, q
				break
			}
		}
	}
}

// latest is the first fitting request of the latest model call before n that
// has one free.
func (r *run) latest(n *node, fits func(*node, *request) bool) *request {
	var best *request
	for i := len(r.requests) - 1; i >= 0; i-- {
		q := r.requests[i]
		if best != nil && q.order < best.order {
			break
		}
		if q.taken == nil && q.model.start <= n.start && fits(n, q) {
			best = q
		}
	}
	return best
}

// hollow reports whether arguments are none, as null or as an empty object.
func hollow(v value.Value) bool {
	return v.IsNull() || v.Kind() == value.Object && len(v.Members()) == 0
}
