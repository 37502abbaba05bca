package dialect

// liteLLM reads the proxy and the SDK of LiteLLM, which has no spans for tools:
// calls and answers are in the messages alone. Beside each request it writes a
// second span with the provider's raw form, which is no call of its own.
type liteLLM struct{}

func (liteLLM) Name() string { return "litellm" }

func (liteLLM) Kind(s *Span) (Kind, bool) {
	switch s.Name() {
	case "litellm_request":
		return KindModel, true
	case "raw_gen_ai_request":
		return KindOther, true
	}
	return KindOther, false
}

func (liteLLM) Read(s *Span) Call {
	c := Call{Fix: "litellm_settings: turn_off_message_logging: false"}
	genAIModel(s, &c)
	if c.Tool == "" {
		c.Tool = "chat"
		c.Usage, c.Finish = genAIUsage(s), finishReason(s.Value("gen_ai.response.finish_reasons"))
		c.Input, c.Request = s.messages("gen_ai.input.messages")
		c.Output, c.Response = s.messages("gen_ai.output.messages")
	}
	indexedModel(s, &c)
	if len(c.Tools) == 0 {
		c.Tools = toolDefinitions(unflatten(s, "llm.request.functions."))
	}
	return c
}
