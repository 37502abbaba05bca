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
	reply message.Part
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
			best.answer, best.by = &p.reply, m
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
		n.resultFrom(&p.reply)
		return true
	}
	return false
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
