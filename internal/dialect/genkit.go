package dialect

// genkit reads Firebase Genkit: actions of the subtypes tool and model, with
// their input and output as JSON.
type genkit struct{}

func (genkit) Name() string { return "genkit" }

func (genkit) Kind(s *Span) (Kind, bool) {
	switch s.genkit {
	case "":
		return KindOther, false
	case "tool", "tool.v2":
		return KindTool, true
	case "model":
		return KindModel, true
	case "flow", "executable-prompt":
		return KindAgent, true
	}
	return KindOther, true
}

func (genkit) Read(s *Span) Call {
	c := Call{Fix: "disableLoggingInputAndOutput: false of the telemetry plugin", Conversation: s.Str("genkit:sessionId")}
	if s.Str("genkit:state") == "error" {
		c.Fail = &Failure{Evidence: "attribute"}
	}
	in, out := s.content(jsonText, "genkit:input"), s.content(jsonText, "genkit:output")
	switch s.genkit {
	case "tool", "tool.v2":
		c.Tool = firstOf(s.Str("genkit:name"), s.Name())
		c.Args, _ = decodeArgs(in)
		// A failed call still has the output null.
		if c.Fail == nil || !out.Value.IsNull() {
			c.setResult(decodeResult(out, false))
		}
	case "model":
		c.Tool = "generate"
		c.Model = s.Str("genkit:name")
		c.Tools = toolDefinitions(in.Value.At("tools"))
		c.Params = in.Value.At("config").Members()
		c.Input, c.Request = messagesIn(in.Value.At("messages"), in, "user")
		c.Output, c.Response = messagesIn(out.Value.At("message"), out, "assistant")
		c.Finish = out.Value.At("finishReason").Str()
		usage := out.Value.At("usage")
		c.Usage = Usage{Input: tokens(usage, "inputTokens"), Output: tokens(usage, "outputTokens")}
	case "flow", "executable-prompt":
		c.Agent = s.Str("genkit:name")
	}
	return c
}
