package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// mastra reads Mastra's exporter. A model step is a span with the answer's tool
// calls around a chat span without them; the step's input is a summary in
// which tool traffic is named but not told. Chunks of a stream are no calls.
type mastra struct{}

func (mastra) Name() string { return "mastra" }

func (mastra) Kind(s *Span) (Kind, bool) {
	switch s.mastra {
	case "":
		return KindOther, false
	case "tool_call", "mcp_tool_call", "provider_tool_call":
		return KindTool, true
	case "model_step", "model_inference":
		return KindModel, true
	case "agent_run":
		return KindAgent, true
	}
	if kind, ok := (genAI{}).Kind(s); ok && s.op == "chat" {
		return kind, true
	}
	if s.mastra == "llm_generation" {
		return KindModel, true
	}
	return KindOther, true
}

func (mastra) Read(s *Span) Call {
	c := Call{Fix: "hideInput: false and hideOutput: false of the exporter"}
	kind, _ := (mastra{}).Kind(s)
	switch {
	case kind == KindTool:
		genAITool(s, &c)
		pick(&c.Tool, s.Str("gen_ai.tool.name"))
		if ok, found := s.Attr("gen_ai.tool.success"); found && ok.AsString() == "false" && c.Fail == nil {
			c.Fail = &Failure{Message: s.Str("error.message", "error"), Evidence: "attribute"}
		}
	case s.mastra == "model_step":
		mastraStep(s, &c)
	case s.mastra == "llm_generation":
		mastraGeneration(s, &c)
	default:
		genAIModel(s, &c)
	}
	return c
}

// mastraGeneration reads the oldest form of a model call, with the request and
// the answer each as one text.
func mastraGeneration(s *Span, c *Call) {
	genAIModel(s, c)
	c.Tool, c.Usage, c.conventions = "chat", genAIUsage(s), true
	in, out := s.content(jsonText, "gen_ai.prompt", "input"), s.content(jsonText, "gen_ai.completion", "output")
	if len(c.Input) == 0 {
		list := in.Value
		if inner := oiInput(list); list.Kind() == value.Object && !inner.IsNull() {
			list = inner
		}
		c.Input, c.Request = messagesIn(list, in, "user")
	}
	if ms := mastraAnswer(out.Value); len(c.Output) == 0 && ms != nil {
		c.Output, c.Response = ms, Content{Grade: Rebuilt, Key: out.Key}
	} else if len(c.Output) == 0 {
		c.Output, c.Response = messagesIn(out.Value, out, "assistant")
	}
}

func mastraStep(s *Span, c *Call) {
	c.Tool, c.Silent = "chat", true
	if ms := mastraAnswer(s.Value("mastra.model_step.output")); ms != nil {
		c.Output, c.Response = ms, Content{Grade: Rebuilt}
	} else if ms := message.Read(providerAnswer(s.Value("mastra.metadata.body"))); len(ms) > 0 {
		// With the outputs hidden, the provider's own answer is still there.
		c.Output, c.Response = ms, Content{Grade: Rebuilt, Key: "mastra.metadata.body"}
	}
	in := s.content(jsonText, "mastra.model_step.input")
	if in.Value.Kind() != value.Array {
		return
	}
	if strings.Contains(in.Value.JSON(), "[tool-result: ") || strings.Contains(in.Value.JSON(), "[tool: ") {
		c.Request = Content{Why: whySummary}
		return
	}
	c.Input, c.Request = messagesIn(in.Value, in, "user")
}

// mastraAnswer is an answer that Mastra wrote as its text and its tool calls,
// nil for anything else.
func mastraAnswer(out value.Value) []message.Message {
	m := message.Message{Role: "assistant"}
	if text := out.At("text").Str(); text != "" {
		m.Parts = append(m.Parts, message.Part{Type: message.Text, Text: text})
	}
	for _, item := range out.At("toolCalls").Items() {
		p := message.Part{Type: message.ToolCall, ID: item.At("toolCallId").Str(), Name: item.At("toolName").Str()}
		p.SetArgs(item.First("args", "input"))
		m.Parts = append(m.Parts, p)
	}
	if len(m.Parts) == 0 {
		return nil
	}
	return []message.Message{m}
}
