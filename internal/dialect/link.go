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

// pair is a reply in the input of a model call, with the call it answers where
// the history holds it.
type pair struct {
	call  *message.Part
	at    int // position of the calling message, -1 without
	reply message.Part
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
	last := in[len(in)-1].Append(nil)
	for _, m := range later[:min(len(later), 8)] {
		history := m.call.Input
		if len(history) <= len(in) || !bytes.Equal(history[len(in)-1].Append(nil), last) {
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
				said[len(said)-1].FinishReason = n.call.Output[len(n.call.Output)-1].FinishReason
			}
			n.call.Output, n.call.Response = said, Content{Grade: Rebuilt, FromMessages: true}
		}
		return
	}
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
			if p.ID != "" && slices.ContainsFunc(out, func(q *request) bool { return q.ID == p.ID && q.Name == p.Name }) {
				continue
			}
			out = append(out, &request{Part: p, model: m, order: order, index: len(out)})
		}
	}
	return out
}

// assign finds the request of each tool call: by id, then by name and
// arguments, then by whatever of both is known. Ids repeat, so of several the
// request of the latest model call before the tool is taken.
func (r *run) assign(tools []*node) {
	rules := []func(n *node, q *request) bool{
		func(n *node, q *request) bool { return n.call.ID != "" && n.call.ID == q.ID },
		func(n *node, q *request) bool {
			return (n.call.ID == "" || q.ID == "") && sameName(n.call.Tool, q.Name) && n.call.Args.Present() && equal(n.call.Args.Value, q.Args)
		},
		func(n *node, q *request) bool {
			return (n.call.ID == "" || q.ID == "") && sameName(n.call.Tool, q.Name) && !n.call.Args.Present()
		},
		func(n *node, q *request) bool {
			return n.call.ClassName && n.call.Args.Present() && equal(n.call.Args.Value, q.Args)
		},
	}
	for _, rule := range rules {
		for _, n := range tools {
			if n.asked != nil {
				continue
			}
			var best *request
			for _, q := range r.requests {
				if q.taken == nil && q.model.start <= n.start && (best == nil || q.order > best.order) && rule(n, q) {
					best = q
				}
			}
			if best != nil {
				best.taken, n.asked = n, best
			}
		}
	}
	// A clock ahead of another may put a tool before its request; an id says
	// enough then.
	for _, n := range tools {
		for _, q := range r.requests {
			if n.asked == nil && q.taken == nil && rules[0](n, q) {
				q.taken, n.asked = n, q
			}
		}
	}
}

// answer takes the replies in the input of one model call to their requests.
// Histories grow at their end, so replies and requests are matched from there:
// an earlier turn that used the same ids stays unmatched.
func (r *run) answer(m *node, order int, tools []*node) {
	used := map[*request]bool{}
	pairs := pairsOf(m.call.Input)
	known := 0
	for i := len(pairs) - 1; i >= 0 && known < maxKnown; i-- {
		p := &pairs[i]
		best := r.find(p, m, order, used)
		if best == nil {
			adopt(p, tools)
			continue
		}
		used[best] = true
		if best.answer == nil {
			best.answer, best.by = &p.reply, m
			known = 0
		} else {
			known++
		}
	}
}

// maxKnown ends the walk back through a history after so many replies in a row
// that an earlier model call had been given already. It keeps a run of many
// turns from costing the square of its length.
const maxKnown = 64

// find is the latest request of an earlier model call that a reply fits.
// Requests stand in order, so the search runs from their end.
func (r *run) find(p *pair, m *node, order int, used map[*request]bool) *request {
	for i := len(r.requests) - 1; i >= 0; i-- {
		if q := r.requests[i]; q.order < order && !used[q] && q.fits(p, m) {
			return q
		}
	}
	return nil
}

// fits reports whether a reply may answer the request.
func (q *request) fits(p *pair, m *node) bool {
	id, name, args := p.reply.ID, p.reply.Name, value.Value{}
	if p.call != nil {
		id, name, args = firstOf(id, p.call.ID), firstOf(p.call.Name, name), p.call.Args
		before := len(q.model.call.Input)
		if len(m.call.Input) > before && p.at < before {
			return false
		}
	}
	if id != "" && q.ID != "" && id != q.ID {
		return false
	}
	if name != "" && q.Name != "" && !sameName(name, q.Name) {
		return false
	}
	if id != "" && q.ID != "" {
		return true
	}
	return name != "" && (p.call == nil || equal(args, q.Args))
}

