package dialect

import (
	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// pair is a reply in the input of a model call, with the call it answers where
// the history holds it.
type pair struct {
	call  *message.Part
	at    int // position of the calling message, -1 without
	reply *message.Part
}

// answer takes the replies in the input of one model call to their requests.
// Histories grow at their end, so replies and requests are matched from there:
// an earlier turn that used the same ids stays unmatched.
func (r *run) answer(m *node, order int, tools []*node) {
	used := map[*request]bool{}
	pairs := pairsOf(m.call.Input)
	idle := 0
	for i := len(pairs) - 1; i >= 0 && idle < maxIdle; i-- {
		idle++
		p := &pairs[i]
		best := r.find(p, m, order, used)
		if best == nil {
			if adopt(p, tools) {
				idle = 0
			}
			continue
		}
		used[best] = true
		if best.answer == nil {
			best.answer, best.by = p.reply, m
			idle = 0
		}
	}
}

// maxIdle ends the walk back through a history after so many replies in a row
// that tell nothing new: an earlier model call had been given them already, or
// they are of an earlier run. It keeps a run of many turns from costing the
// square of its length.
const maxIdle = 64

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
// of that id, and reports whether there was one.
func adopt(p *pair, tools []*node) bool {
	if p.reply.ID == "" {
		return false
	}
	for i := len(tools) - 1; i >= 0; i-- {
		n := tools[i]
		if n.call.ID != p.reply.ID || n.asked != nil {
			continue
		}
		if p.call != nil && !n.call.Args.Present() {
			n.call.Args.fill(argsOf(*p.call))
		}
		n.resultFrom(p.reply)
		return true
	}
	return false
}

func pairsOf(ms []message.Message) []pair {
	var calls []openCall
	var out []pair
	// Calls before first are done with: the search need not look at them.
	first, replied, turn := 0, false, 0
	for at := range ms {
		parts := ms[at].Parts
		for i := range parts {
			switch p := &parts[i]; p.Type {
			case message.ToolCall:
				if replied {
					// A new turn: what has no id cannot be answered any more.
					replied = false
					turn++
					for j := first; j < len(calls); j++ {
						calls[j].done = calls[j].done || calls[j].part.ID == ""
					}
				}
				calls = append(calls, openCall{part: p, at: at, turn: turn})
			case message.ToolReply:
				replied = true
				next := pair{reply: p, at: -1}
				if c := answered(calls[first:], p); c != nil {
					c.done = true
					next.call, next.at = c.part, c.at
				}
				for first < len(calls) && calls[first].done {
					first++
				}
				out = append(out, next)
			}
		}
	}
	return out
}

// openCall is a tool call of a history, done once it has its reply.
type openCall struct {
	part *message.Part
	at   int
	turn int
	done bool
}

// answered is the open call a reply is to: the first of its id in the last turn
// that has the id, or without ids the first of its name.
func answered(calls []openCall, reply *message.Part) *openCall {
	var found *openCall
	for i := range calls {
		c := &calls[i]
		switch {
		case c.done:
		case reply.ID != "" && c.part.ID != "":
			if reply.ID == c.part.ID && (found == nil || found.turn < c.turn) {
				found = c
			}
		case reply.Name == "" || sameName(reply.Name, c.part.Name):
			return c
		}
	}
	return found
}
