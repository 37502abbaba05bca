package dialect

import "github.com/tapedeck/tapedeck/internal/dialect/value"

// braintrust reads Braintrust's attributes, all of which are JSON text: the
// type of the span, input, output, metadata and metrics.
type braintrust struct{}

func (braintrust) Name() string { return "braintrust" }

func (braintrust) Kind(s *Span) (Kind, bool) {
	switch s.braintrust {
	case braintrustNone:
		return KindOther, false
	case braintrustTool:
		return KindTool, true
	case braintrustModel:
		return KindModel, true
	}
	if s.ParentSpanID().IsEmpty() {
		return KindAgent, true
	}
	return KindOther, true
}

// braintrustType is what kind of span Braintrust says it is.
type braintrustType uint8

const (
	braintrustNone braintrustType = iota
	braintrustSpan
	braintrustTool
	braintrustModel
)

// braintrustTypeOf is the type inside braintrust.span_attributes. It is found
// without parsing, because every span of a run is asked.
func braintrustTypeOf(text string) braintrustType {
	switch {
	case jsonMember(text, "type", "tool"):
		return braintrustTool
	case jsonMember(text, "type", "llm"):
		return braintrustModel
	}
	return braintrustSpan
}

func (braintrust) Read(s *Span) Call {
	c := Call{Fix: "log input and output on the span"}
	in, out := s.content(jsonText, "braintrust.input_json", "braintrust.input"), s.content(jsonText, "braintrust.output_json", "braintrust.output")
	attributes, metadata := s.Value("braintrust.span_attributes"), s.Value("braintrust.metadata")
	c.Conversation = metadata.First("session_id", "conversation_id", "thread_id").Str()
	switch s.braintrust {
	case braintrustTool:
		c.Tool = firstOf(attributes.At("name").Str(), s.Name())
		c.Args, _ = decodeArgs(in)
		c.setResult(decodeResult(out, false))
	case braintrustModel:
		c.Tool, c.Model = "chat", metadata.At("model").Str()
		c.Tools = toolDefinitions(metadata.At("tools"))
		for _, m := range metadata.Members() {
			switch m.Name {
			case "model", "tools", "session_id", "conversation_id", "thread_id":
			default:
				c.Params = append(c.Params, m)
			}
		}
		metrics := s.Value("braintrust.metrics")
		c.Usage = Usage{
			Input: tokens(metrics, "prompt_tokens"), Output: tokens(metrics, "completion_tokens"),
			CacheRead: tokens(metrics, "prompt_cached_tokens"), Reasoning: tokens(metrics, "completion_reasoning_tokens"),
		}
		list := in.Value
		if inner := oiInput(list); list.Kind() == value.Object && !inner.IsNull() {
			list = inner
		}
		c.Input, c.Request = messagesIn(list, in, "user")
		c.Output, c.Response = messagesIn(answerOf(out.Value), out, "assistant")
	default:
		c.Agent = firstOf(attributes.At("name").Str(), s.Name())
	}
	return c
}
