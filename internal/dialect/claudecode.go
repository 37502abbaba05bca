package dialect

import (
	"strings"
)

// claudeCode reads Claude Code: three spans a tool call, its output in an
// event, its input only in the log record of its result.
type claudeCode struct{}

func (claudeCode) Name() string { return "claude_code" }

func (claudeCode) Kind(s *Span) (Kind, bool) {
	if !strings.HasPrefix(s.Name(), "claude_code.") {
		return KindOther, false
	}
	switch s.spanType {
	case "tool":
		return KindTool, true
	case "tool.blocked_on_user", "tool.execution":
		return KindPart, true
	case "llm_request":
		return KindModel, true
	case "interaction":
		return KindAgent, true
	}
	return KindOther, true
}

func (claudeCode) Read(s *Span) Call {
	c := Call{Fix: "OTEL_LOG_TOOL_DETAILS=1 and OTEL_LOG_TOOL_CONTENT=1"}
	switch s.spanType {
	case "tool":
		claudeTool(s, &c)
	case "tool.execution":
		if s.Str("success") == "false" {
			c.Fail = &Failure{Message: s.Str("error"), Type: s.Str("error_class"), Evidence: "child"}
		}
	case "llm_request":
		c.Tool = "chat"
		c.Model = s.Str("model", "gen_ai.request.model")
		c.Finish = s.Str("stop_reason")
		c.Usage = Usage{
			Input: s.count("input_tokens"), Output: s.count("output_tokens"),
			CacheRead: s.count("cache_read_tokens"), CacheWrite: s.count("cache_creation_tokens"),
		}
	}
	return c
}

func claudeTool(s *Span, c *Call) {
	c.Tool = s.Str("tool_name")
	c.ID = realID(s.Str("tool_use_id", "gen_ai.tool.call.id"))
	c.Args.Why = "the span names only some of the arguments"
	for _, e := range s.events() {
		switch e.Name {
		case "tool.output":
			for _, key := range [...]string{"output", "content"} {
				v, ok := e.Attrs.Get(key)
				if !ok {
					continue
				}
				out := contentOf(v, jsonText)
				if cut, ok := e.Attrs.Get(key + "_truncated"); ok && cut.AsString() == "true" {
					out.Grade, out.Why = Truncated, "cut by Claude Code"
				}
				c.setResult(decodeResult(out, false))
				break
			}
		case "tool_result", "claude_code.tool_result":
			if v, ok := e.Attrs.Get("tool_input"); ok {
				c.Args, _ = decodeArgs(contentOf(v, jsonText))
			}
			if attrText(e.Attrs, "success") == "false" {
				c.Fail = &Failure{Message: attrText(e.Attrs, "error"), Type: attrText(e.Attrs, "error_type"), Evidence: "log"}
			}
		}
	}
}
