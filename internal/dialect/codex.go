package dialect

import (
	"strings"
)

// codex reads the Codex CLI: spans named by the tool that hold lengths only,
// and log records with the content, joined by call id because they have no
// trace id. Model calls are log records alone.
type codex struct{}

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
	c := Call{Fix: "Codex writes content to its logs only: send them to the same pipeline"}
	c.Tool, c.ID = s.Str("tool_name"), realID(s.Str("call_id"))
	for _, e := range s.events() {
		if v, ok := e.Attrs.Get("event.name"); !ok || v.Str() != "codex.tool_result" {
			continue
		}
		pick(&c.Conversation, attrText(e.Attrs, "conversation.id"))
		if v, ok := e.Attrs.Get("arguments"); ok {
			c.Args, _ = decodeArgs(contentOf(v, jsonText))
		}
		if v, ok := e.Attrs.Get("output"); ok {
			c.setResult(decodeResult(contentOf(v, jsonText), false))
		}
		if attrText(e.Attrs, "success") == "false" {
			c.Fail = &Failure{Evidence: "event"}
		}
	}
	if c.Fail != nil {
		c.Fail.Message = firstOf(c.Result.Value.At("output").Str(), textOf(c.Result))
	}
	return c
}

// codexModel is the model call a log record stands for, if it is one.
func codexModel(l Log) (Call, bool) {
	if l.Name != "codex.sse_event" || attrText(l.Attrs, "event.kind") != "response.completed" {
		return Call{}, false
	}
	attrs := attrsValue(l.Attrs)
	return Call{
		Dialect: codex{}.Name(), Fix: "Codex does not record messages", Kind: KindModel, Tool: "chat",
		Model: attrs.At("model").Str(), Conversation: attrs.At("conversation.id").Str(),
		Usage: Usage{
			Input: tokens(attrs, "input_token_count"), Output: tokens(attrs, "output_token_count"),
			CacheRead: tokens(attrs, "cached_token_count"), Reasoning: tokens(attrs, "reasoning_token_count"),
		},
	}, true
}
