package dialect

import (
	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// anyAgent reads Mozilla's any-agent, one form for all frameworks it drives.
// It records the messages of the first model call only; of the later ones the
// answer alone.
type anyAgent struct{}

func (anyAgent) Name() string { return "any_agent" }

func (anyAgent) Kind(s *Span) (Kind, bool) {
	if s.Scope.Name() != "any_agent" {
		return KindOther, false
	}
	if s.op == "call_llm" {
		return KindModel, true
	}
	kind, _ := (genAI{}).Kind(s)
	return kind, true
}

func (anyAgent) Read(s *Span) Call {
	var c Call
	switch s.op {
	case "execute_tool":
		c.Tool, c.ID = s.Str("gen_ai.tool.name"), realID(s.Str("gen_ai.tool.call.id"))
		c.Description = s.Str("gen_ai.tool.description")
		c.Args, _ = decodeArgs(s.content(pythonText, "gen_ai.tool.args"))
		enc := jsonText
		if s.Str("gen_ai.output.type") == "text" {
			enc = plainText
		}
		c.setResult(decodeResult(s.content(enc, "gen_ai.output"), false))
	case "call_llm":
		c.never("any-agent records the messages of the first model call only")
		c.Tool, c.Model, c.Usage = "chat", s.Str("gen_ai.request.model"), genAIUsage(s)
		c.Input, c.Request = s.messages("gen_ai.input.messages")
		if len(c.Input) == 0 && c.Request.Why == "" {
			c.Request.Why = c.Fix
		}
		c.Output, c.Response = anyAgentAnswer(s)
	default:
		c.Agent = s.agentName
		c.Tool = s.op
	}
	return c
}

// anyAgentAnswer reads an answer: the calls it asks for without their ids, or
// text.
func anyAgentAnswer(s *Span) ([]message.Message, Content) {
	out := s.content(jsonText, "gen_ai.output")
	if s.Str("gen_ai.output.type") == "text" {
		out = s.content(plainText, "gen_ai.output")
	}
	if out.Body != nil || out.Grade != Exact && out.Grade != Rebuilt {
		return nil, out
	}
	found := Content{Grade: Rebuilt, Key: out.Key}
	var calls []message.Part
	for _, item := range out.Value.Items() {
		if !item.Only("tool.name", "tool.args") || !item.Has("tool.name") {
			calls = nil
			break
		}
		p := message.Part{Type: message.ToolCall, Name: item.At("tool.name").Str()}
		p.SetArgs(item.At("tool.args"))
		calls = append(calls, p)
	}
	if calls != nil {
		return messageOf("assistant", calls...), found
	}
	text := s.Str("gen_ai.output")
	if text == "" && out.Value.Kind() != value.String {
		text = out.Value.JSON()
	}
	return messageOf("assistant", message.Part{Type: message.Text, Text: text}), found
}
