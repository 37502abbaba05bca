package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// traceloop reads OpenLLMetry: its instrumentations of frameworks, providers
// and MCP, and the decorators of its SDK, in Python and JavaScript, with
// messages as JSON and, before 2026, as indexed attributes. Tools of the OpenAI
// Agents SDK had neither arguments nor results before May 2026: these come from
// the messages.
type traceloop struct{}

func (traceloop) Name() string { return "traceloop" }

func (traceloop) Kind(s *Span) (Kind, bool) {
	switch s.traceloop {
	case "tool":
		return KindTool, true
	case "workflow", "agent":
		return KindAgent, true
	case "server":
		return KindPart, true
	case "task":
		// LangChain.js tools are tasks with this name.
		if strings.HasPrefix(s.Name(), "execute_tool ") {
			return KindTool, true
		}
		return KindOther, true
	case "":
		// Without its SDK a span has no traceloop attribute.
		own := s.traceloopAny || strings.HasPrefix(s.Scope.Name(), "@traceloop/") || s.Name() == "openai.response"
		kind, ok := (genAI{}).Kind(s)
		if s.llmRequest && kind == KindOther {
			return KindModel, true
		}
		return kind, ok && own
	}
	return KindOther, true
}

func (traceloop) Read(s *Span) Call {
	c := Call{Fix: traceloopFix, Agent: s.agentName}
	kind, _ := (traceloop{}).Kind(s)
	switch kind {
	case KindTool:
		traceloopTool(s, &c)
	case KindAgent:
		if s.traceloop == "agent" && c.Agent == "" {
			c.Agent = firstOf(s.Str("traceloop.entity.name"), strings.TrimSuffix(s.Name(), ".agent"))
		}
	case KindModel:
		genAIModel(s, &c)
		traceloopModel(s, &c)
	}
	return c
}

func traceloopTool(s *Span, c *Call) {
	c.Tool = s.Str("gen_ai.tool.name", "traceloop.entity.name")
	if c.Tool == "" {
		c.Tool = strings.TrimPrefix(strings.TrimSuffix(s.Name(), ".tool"), "execute_tool ")
	}
	switch c.Tool {
	case "DynamicStructuredTool", "DynamicTool", "StructuredTool", "Tool":
		c.ClassName = true
	}
	c.ID = realID(s.Str("gen_ai.tool.call.id"))
	c.Description = s.Str("gen_ai.tool.description")
	var id string
	in := s.content(pythonText, "gen_ai.tool.call.arguments", "traceloop.entity.input")
	if isRun(in.Value) {
		id, in = in.Value.At("kwargs").At("tool_call_id").Str(), in.changed(in.Value.At("inputs"))
	} else {
		in, id = decodeArgs(in)
	}
	c.Args = in
	pick(&c.ID, realID(id))
	r := decodeResult(s.content(jsonText, "gen_ai.tool.call.result", "traceloop.entity.output"), strings.Contains(s.Scope.Name(), "mcp"))
	c.setResult(r)
	if c.ClassName && r.Name != "" {
		c.Tool, c.ClassName = r.Name, false
	}
	c.OK = s.Str("gen_ai.task.status") == "success"
}

// isRun reports whether v describes a run of LangChain without the text of its
// input, which decodeArgs looks for. An argument called inputs is one alone; only
// beside the other members of a run it is the wrapper's, and only in this dialect
// whose wrapper it is.
func isRun(v value.Value) bool {
	return v.At("inputs").Kind() == value.Object && len(v.Members()) > 1 && v.Only("inputs", "tags", "metadata", "kwargs")
}

func traceloopModel(s *Span, c *Call) {
	if c.Tool == "" {
		c.Tool = firstOf(s.Str("llm.request.type"), "chat")
	}
	indexedModel(s, c)
	if len(c.Tools) == 0 {
		c.Tools = toolDefinitions(unflatten(s, "llm.request.functions."))
	}
}

// indexedModel reads messages from the indexed attributes of OpenLLMetry's
// older versions, which others have taken over.
func indexedModel(s *Span, c *Call) {
	if len(c.Input) == 0 {
		if ms := indexedMessages(s, "gen_ai.prompt."); len(ms) > 0 {
			c.Input, c.Request = ms, Content{Grade: Rebuilt}
		}
	}
	if len(c.Output) == 0 {
		if ms := indexedMessages(s, "gen_ai.completion."); len(ms) > 0 {
			c.Output, c.Response = ms, Content{Grade: Rebuilt}
		}
	}
}
