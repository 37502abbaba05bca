package dialect

import (
	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// complete fills a tool call from its request and the reply to it.
func (n *node) complete() {
	q := n.asked
	if q == nil {
		return
	}
	c := n.call
	pick(&c.ID, q.ID)
	if q.Name != "" && (c.Tool == "" || c.ClassName || c.Stem == q.Name) {
		c.Tool, c.ClassName = q.Name, false
	}
	asked := argsOf(q.Part)
	switch {
	case !c.Args.Present() || c.Args.Grade == Truncated:
		c.Args.fill(asked)
	case len(asked.Value.Members()) > 0 && (hollow(c.Args.Value) || c.Args.Value.Kind() == value.String && c.Args.Value.Str() == ""):
		// Some instrumentations write {} or nothing whatever the arguments were.
		asked.Raw = c.Args.verbatim()
		c.Args = asked
	case onlyValue(c.Args, asked):
		c.Args = asked
	}
	if q.answer != nil {
		n.resultFrom(q.answer)
	}
}

// onlyValue reports whether arguments are the bare text of the only one that was
// asked for: OpenInference writes so what LangChain calls a tool with.
func onlyValue(args, asked Content) bool {
	members := asked.Value.Members()
	if asked.Value.Kind() != value.Object || len(members) != 1 || members[0].Value.Kind() != value.String {
		return false
	}
	text := members[0].Value.Str()
	return text != "" && args.verbatim() == text
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
}

// argsOf are the arguments in a request; without content it has none.
func argsOf(p message.Part) Content {
	if p.Args.IsNull() {
		return Content{}
	}
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
		call: &Call{Kind: KindTool, Dialect: q.model.call.Dialect, Fix: q.model.call.Fix, Never: q.model.call.Never, Wrapped: q.model.call.Wrapped, Tool: q.Name, ID: q.ID, Args: argsOf(q.Part)},
	}
	if q.answer == nil {
		n.call.Result.Why = Unanswered
		return n
	}
	n.end = q.by.start
	n.resultFrom(q.answer)
	return n
}
