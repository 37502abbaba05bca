package dialect

import (
	"slices"
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// strands reads Strands Agents in Python and TypeScript, which follow the GenAI
// conventions with the content in events of the span, and version 0.1, which had
// names of its own. In TypeScript scope and provider are the agent's name, so
// that only the times of the events tell who wrote the span.
//
// OpenInference's processor for Strands moves the content from the events into
// its own attributes; see dual.
type strands struct{}

const strandsNever = "not captured, although Strands records content by default"

func (strands) Name() string { return "strands" }

func (strands) Kind(s *Span) (Kind, bool) {
	switch {
	case s.op != "":
		if s.strands || strings.HasPrefix(s.Scope.Name(), "strands.") {
			return genAI{}.Kind(s)
		}
		return KindOther, false
	case s.oi != "":
		return KindOther, false
	case s.oiTool && strings.HasPrefix(s.Name(), "Tool: "):
		return KindTool, true
	case !s.strands:
		return KindOther, false
	case s.Name() == "Model invoke":
		return KindModel, true
	case s.ParentSpanID().IsEmpty():
		return KindAgent, true
	}
	return KindOther, true
}

func (strands) Read(s *Span) Call {
	if s.op != "" {
		c := genAI{}.Read(s)
		c.never(strandsNever)
		if s.oi != "" {
			c.dual(s)
		}
		return c
	}
	c := Call{Never: strandsNever}
	kind, _ := (strands{}).Kind(s)
	switch kind {
	case KindTool:
		c.Tool, c.ID = s.Str("tool.name"), realID(s.Str("tool.id"))
		c.Args, _ = decodeArgs(s.content(pythonText, "tool.parameters"))
		c.setResult(decodeResult(s.content(jsonText, "tool.result"), false))
		if s.Str("tool.status") == "error" {
			c.Fail = &Failure{Message: textOf(c.Result), Evidence: "attribute"}
		}
	case KindModel:
		c.Tool, c.Model, c.Usage = "chat", s.Str("gen_ai.request.model"), genAIUsage(s)
		in, out := s.content(jsonText, "gen_ai.prompt"), s.content(jsonText, "gen_ai.completion")
		c.Input, c.Request = messagesIn(in.Value, in, "user")
		answer := out.Value
		if answer.Kind() == value.Array {
			answer = value.Obj(value.M("role", value.Str("assistant")), value.M("content", answer))
		}
		c.Output, c.Response = messagesIn(answer, out, "assistant")
	case KindAgent:
		c.Agent = firstOf(s.agentName, s.Str("agent.name"))
	}
	return c
}

// dual adds what OpenInference's processor took out of the events. It lists the
// answers of earlier turns with the new one, and has no order between them and
// what was said to them: they go back to where their calls are answered. Where
// that leaves one without a place, the request is not known.
func (c *Call) dual(s *Span) {
	c.Settled = true
	o := openInference{}.Read(s)
	if args, _ := decodeArgs(s.content(jsonText, "tool.parameters")); args.Present() {
		// Of arguments with a member text the input is that text alone.
		o.Args = args
	}
	if last := len(o.Output) - 1; last > 0 {
		var ok bool
		if o.Input, ok = interleave(o.Input, o.Output[:last]); !ok {
			o.Input, o.Request = nil, Content{Why: "OpenInference's processor for Strands lost the order of the conversation"}
		}
		o.Output = o.Output[last:]
	}
	c.fill(&o)
	if len(c.Input) == 0 && c.Request.Why == "" {
		c.Request.Why = o.Request.Why
	}
}

// interleave puts each earlier answer before the first message that replies to
// one of its calls.
func interleave(input, earlier []message.Message) ([]message.Message, bool) {
	out := slices.Clone(input)
	for _, answer := range earlier {
		at := slices.IndexFunc(out, func(m message.Message) bool { return replies(m, answer) })
		if at < 0 {
			return nil, false
		}
		out = slices.Insert(out, at, answer)
	}
	return out, true
}

// replies reports whether a message holds the reply to a call of another.
func replies(m, calls message.Message) bool {
	for _, reply := range m.Parts {
		for _, call := range calls.Parts {
			if reply.Type == message.ToolReply && call.Type == message.ToolCall && reply.ID != "" && reply.ID == call.ID {
				return true
			}
		}
	}
	return false
}
