package message

import (
	"slices"
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// Read reads an array of messages, or one message. Of a batch of
// conversations, as LangChain writes, it reads the first.
func Read(v value.Value) []Message {
	switch v.Kind() {
	case value.Object:
		return one(v)
	case value.String:
		return []Message{{Role: "user", Parts: []Part{{Type: Text, Text: v.Str()}}}}
	case value.Array:
		items := v.Items()
		if len(items) > 0 && items[0].Kind() == value.Array {
			return Read(items[0])
		}
		if len(items) == 0 {
			return nil
		}
		out := make([]Message, 0, len(items))
		for i := range items {
			out = append(out, known(&items[i])...)
		}
		toolRoles(out)
		return out
	}
	return nil
}

// known reads an item of an array, each element of a [value.Memo] once.
func known(item *value.Value) []Message {
	e := item.Element()
	if e == nil {
		return one(*item)
	}
	if ms, ok := e.Note.([]Message); ok {
		return ms
	}
	ms := one(*item)
	for i := range ms {
		// What has no role is given one by its reader, and a different one by each.
		if ms[i].Role != "" {
			ms[i].form, ms[i].shared = &Form{}, true
		}
	}
	if e.Note == nil {
		e.Note = ms
	}
	return ms
}

// toolRoles finds the replies that some frameworks write with the tool's name
// in place of the role.
func toolRoles(ms []Message) {
	if !slices.ContainsFunc(ms, func(m Message) bool { return !usualRole(m.Role) }) {
		return
	}
	called := map[string]bool{}
	for i := range ms {
		m := &ms[i]
		for _, p := range m.Parts {
			if p.Type == ToolCall {
				called[p.Name] = true
			}
		}
		if usualRole(m.Role) || !called[m.Role] {
			continue
		}
		if text, ok := joined(m.Parts); ok {
			m.Parts = []Part{{Type: ToolReply, Name: m.Role, Result: value.Str(text)}}
			m.Role, m.form, m.shared = "tool", nil, false
		}
	}
}

// usualRole reports a role that is not the name of a tool.
func usualRole(role string) bool {
	switch role {
	case "user", "assistant", "tool", "system", "developer", "":
		return true
	}
	return false
}

// Role names the neutral role of a provider's role or message type.
func Role(s string) string {
	switch s {
	case "human", "HumanMessage", "HumanMessageChunk":
		return "user"
	case "ai", "model", "AIMessage", "AIMessageChunk", "bot":
		return "assistant"
	case "SystemMessage":
		return "system"
	case "function", "ToolMessage", "ToolMessageChunk", "FunctionMessage":
		return "tool"
	}
	return s
}

func one(v value.Value) []Message {
	if v.Kind() == value.String {
		return Read(v)
	}
	if v.Kind() != value.Object {
		return nil
	}
	if v.At("type").Str() == "constructor" && v.At("kwargs").Kind() == value.Object {
		return langchain(className(v.At("id")), v.At("kwargs"))
	}
	if data := v.At("data"); data.Kind() == value.Object && v.Has("type") && !v.Has("role") {
		return langchain(v.At("type").Str(), data)
	}
	role := v.At("role").Str()
	if role == "" {
		switch t := v.At("type").Str(); t {
		case "human", "ai", "system", "tool", "function":
			return langchain(t, v)
		case "message":
			role = "assistant"
		case "":
			if inner := v.At("message"); inner.Kind() == value.Object {
				return withFinish(one(inner), v)
			}
			if !v.Has("content") && !v.Has("parts") {
				return loose(v)
			}
		default:
			return loose(v)
		}
	}
	m := Message{Role: Role(role), Name: v.At("name").Str(), FinishReason: finish(v)}
	if m.Role == "tool" {
		m.Parts = toolParts(v)
		if len(m.Parts) > 0 && m.Parts[0].Name != "" {
			m.Name = ""
		}
		return []Message{m}
	}
	m.Parts = append(reasoningOf(v), content(v.First("parts", "content"))...)
	if len(m.Parts) == 0 {
		m.Parts = content(v.At("contents"))
	}
	found := calls(v, m.Parts)
	if len(found) == 0 {
		// LangChain's messages of OpenAI keep the provider's calls so.
		found = calls(v.At("additional_kwargs"), m.Parts)
	}
	m.Parts = append(m.Parts, found...)
	if onlyReplies(m.Parts) {
		m.Role = "tool"
	}
	return []Message{m}
}

// onlyReplies reports whether a message holds nothing but tool results, which
// some providers send as the user.
func onlyReplies(parts []Part) bool {
	for _, p := range parts {
		if p.Type != ToolReply {
			return false
		}
	}
	return len(parts) > 0
}

// loose wraps an item that is a part rather than a message, as the OpenAI
// Responses API lists them.
func loose(v value.Value) []Message {
	p := part(v)
	role := "assistant"
	if p.Type == ToolReply {
		role = "tool"
	}
	return []Message{{Role: role, Parts: []Part{p}}}
}

func withFinish(ms []Message, v value.Value) []Message {
	if f := finish(v); f != "" && len(ms) > 0 && ms[len(ms)-1].FinishReason == "" {
		ms[len(ms)-1].FinishReason = f
	}
	return ms
}

func finish(v value.Value) string {
	return v.First("finish_reason", "finishReason", "stop_reason").Str()
}

func className(id value.Value) string {
	if items := id.Items(); len(items) > 0 {
		return items[len(items)-1].Str()
	}
	return ""
}

// langchain reads a LangChain message: class or type name and its fields.
func langchain(class string, v value.Value) []Message {
	m := Message{Role: Role(class), FinishReason: finish(v.At("response_metadata"))}
	if m.Role == "tool" {
		m.Parts = toolParts(v)
		return []Message{m}
	}
	m.Parts = append(m.Parts, content(v.At("content"))...)
	m.Parts = append(m.Parts, calls(v, m.Parts)...)
	return []Message{m}
}

func reasoningOf(v value.Value) []Part {
	if s := v.First("reasoning_content", "reasoning").Str(); s != "" && v.Has("role") {
		return []Part{{Type: Reasoning, Text: s}}
	}
	return nil
}

func content(v value.Value) []Part {
	switch v.Kind() {
	case value.String:
		if v.Str() == "" {
			return nil
		}
		return []Part{{Type: Text, Text: v.Str()}}
	case value.Array:
		parts := make([]Part, 0, len(v.Items()))
		for _, item := range v.Items() {
			parts = append(parts, part(item))
		}
		return parts
	case value.Object:
		if parts := v.At("parts"); parts.Kind() == value.Array {
			return content(parts)
		}
		return []Part{part(v)}
	}
	return nil
}

// calls reads tool calls that stand beside the content, leaving out those the
// content already holds.
func calls(v value.Value, have []Part) []Part {
	var out []Part
	for _, item := range v.First("tool_calls", "toolCalls").Items() {
		if item.Kind() == value.String {
			parsed, err := value.Parse(item.Str())
			if err != nil {
				continue
			}
			item = parsed
		}
		p := call(item)
		if p.Name == "" && p.ID == "" || holds(have, p) {
			continue
		}
		out = append(out, p)
	}
	if fc := v.At("function_call"); fc.Kind() == value.Object && len(out) == 0 && fc.Has("name") {
		out = append(out, call(fc))
	}
	if name := v.At("function_call_name").Str(); name != "" && len(out) == 0 {
		p := Part{Type: ToolCall, Name: name}
		p.SetArgs(v.At("function_call_arguments_json"))
		out = append(out, p)
	}
	if more := v.At("additional_kwargs"); len(out) == 0 && more.Kind() == value.Object && !more.Has("additional_kwargs") {
		// LangChain keeps the provider's own calls there.
		out = calls(more, have)
	}
	return out
}

func holds(have []Part, p Part) bool {
	for _, h := range have {
		if h.Type == ToolCall && h.ID == p.ID && h.Name == p.Name && (p.ID != "" || h.Args.JSON() == p.Args.JSON()) {
			return true
		}
	}
	return false
}

// toolParts reads a message of role tool. It may hold one reply as its plain
// content, or several as parts.
func toolParts(v value.Value) []Part {
	id := v.First("tool_call_id", "toolCallId", "tool_use_id", "call_id").Str()
	if id == "" && !v.Has("role") || id == "" && v.Has("id", "content") {
		id = v.At("id").Str()
	}
	body := v.First("parts", "content")
	if body.Kind() == value.Array {
		parts := content(body)
		for i := range parts {
			if parts[i].Type == ToolReply || parts[i].Type == ToolCall {
				return parts
			}
		}
		if text, ok := joined(parts); ok {
			body = value.Str(text)
		}
	}
	return []Part{{
		Type: ToolReply, ID: id, Name: v.First("name", "tool_name", "toolName").Str(), Result: body,
		Failed: v.At("status").Str() == "error" || v.At("is_error").Truthy(),
	}}
}

// joined is the text of parts that are all text.
func joined(parts []Part) (string, bool) {
	var texts []string
	for _, p := range parts {
		if p.Type != Text {
			return "", false
		}
		texts = append(texts, p.Text)
	}
	return strings.Join(texts, ""), len(parts) > 0
}
