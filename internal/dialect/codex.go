package dialect

import (
	"strings"
)

// codex reads the Codex CLI: spans named by the tool that hold lengths only,
// and log records with the content, joined by call id because they have no
// trace id. Model calls are log records alone.
type codex struct{}

const (
	codexFix   = "Codex writes content to its logs only: send them to the same pipeline"
	codexNever = "Codex does not record messages"
)

func (codex) Name() string { return "codex" }

func (codex) Kind(s *Span) (Kind, bool) {
	if !strings.HasPrefix(s.Scope.Name(), "codex") {
		return KindOther, false
	}
	if s.toolCall {
		return KindTool, true
	}
	return KindOther, true
}

func (codex) Read(s *Span) Call {
	c := Call{Fix: codexFix}
	c.Tool, c.ID = s.Str("tool_name"), realID(s.Str("call_id"))
	for _, e := range s.events() {
		if v, ok := e.Attrs.Get("event.name"); !ok || v.Str() != "codex.tool_result" {
			continue
		}
		pick(&c.Conversation, attrText(e.Attrs, "conversation.id"))
		c.codexResult(e)
	}
	return c
}

// codexResult reads the event that tells how a tool call ended.
func (c *Call) codexResult(e Log) {
	if v, ok := e.Attrs.Get("arguments"); ok {
		c.Args, _ = decodeArgs(contentOf(v, jsonText))
	}
	if v, ok := e.Attrs.Get("output"); ok {
		c.setResult(decodeResult(contentOf(v, jsonText), false))
	}
	if attrText(e.Attrs, "success") == "false" {
		c.Fail = &Failure{Evidence: "event"}
	}
	if c.Fail != nil {
		c.Fail.Message = firstOf(c.Result.Value.At("output").Str(), textOf(c.Result))
	}
}

// ReadLog reads what Codex writes into logs alone, or into logs first.
func (codex) ReadLog(l Log) (Call, bool) {
	attrs := attrsValue(l.Attrs)
	c := Call{Dialect: codex{}.Name(), Conversation: attrs.At("conversation.id").Str()}
	failed := attrs.First("error.message", "error").Str()
	switch {
	case l.Name == "codex.tool_result":
		c.Kind, c.Fix = KindTool, codexFix
		c.Tool, c.ID = attrs.At("tool_name").Str(), realID(attrs.At("call_id").Str())
		c.codexResult(l)
		if c.Tool == "" {
			return Call{}, false
		}
	case l.Name == "codex.sse_event" && attrs.At("event.kind").Str() == "response.completed":
		c.Kind, c.Tool, c.Model = KindModel, "chat", attrs.At("model").Str()
		c.never(codexNever)
		c.Usage = Usage{
			Input: tokens(attrs, "input_token_count"), Output: tokens(attrs, "output_token_count"),
			CacheRead: tokens(attrs, "cached_token_count"), Reasoning: tokens(attrs, "reasoning_token_count"),
		}
	case (l.Name == "codex.sse_event" || l.Name == "codex.api_request") && failed != "":
		c.Kind, c.Tool, c.Model = KindModel, "chat", attrs.At("model").Str()
		c.never(codexNever)
		c.Fail = &Failure{Message: failed, Code: scalarText(attrs.At("http.response.status_code")), Evidence: "log"}
	default:
		return Call{}, false
	}
	return c, true
}
