package dialect

// liveKit reads LiveKit Agents: function_tool spans, and llm_request spans with
// their messages as events.
type liveKit struct{}

func (liveKit) Name() string { return "livekit" }

func (liveKit) Kind(s *Span) (Kind, bool) {
	if !s.liveKit {
		return KindOther, false
	}
	switch s.Name() {
	case "function_tool":
		return KindTool, true
	case "llm_request":
		return KindModel, true
	case "agent_session":
		return KindAgent, true
	}
	return KindOther, true
}

func (liveKit) Read(s *Span) Call {
	c := Call{Fix: "do not have LiveKit's telemetry remove PII"}
	kind, _ := (liveKit{}).Kind(s)
	switch kind {
	case KindTool:
		c.Tool, c.ID = s.Str("lk.function_tool.name"), realID(s.Str("lk.function_tool.id"))
		c.Args, _ = decodeArgs(s.content(jsonText, "lk.function_tool.arguments", "lk.pii.function_tool.arguments"))
		c.setResult(decodeResult(s.content(jsonText, "lk.function_tool.output", "lk.pii.function_tool.output"), false))
		if v, ok := s.Attr("lk.function_tool.is_error"); ok && v.AsString() == "true" && c.Fail == nil {
			c.Fail = &Failure{Message: textOf(c.Result), Evidence: "attribute"}
		}
	case KindModel:
		genAIModel(s, &c)
		c.Tool = "chat"
		c.Usage = genAIUsage(s)
		readEvents(s, &c)
	case KindAgent:
		c.Agent = s.agentName
	}
	return c
}
