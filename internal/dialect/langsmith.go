package dialect

import "github.com/tapedeck/tapedeck/internal/dialect/value"

// langSmith reads LangSmith's OpenTelemetry export: the inputs and outputs of
// a run as JSON, tool arguments as Python's repr inside.
type langSmith struct{}

func (langSmith) Name() string { return "langsmith" }

func (langSmith) Kind(s *Span) (Kind, bool) {
	switch s.langsmith {
	case "":
		return KindOther, false
	case "tool":
		return KindTool, true
	case "llm", "embedding":
		return KindModel, true
	}
	return KindOther, true
}

func (langSmith) Read(s *Span) Call {
	c := Call{Fix: "LANGSMITH_HIDE_INPUTS=false and LANGSMITH_HIDE_OUTPUTS=false"}
	switch s.langsmith {
	case "tool":
		c.Tool = firstOf(s.Str("gen_ai.serialized.name"), s.Name())
		args := s.content(pythonText, "gen_ai.prompt", "langfuse.observation.input")
		args, _ = decodeArgs(args)
		if args.Value.Only("input") {
			args = args.changed(args.Value.At("input"))
			if args.Value.Kind() == value.String {
				if inner := contentText(args.Value.Str(), pythonText); inner.Value.Kind() >= value.Array {
					args.Value = inner.Value
				}
			}
		}
		c.Args, _ = decodeArgs(args)
		c.setResult(decodeResult(s.content(jsonText, "gen_ai.completion", "langfuse.observation.output"), false))
		if v := c.Result.Value; v.Only("output") {
			c.Result.Value = v.At("output")
		}
	case "llm", "embedding":
		genAIModel(s, &c)
		in, out := s.content(jsonText, "gen_ai.prompt", "langfuse.observation.input"), s.content(jsonText, "gen_ai.completion", "langfuse.observation.output")
		list := oiInput(in.Value)
		if list.IsNull() && in.Value.Has("role") {
			list = in.Value
		}
		c.Input, c.Request = messagesIn(list, in, "user")
		c.Output, c.Response = messagesIn(answerOf(out.Value), out, "assistant")
	}
	return c
}
