package dialect

import "github.com/tapedeck/tapedeck/internal/dialect/value"

// laminar reads Laminar's SDK: a type, an input and an output on every span,
// both JSON. Its model spans also carry OpenLLMetry's indexed messages.
type laminar struct{}

func (laminar) Name() string { return "laminar" }

func (laminar) Kind(s *Span) (Kind, bool) {
	switch s.laminar {
	case "":
		return KindOther, false
	case "TOOL":
		return KindTool, true
	case "LLM":
		return KindModel, true
	}
	if s.ParentSpanID().IsEmpty() {
		return KindAgent, true
	}
	return KindOther, true
}

func (laminar) Read(s *Span) Call {
	c := Call{Fix: "observe without ignore_input and ignore_output", Conversation: s.Str("lmnr.association.properties.session_id")}
	in, out := s.content(jsonText, "lmnr.span.input"), s.content(jsonText, "lmnr.span.output")
	switch s.laminar {
	case "TOOL":
		c.Tool = s.Name()
		c.Args, _ = decodeArgs(in)
		c.setResult(decodeResult(out, false))
	case "LLM":
		genAIModel(s, &c)
		c.Tool = "chat"
		c.Usage.fill(genAIUsage(s))
		c.Tools = toolDefinitions(unflatten(s, "llm.request.functions."))
		list := in.Value
		if inner := oiInput(list); list.Kind() == value.Object && !inner.IsNull() {
			list = inner
		}
		if len(c.Input) == 0 {
			c.Input, c.Request = messagesIn(list, in, "user")
		}
		if len(c.Output) == 0 {
			c.Output, c.Response = messagesIn(answerOf(out.Value), out, "assistant")
		}
		indexedModel(s, &c)
	default:
		c.Agent = s.Name()
	}
	return c
}