// adopt gives a reply whose request was in no captured output to the tool span
// of that id.
func adopt(p *pair, tools []*node) {
	if p.reply.ID == "" {
		return
	}
	for i := len(tools) - 1; i >= 0; i-- {
		n := tools[i]
		if n.call.ID != p.reply.ID || n.asked != nil {
			continue
		}
		if p.call != nil && !n.call.Args.Present() {
			n.call.Args.fill(argsOf(*p.call))
		}
		n.resultFrom(&p.reply)
		return
	}
}

func pairsOf(ms []message.Message) []pair {
	type open struct {
		part message.Part
		at   int
		done bool
	}
	var calls []open
	var out []pair
	replied := false
	for at, m := range ms {
		for _, p := range m.Parts {
			switch p.Type {
			case message.ToolCall:
				if replied {
					replied = false
					for i := range calls {
						calls[i].done = calls[i].done || calls[i].part.ID == ""
					}
				}
				calls = append(calls, open{part: p, at: at})
			case message.ToolReply:
				replied = true
				found := -1
				for i := range calls {
					c := &calls[i]
					if c.done {
						continue
					}
					if p.ID != "" && c.part.ID != "" {
						if c.part.ID == p.ID {
							found = i
						}
					} else if p.Name == "" || sameName(p.Name, c.part.Name) {
						found = i
						break
					}
				}
				next := pair{reply: p, at: -1}
				if found >= 0 {
					calls[found].done = true
					part := calls[found].part
					next.call, next.at = &part, calls[found].at
				}
				out = append(out, next)
			}
		}
	}
	return out
}

// complete fills a tool call from its request and the reply to it.
func (n *node) complete() {
	q := n.asked
	if q == nil {
		return
	}
	c := n.call
	pick(&c.ID, q.ID)
	if q.Name != "" && (c.Tool == "" || c.ClassName) {
		c.Tool, c.ClassName = q.Name, false
	}
	asked := argsOf(q.Part)
	switch {
	case !c.Args.Present() || c.Args.Grade == Truncated:
		c.Args.fill(asked)
	case len(c.Args.Value.Members()) == 0 && c.Args.Value.Kind() == value.Object && len(asked.Value.Members()) > 0:
		// Some instrumentations write {} whatever the arguments were.
		asked.Raw = c.Args.Value.JSON()
		c.Args = asked
	}
	if q.answer != nil {
		n.resultFrom(q.answer)
	}
}

// resultFrom fills a missing or cut result from a reply.
func (n *node) resultFrom(p *message.Part) {
	c := n.call
	// Some instrumentations write {} whatever the result was.
	hollow := c.Result.Value.Kind() == value.Object && len(c.Result.Value.Members()) == 0
	if c.Result.Present() && c.Result.Grade != Truncated && !hollow {
		return
	}
	r := decodeResult(replyContent(p), c.Wrapped)
	if !r.Present() {
		return
	}
	if hollow {
		c.Result = r.Content
	}
	c.Result.fill(r.Content)
	if n.fail != nil || c.OK {
		return
	}
	if p.Failed || r.Failed {
		n.fail = &Failure{Message: textOf(r.Content), Evidence: "result"}
	}
	n.fail = n.fail.merge(inBand(r.Content))
}

func argsOf(p message.Part) Content {
	c := Content{Value: p.Args, Grade: Rebuilt, FromMessages: true}
	if p.Args.Kind() == value.String {
		c = contentText(p.ArgsText, jsonText)
		c.FromMessages = true
	}
	c, _ = decodeArgs(c)
	return c
}

func replyContent(p *message.Part) Content {
	c := Content{Value: p.Result, Grade: Rebuilt}
	switch p.Result.Kind() {
	case value.Null:
		return Content{}
	case value.String:
		c = contentText(p.Result.Str(), jsonText)
	}
	if c.Grade == Exact {
		c.Grade = Rebuilt
	}
	c.FromMessages = true
	return c
}

// synthesise makes a call of a request that no span stands for.
func (q *request) synthesise() *node {
	n := &node{
		kind: KindTool, synth: true, asked: q, index: q.index + 1,
		start: q.model.end, near: q.model.near, root: q.model.root,
		call: &Call{Kind: KindTool, Dialect: q.model.call.Dialect, Fix: q.model.call.Fix, Wrapped: q.model.call.Wrapped, Tool: q.Name, ID: q.ID, Args: argsOf(q.Part)},
	}
	if q.answer == nil {
		n.call.Result.Why = "requested by the model, never answered in this trace"
		return n
	}
	n.end = q.by.start
	n.resultFrom(q.answer)
	return n
}
