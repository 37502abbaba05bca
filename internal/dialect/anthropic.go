package dialect

import "strings"

// anthropic reads the telemetry of Anthropic's platform and SDK, which follows
// the GenAI conventions but for the result of a tool. A tool that was cancelled
// has neither a status nor a result.
type anthropic struct{}

func (anthropic) Name() string { return "anthropic" }

func (anthropic) Kind(s *Span) (Kind, bool) {
	if s.op == "" || !s.anthropic && !strings.HasPrefix(s.Name(), "anthropic.") {
		return KindOther, false
	}
	return genAI{}.Kind(s)
}

func (anthropic) Read(s *Span) Call {
	c := genAI{}.Read(s)
	c.RequestID = s.Str("anthropic.request.id")
	if s.op == "execute_tool" && !c.Result.Present() {
		c.setResult(decodeResult(s.content(jsonText, "anthropic.tool_result.content"), false))
	}
	return c
}
