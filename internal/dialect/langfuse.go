package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// langfuse reads the Langfuse SDK and its integrations. The tool's name is the
// span's, and the call id is only inside the result. Langfuse also puts its
// attributes on spans of other instrumentations: foreign is for those, which
// are read last, because their own attributes say more.
type langfuse struct{ foreign bool }

func (langfuse) Name() string { return "langfuse" }

func (d langfuse) Kind(s *Span) (Kind, bool) {
	if s.langfuse == "" || !d.foreign && !strings.HasPrefix(s.Scope.Name(), "langfuse") {
		return KindOther, false
	}
	switch s.langfuse {
	case "span":
		// Before it had a type for tools, the LangChain handler wrote them so.
		if out := s.Str("langfuse.observation.output"); strings.HasPrefix(out, `{"content"`) && strings.Contains(out, `"tool_call_id"`) {
			return KindTool, true
		}
	case "tool":
		return KindTool, true
	case "generation", "embedding":
		return KindModel, true
	case "agent":
		return KindAgent, true
	}
	return KindOther, true
}

func (d langfuse) Read(s *Span) Call {
	c := Call{Fix: "capture_input=True and capture_output=True of the observation (captureInput and captureOutput in JavaScript)"}
	if s.errorLevel {
		c.Fail = &Failure{Message: firstLine(s.Str("langfuse.observation.status_message")), Evidence: "attribute"}
	}
	kind, _ := d.Kind(s)
	switch kind {
	case KindTool:
		c.Tool = s.Name()
		c.Args, _ = decodeArgs(s.content(pythonText, "langfuse.observation.input"))
		c.setResult(decodeResult(s.content(jsonText, "langfuse.observation.output"), false))
	case KindAgent:
		c.Agent = s.Name()
	case KindModel:
		langfuseModel(s, &c)
	}
	return c
}

func langfuseModel(s *Span, c *Call) {
	c.Tool = "chat"
	c.Model = s.Str("langfuse.observation.model.name")
	c.Params = s.Value("langfuse.observation.model.parameters").Members()
	usage := s.Value("langfuse.observation.usage_details")
	c.Usage = Usage{
		Input: tokens(usage, "input", "prompt_tokens", "input_tokens"), Output: tokens(usage, "output", "completion_tokens", "output_tokens"),
		CacheRead: tokens(usage, "input_cached_tokens", "cache_read_input_tokens"), Reasoning: tokens(usage, "output_reasoning_tokens"),
	}
	in, out := s.content(jsonText, "langfuse.observation.input"), s.content(jsonText, "langfuse.observation.output")
	if s.langfuse == "embedding" {
		c.Tool, c.Args, c.Result = "embeddings", in, out
		return
	}
	list := in.Value
	if v := list.First("messages", "input", "contents"); list.Kind() == value.Object && !v.IsNull() {
		c.Tools = toolDefinitions(list.At("tools"))
		list = v
	}
	list, defs := splitTools(list)
	if len(c.Tools) == 0 {
		c.Tools = defs
	}
	c.Input, c.Request = messagesIn(list, in, "user")
	c.Output, c.Response = messagesIn(answerOf(out.Value), out, "assistant")
}

// splitTools takes the tool definitions out of a message list, where the
// LangChain handler appends them as messages of role tool.
func splitTools(list value.Value) (value.Value, []toolDef) {
	var rest, defs []value.Value
	for _, m := range list.Items() {
		if m.At("role").Str() == "tool" && !m.Has("tool_call_id") && m.At("content").Has("function") {
			defs = append(defs, m.At("content"))
			continue
		}
		rest = append(rest, m)
	}
	if defs == nil {
		return list, nil
	}
	return value.List(rest...), toolDefinitions(value.List(defs...))
}

// messagesIn reads messages found inside an attribute; plain text is one
// message.
func messagesIn(v value.Value, c Content, role string) ([]message.Message, Content) {
	if c.Body != nil || c.Grade != Exact && c.Grade != Rebuilt {
		return nil, c
	}
	found := Content{Grade: Rebuilt, Key: c.Key}
	if v.Kind() == value.String {
		if v.Str() == "" {
			return nil, Content{}
		}
		return messageOf(role, message.Part{Type: message.Text, Text: v.Str()}), found
	}
	ms := message.Read(v)
	if len(ms) == 0 {
		return nil, Content{}
	}
	for i := range ms {
		if ms[i].Role == "" {
			ms[i].Role = role
		}
	}
	return ms, found
}

// answerOf is the message inside a provider's or framework's response object.
func answerOf(v value.Value) value.Value {
	if v.Kind() == value.Object {
		if inner := oiOutput(v); !inner.IsNull() {
			return inner
		}
	}
	return v
}

// tokens is the first present count of a usage object.
func tokens(v value.Value, names ...string) *int64 {
	if n, ok := v.First(names...).Int64(); ok && n >= 0 {
		return &n
	}
	return nil
}
