package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// vercel reads the Vercel AI SDK: its own attributes (versions 4 to 6, and the
// legacy telemetry of 7), and version 7, which follows the GenAI conventions
// under the scope gen_ai.
type vercel struct{}

func (vercel) Name() string { return "vercel_ai" }

func (vercel) Kind(s *Span) (Kind, bool) {
	switch {
	case s.vercel == "":
		if s.op != "" && s.Scope.Name() == "gen_ai" {
			return genAI{}.Kind(s)
		}
		return KindOther, false
	case s.vercel == "ai.toolCall":
		return KindTool, true
	case strings.HasSuffix(s.vercel, ".doGenerate"), strings.HasSuffix(s.vercel, ".doStream"), strings.HasSuffix(s.vercel, ".doEmbed"):
		return KindModel, true
	case strings.HasPrefix(s.vercel, "ai.generate"), strings.HasPrefix(s.vercel, "ai.stream"):
		return KindAgent, true
	}
	return KindOther, true
}

func (vercel) Read(s *Span) Call {
	const fix = "experimental_telemetry: {isEnabled: true, recordInputs: true, recordOutputs: true}"
	if s.vercel == "" {
		c := genAI{}.Read(s)
		c.Fix = "telemetry: {recordInputs: true, recordOutputs: true}"
		return c
	}
	c := Call{Fix: fix, Agent: s.Str("ai.telemetry.functionId")}
	switch {
	case s.vercel == "ai.toolCall":
		c.Tool, c.ID = s.Str("ai.toolCall.name"), s.Str("ai.toolCall.id")
		c.Args, _ = decodeArgs(s.content(jsonText, "ai.toolCall.args"))
		c.Result = s.content(jsonText, "ai.toolCall.result")
	case strings.Contains(s.vercel, ".do"):
		vercelModel(s, &c)
	}
	return c
}

func vercelModel(s *Span, c *Call) {
	c.Tool = "chat"
	if strings.HasSuffix(s.vercel, ".doEmbed") {
		c.Tool = "embeddings"
		c.Args = parsedItems(s.content(jsonText, "ai.values", "ai.value"))
		c.Result = parsedItems(s.content(jsonText, "ai.embeddings", "ai.embedding"))
	}
	c.Model = firstOf(s.Str("gen_ai.request.model"), s.Str("ai.model.id"))
	c.ResponseModel = s.Str("gen_ai.response.model", "ai.response.model")
	c.Params = append(params(s, "gen_ai.request.", "gen_ai.request.model"), params(s, "ai.settings.", "ai.settings.maxRetries")...)
	c.Params = distinctMembers(c.Params)
	c.Usage = genAIUsage(s)
	c.Usage.fill(Usage{
		Input:     s.count("ai.usage.inputTokens", "ai.usage.promptTokens"),
		Output:    s.count("ai.usage.outputTokens", "ai.usage.completionTokens"),
		CacheRead: s.count("ai.usage.cachedInputTokens"),
		Reasoning: s.count("ai.usage.reasoningTokens"),
	})
	c.Finish = s.Str("ai.response.finishReason")
	c.Tools = toolDefinitions(s.Value("ai.prompt.tools"))
	c.Input, c.Request = s.messages("ai.prompt.messages")
	c.Output, c.Response = vercelOutput(s)
}

// parsedItems parses the elements of a list, each of which is JSON text.
func parsedItems(c Content) Content {
	if items := c.Value.Items(); len(items) > 0 {
		list := make([]value.Value, 0, len(items))
		for _, item := range items {
			list = append(list, parsed(item))
		}
		c.Value = value.List(list...)
	}
	return c
}

// vercelOutput puts the answer together, which the SDK writes in pieces.
func vercelOutput(s *Span) ([]message.Message, Content) {
	m := message.Message{Role: "assistant"}
	if text := s.Str("ai.response.reasoning"); text != "" {
		m.Parts = append(m.Parts, message.Part{Type: message.Reasoning, Text: text})
	}
	if text := s.Str("ai.response.text", "ai.response.object"); text != "" {
		m.Parts = append(m.Parts, message.Part{Type: message.Text, Text: text})
	}
	if calls := s.Value("ai.response.toolCalls"); len(calls.Items()) > 0 {
		for _, called := range message.Read(value.Obj(value.M("role", value.Str("assistant")), value.M("content", calls))) {
			m.Parts = append(m.Parts, called.Parts...)
		}
	}
	if len(m.Parts) == 0 {
		return nil, s.content(jsonText, "ai.response.text")
	}
	return []message.Message{m}, Content{Grade: Rebuilt}
}

func distinctMembers(members []value.Member) []value.Member {
	seen := map[string]bool{}
	out := members[:0]
	for _, m := range members {
		if !seen[m.Name] {
			seen[m.Name] = true
			out = append(out, m)
		}
	}
	return out
}
