package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// haystack reads Haystack: the agent steps of version 3, and the chat
// generators of version 2, whose tool invoker is one span for all calls of a
// turn, so that those calls come from the messages.
type haystack struct{}

func (haystack) Name() string { return "haystack" }

func (haystack) Kind(s *Span) (Kind, bool) {
	rest, ok := strings.CutPrefix(s.Name(), "haystack.")
	if !ok {
		return KindOther, false
	}
	switch rest {
	case "agent.step.tool":
		return KindTool, true
	case "agent.step.llm":
		return KindModel, true
	case "agent.run":
		return KindAgent, true
	case "component.run":
		if strings.HasSuffix(s.Str("haystack.component.type"), "ChatGenerator") {
			return KindModel, true
		}
	}
	return KindOther, true
}

func (haystack) Read(s *Span) Call {
	c := Call{Fix: "HAYSTACK_CONTENT_TRACING_ENABLED=true"}
	kind, _ := (haystack{}).Kind(s)
	switch kind {
	case KindTool:
		c.Tool = s.Str("haystack.tool.name")
		c.Description = s.Str("haystack.tool.description")
		c.Args, _ = decodeArgs(s.content(jsonText, "haystack.agent.step.tool.input"))
		out := s.content(jsonText, "haystack.agent.step.tool.output")
		failed := out.Value.At("error")
		if out.Value.Only("result", "error") {
			out.Value, out.Grade = out.Value.At("result"), Rebuilt
			r := reply{Content: out, fresh: true}
			r.step()
			out = r.Content
		}
		c.Result = out
		if failed.Truthy() {
			c.Fail = &Failure{Message: textOf(c.Result), Evidence: "result"}
		}
	case KindModel:
		haystackModel(s, &c)
	}
	return c
}

func haystackModel(s *Span, c *Call) {
	c.Tool = "chat"
	in := s.content(jsonText, "haystack.agent.step.llm.input", "haystack.component.input")
	out := s.content(jsonText, "haystack.agent.step.llm.output", "haystack.component.output")
	c.Input, c.Request = messagesIn(in.Value.At("messages"), in, "user")
	c.Tools = toolDefinitions(in.Value.At("tools"))
	replies := out.Value.At("replies")
	c.Output, c.Response = messagesIn(replies, out, "assistant")
	var meta value.Value
	if items := replies.Items(); len(items) > 0 {
		meta = items[0].First("meta", "_meta")
	}
	c.Model = meta.At("model").Str()
	c.Finish = meta.At("finish_reason").Str()
	usage := meta.At("usage")
	c.Usage = Usage{Input: tokens(usage, "prompt_tokens", "input_tokens"), Output: tokens(usage, "completion_tokens", "output_tokens")}
}
