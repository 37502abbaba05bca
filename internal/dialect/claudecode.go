package dialect

import (
	"strings"
)

// claudeCode reads Claude Code: three spans a tool call, its output in an
// event, its input only in the log record of its result.
type claudeCode struct{}

// Claude Code has a switch for the content of tools, and none for messages.
const (
	claudeFix   = "OTEL_LOG_TOOL_DETAILS=1 and OTEL_LOG_TOOL_CONTENT=1"
	claudeNever = "Claude Code does not record messages"
)

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
	c := Call{Fix: claudeFix}
	switch s.spanType {
	case "tool":
		claudeTool(s, &c)
	case "tool.execution":
		if s.Str("success") == "false" {
			c.Fail = &Failure{Message: s.Str("error"), Type: s.Str("error_class"), Evidence: "child"}
		}
	case "llm_request":
		c.Tool = "chat"
		c.never(claudeNever)
		c.Model = s.Str("model", "gen_ai.request.model")
		c.Finish = s.Str("stop_reason")
		c.RequestID = s.Str("request_id")
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
			c.claudeResult(e)
		}
	}
}

// claudeResult reads the log record that tells how a tool call ended.
func (c *Call) claudeResult(e Log) {
	if v, ok := e.Attrs.Get("tool_input"); ok {
		c.Args, _ = decodeArgs(contentOf(v, jsonText))
	}
	if attrText(e.Attrs, "success") == "false" {
		c.Fail = &Failure{Message: attrText(e.Attrs, "error"), Type: attrText(e.Attrs, "error_type"), Evidence: "log"}
	}
}

// ReadLog reads Claude Code without its traces, which are off by default.
// Results of tools are in spans alone.
func (claudeCode) ReadLog(l Log) (Call, bool) {
	name := strings.TrimPrefix(l.Name, "claude_code.")
	if !strings.HasPrefix(l.Scope, "com.anthropic.claude_code") && !strings.HasPrefix(l.Body.Str(), "claude_code.") && name == l.Name {
		return Call{}, false
	}
	attrs := attrsValue(l.Attrs)
	c := Call{Dialect: claudeCode{}.Name(), Fix: claudeFix, Conversation: attrs.At("session.id").Str()}
	switch name {
	case "tool_result":
		c.Kind, c.Tool, c.ID = KindTool, attrs.At("tool_name").Str(), realID(attrs.At("tool_use_id").Str())
		if details := parsed(attrs.At("tool_parameters")); c.Tool == "mcp_tool" && details.At("mcp_tool_name").Str() != "" {
			c.Tool = "mcp__" + details.At("mcp_server_name").Str() + "__" + details.At("mcp_tool_name").Str()
		}
		c.Result.Why = "Claude Code writes results of tools into spans alone"
		c.claudeResult(l)
	case "api_request", "api_error":
		c.Kind, c.Tool, c.Model = KindModel, "chat", attrs.At("model").Str()
		c.never(claudeNever)
		c.RequestID = attrs.At("request_id").Str()
		c.Usage = Usage{
			Input: tokens(attrs, "input_tokens"), Output: tokens(attrs, "output_tokens"),
			CacheRead: tokens(attrs, "cache_read_tokens"), CacheWrite: tokens(attrs, "cache_creation_tokens"),
		}
		if name == "api_error" {
			c.Fail = &Failure{Message: attrs.At("error").Str(), Code: scalarText(attrs.First("status_code", "error_code")), Evidence: "log"}
		}
	}
	return c, c.Tool != ""
}
