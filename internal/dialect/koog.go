package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// koog reads JetBrains Koog, whose tool spans carry the names of the GenAI
// conventions without an operation, and whose tool calls stand as JSON text in
// the content of indexed completions.
type koog struct{}

func (koog) Name() string { return "koog" }

func (koog) Kind(s *Span) (Kind, bool) {
	if s.Scope.Name() != "ai.koog" || s.op != "" {
		return KindOther, false
	}
	if s.toolName && strings.HasPrefix(s.Name(), "tool.") {
		return KindTool, true
	}
	return KindOther, true
}

func (koog) Read(s *Span) Call {
	c := Call{Fix: koogFix}
	c.Tool, c.ID = s.Str("gen_ai.tool.name"), realID(s.Str("gen_ai.tool.call.id"))
	c.Description = s.Str("gen_ai.tool.description")
	c.Args, _ = decodeArgs(s.content(jsonText, "input.value", "gen_ai.tool.call.arguments"))
	c.setResult(decodeResult(s.content(jsonText, "output.value", "gen_ai.tool.call.result"), false))
	return c
}

// indexedMessages reads messages from indexed attributes; content that is the
// JSON text of blocks or tool calls is read as such.
func indexedMessages(s *Span, prefix string) []message.Message {
	v := unflatten(s, prefix)
	items := make([]value.Value, 0, len(v.Items()))
	for _, m := range v.Items() {
		if c, ok := m.Get("content"); ok {
			m = m.With("content", parsedBlocks(c))
		}
		items = append(items, m)
	}
	return message.Read(value.List(items...))
}
