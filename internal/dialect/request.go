package dialect

import (
	"crypto/sha256"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/tape"
)

// modelRequest is the request of a model call in neutral form: system, messages
// or input, tools and params, without those that are unknown.
type modelRequest struct {
	system, messages []message.Message
	// asked is set where there are messages, were it system messages alone.
	asked  bool
	input  *Content
	tools  *toolSet
	params []value.Member
	// talk is the conversation that ends in messages, nil if that is not known.
	talk *conversation
}

// request is the request of a model call. What h holds of its tools is used.
func (c *Call) request(h *history) *modelRequest {
	q := &modelRequest{system: c.System, params: c.Params, asked: len(c.Input) > 0 && !c.bareRequest}
	head := leading(c.Input)
	if len(c.System) == 0 && !c.bareRequest {
		q.system = c.Input[:head:head]
	}
	q.messages = c.Input[head:]
	if t := c.talk; t != nil && len(t.ms) == len(c.Input) && q.asked && &t.ms[0] == &c.Input[0] {
		q.talk = t
	}
	if !q.asked && c.Args.Present() {
		q.input = &c.Args
	}
	if len(c.Tools) > 0 {
		q.tools = h.setOf(c.Tools)
	}
	return q
}

// content is the request as content, with its text or without.
func (q *modelRequest) content(out Content, text bool) Content {
	if out.Body != nil {
		return out
	}
	w := objectWriter{}
	if text {
		q.write(&w)
	} else if len(q.system) > 0 || q.asked || q.input != nil || q.tools != nil || len(q.params) > 0 {
		w.b = []byte{'{'}
	}
	out = w.content(out, q.asked || q.input != nil)
	if !text {
		out.text = nil
	}
	return out
}

func (q *modelRequest) write(w *objectWriter) {
	w.size = 128
	for _, ms := range [...][]message.Message{q.system, q.messages} {
		for i := range ms {
			w.size += len(ms[i].Text()) + 1
		}
	}
	if q.tools != nil {
		w.size += len(q.tools.json())
	}
	if len(q.system) > 0 {
		w.b = message.Append(w.name("system"), q.system)
	}
	if q.asked {
		w.b = message.Append(w.name("messages"), q.messages)
	}
	if q.input != nil {
		w.b = append(w.name("input"), q.input.json()...)
	}
	if q.tools != nil {
		w.b = append(w.name("tools"), q.tools.json()...)
	}
	if len(q.params) > 0 {
		w.b = value.Obj(q.params...).Append(w.name("params"))
	}
}

// set puts the request, found as c, into a record.
func (q *modelRequest) set(rec *tape.Record, c *Content) {
	if c.Body != nil {
		setContent(rec, c, "args")
		return
	}
	if !c.Present() && !c.partial {
		return
	}
	rec.Args = c.json()
	for _, list := range [...]struct {
		path string
		ms   []message.Message
	}{{"args.system", q.system}, {"args.messages", q.messages}} {
		for i := range list.ms {
			if v := list.ms[i].Settle().Holding(placeholderMark); !v.IsNull() {
				rec.Redacted = placeholders(rec.Redacted, indexed(list.path, i), v)
			}
		}
	}
	if q.input != nil {
		rec.Redacted = placeholdersIn(rec.Redacted, "args.input", q.input.json())
	}
	if q.tools != nil {
		rec.Redacted = placeholdersIn(rec.Redacted, "args.tools", q.tools.json())
	}
	rec.Redacted = placeholders(rec.Redacted, "args.params", value.Obj(q.params...))
}

// sum is the SHA-256 of the canonical form of the request, whose members are
// sorted: what grows from call to call comes first, so that only what is new is
// hashed. It is what [tape.KeyAndHash] has of the text.
func (q *modelRequest) sum() (out [sha256.Size]byte, err error) {
	w := hashWriter{}
	if q.asked {
		w.hash, err = q.hashMessages()
		w.open = true
		w.write("]")
	} else if w.hash, err = newHash(); err == nil && q.input != nil {
		err = w.member("input", q.input.json())
	}
	if err == nil && len(q.params) > 0 {
		err = w.member("params", value.Obj(q.params...).Append(nil))
	}
	if err == nil && len(q.system) > 0 {
		w.name("system")
		w.write("[")
		for i := 0; i < len(q.system) && err == nil; i++ {
			err = w.message(&q.system[i], i == 0)
		}
		w.write("]")
	}
	if err == nil && q.tools != nil {
		var text []byte
		if text, err = q.tools.hashed(); err == nil {
			w.name("tools")
			w.text(text)
		}
	}
	switch {
	case err != nil:
		return out, err
	case w.open:
		w.write("}")
	case q.input != nil:
		// The input was null, which is no member.
		w.write("{}")
	default:
		w.write("null")
	}
	w.hash.Sum(out[:0])
	return out, nil
}
