package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// openAIAgents reads OpenTelemetry's own instrumentations of the OpenAI Agents
// SDK: the one of opentelemetry-python-contrib, in which an answer that only
// calls tools is Python's repr of a message inside a text part, and its
// successor. Neither has ids of calls on the spans of tools, because the SDK has
// none there.
type openAIAgents struct{}

func (openAIAgents) Name() string { return "openai_agents" }

func (openAIAgents) Kind(s *Span) (Kind, bool) {
	if s.op == "" || s.Scope.Name() != "opentelemetry.instrumentation.openai_agents" {
		return KindOther, false
	}
	return genAI{}.Kind(s)
}

func (openAIAgents) Read(s *Span) Call {
	c := genAI{}.Read(s)
	c.Output = unrepr(c.Output)
	return c
}

// unrepr puts the message that a text part holds as Python's repr in place of
// the message around it.
func unrepr(ms []message.Message) []message.Message {
	var out []message.Message
	for _, m := range ms {
		inner := reprOf(m)
		if inner == nil {
			out = append(out, m)
			continue
		}
		for i := range inner {
			if inner[i].FinishReason == "" {
				inner[i].FinishReason = m.FinishReason
			}
		}
		out = append(out, inner...)
	}
	return out
}

func reprOf(m message.Message) []message.Message {
	if m.Role != "assistant" || len(m.Parts) != 1 || m.Parts[0].Type != message.Text {
		return nil
	}
	text := strings.TrimSpace(m.Parts[0].Text)
	if !strings.HasPrefix(text, "{'") {
		return nil
	}
	v, err := value.ParsePython(text)
	if err != nil || v.At("role").Str() != "assistant" || len(v.At("tool_calls").Items()) == 0 {
		return nil
	}
	return message.Read(v)
}
