package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// pydanticAI reads Pydantic AI in all versions of its instrumentation: 1 and 2
// with spans "running tool" and messages in an attribute of events, 3 and
// later along the GenAI conventions.
type pydanticAI struct{}

func (pydanticAI) Name() string { return "pydantic_ai" }

func (pydanticAI) Kind(s *Span) (Kind, bool) {
	if s.Scope.Name() != "pydantic-ai" {
		return KindOther, false
	}
	switch {
	case s.op != "":
		return genAI{}.Kind(s)
	case s.Name() == "running tool" || s.toolName && strings.HasPrefix(s.Name(), "running tool: "):
		return KindTool, true
	case s.Name() == "agent run" || s.Str("agent_name") != "":
		return KindAgent, true
	}
	return KindOther, true
}

func (pydanticAI) Read(s *Span) Call {
	c := Call{Fix: "InstrumentationSettings(include_content=True)"}
	genAITool(s, &c)
	kind, _ := (pydanticAI{}).Kind(s)
	switch kind {
	case KindTool:
		pick(&c.Tool, firstOf(s.Str("gen_ai.tool.name"), s.Name()))
		pick(&c.ID, realID(s.Str("gen_ai.tool.call.id")))
		args, _ := decodeArgs(s.content(jsonText, "tool_arguments"))
		c.Args.fill(args)
		if !c.Result.Present() {
			c.setResult(decodeResult(s.content(jsonText, "tool_response"), false))
		}
		if _, deferred := s.Attr("pydantic_ai.tool.deferral.name"); deferred {
			c.OK = true
		}
	case KindModel:
		genAIModel(s, &c)
		if len(c.Input) == 0 && len(c.Output) == 0 {
			c.events(eventsAttr(s.Value("events")))
		}
		if len(c.Tools) == 0 {
			c.Tools = toolDefinitions(s.Value("model_request_parameters").At("function_tools"))
		}
	case KindAgent:
		c.Agent = firstOf(s.agentName, s.Str("agent_name"))
	}
	return c
}

// eventsAttr are events that were written as one attribute.
func eventsAttr(v value.Value) []Log {
	var out []Log
	for _, e := range v.Items() {
		out = append(out, Log{Name: e.At("event.name").Str(), Body: e})
	}
	return out
}

// logfire reads what Logfire's own integrations write: MCP sessions, and the
// OpenAI Agents SDK with the templates of its messages as span names.
type logfire struct{}

func (logfire) Name() string { return "logfire" }

func (logfire) Kind(s *Span) (Kind, bool) {
	switch s.Scope.Name() {
	case "logfire.mcp":
		if strings.HasPrefix(s.Name(), "MCP request: tools/call") || strings.HasPrefix(s.Name(), "MCP server handle request: tools/call") {
			return KindTool, true
		}
		return KindOther, true
	case "logfire.openai_agents":
		switch {
		case strings.HasPrefix(s.Name(), "Function: "):
			return KindTool, true
		case strings.HasPrefix(s.Name(), "Responses API"), strings.HasPrefix(s.Name(), "Chat completion"):
			return KindModel, true
		case strings.HasPrefix(s.Name(), "Agent run"):
			return KindAgent, true
		}
		return KindOther, true
	}
	return KindOther, false
}

func (logfire) Read(s *Span) Call {
	c := Call{Fix: "logfire.configure(scrubbing=False) and content capture of the integration", Conversation: s.Str("group_id")}
	kind, _ := (logfire{}).Kind(s)
	switch {
	case s.Scope.Name() == "logfire.mcp":
		c.Server = strings.HasPrefix(s.Name(), "MCP server")
		c.Tool = s.Value("request").At("params").At("name").Str()
		c.Args, _ = decodeArgs(s.content(jsonText, "request"))
		c.setResult(decodeResult(s.content(jsonText, "response"), false))
	case kind == KindTool:
		c.Tool = s.Str("name")
		c.Args, _ = decodeArgs(s.content(jsonText, "input"))
		c.setResult(decodeResult(s.content(jsonText, "output"), false))
		if e := s.Value("error"); e.Truthy() {
			text := firstOf(e.At("message").Str(), e.Str(), e.JSON())
			if cause := e.At("data").At("error").Str(); cause != "" {
				text += ": " + cause
			}
			c.Fail = &Failure{Message: text, Evidence: "attribute"}
		}
	case kind == KindModel:
		c.Tool = "chat"
		genAIModel(s, &c)
		c.events(eventsAttr(s.Value("events")))
	case kind == KindAgent:
		c.Agent = s.Str("name", "agent_name")
	}
	return c
}

// messageOf is a message made of parts.
func messageOf(role string, parts ...message.Part) []message.Message {
	return []message.Message{{Role: role, Parts: parts}}
}
