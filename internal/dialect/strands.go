package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// strands reads Strands Agents 0.1, which had names of its own; later versions
// follow the GenAI conventions, with content as events of the span, and are
// read by those.
type strands struct{}

func (strands) Name() string { return "strands" }

func (strands) Kind(s *Span) (Kind, bool) {
	switch {
	case s.op != "" || s.oi != "":
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
	c := Call{Never: "not captured, although Strands records content by default"}
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
