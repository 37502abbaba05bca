package dialect

import "github.com/tapedeck/tapedeck/internal/dialect/value"

// springAI reads the tool calls and chat clients of Spring AI; its model calls
// follow the GenAI conventions, with every attribute a string.
type springAI struct{}

func (springAI) Name() string { return "spring_ai" }

func (springAI) Kind(s *Span) (Kind, bool) {
	switch s.spring {
	case "":
		return KindOther, false
	case "tool_call":
		return KindTool, true
	case "chat_client":
		return KindAgent, true
	}
	return KindOther, true
}

func (springAI) Read(s *Span) Call {
	c := Call{Fix: "spring.ai.tools.observations.include-content=true"}
	if s.spring != "tool_call" {
		return c
	}
	c.Tool = s.Str("spring.ai.tool.definition.name", "gen_ai.tool.name")
	c.ID = realID(s.Str("spring.ai.tool.call.id"))
	c.Description = s.Str("spring.ai.tool.definition.description")
	c.Args, _ = decodeArgs(s.content(jsonText, "spring.ai.tool.call.arguments"))
	c.setResult(decodeResult(s.content(jsonText, "spring.ai.tool.call.result"), false))
	c.Tools = toolDefinitions(value.List(value.Obj(
		value.M("name", value.Str(c.Tool)),
		value.M("description", value.Str(c.Description)),
		value.M("schema", s.Value("spring.ai.tool.definition.schema")),
	)))
	return c
}
