// Package message reads the message arrays that model providers and agent
// frameworks write into one neutral shape:
//
//	{"role": "system" | "user" | "assistant" | "tool" | …,
//	 "name": …,
//	 "parts": [
//	   {"type": "text", "content": "…"},
//	   {"type": "reasoning", "content": "…"},
//	   {"type": "tool_call", "id": …, "name": …, "arguments": {…}},
//	   {"type": "tool_call_response", "id": …, "name": …, "result": …},
//	   {"type": "media", "value": {…}},
//	   {"type": "other", "value": {…}}],
//	 "finish_reason": …}
//
// Members without a value are left out. A tool result stays as it was given to
// the model: a string stays a string. What has no neutral form is kept whole
// under "value", never dropped.
//
// Readable shapes: OpenTelemetry GenAI parts, OpenAI chat and Responses items,
// Anthropic and Bedrock blocks, Gemini contents, LangChain serialised and
// plain messages, Vercel AI SDK parts. A message array may mix them. Reading
// costs one pass; nothing panics on foreign input.
package message

import "github.com/tapedeck/tapedeck/internal/dialect/value"

// Type is the type of a part.
type Type string

// The types of a part.
const (
	Text      Type = "text"
	Reasoning Type = "reasoning"
	ToolCall  Type = "tool_call"
	ToolReply Type = "tool_call_response"
	Media     Type = "media"
	Other     Type = "other"
)

// Part is one part of a message.
type Part struct {
	Type Type
	// Text is the content of a text or reasoning part.
	Text string
	// ID and Name belong to tool calls and replies; either may be "".
	ID   string
	Name string
	// Args are the arguments of a tool call. ArgsText is their verbatim text
	// where they came as text.
	Args     value.Value
	ArgsText string
	// Result is what a reply gave to the model.
	Result value.Value
	// Failed is set where the reply itself says that the call failed.
	Failed bool
	// Raw is the part as it came, for media, other and signed reasoning.
	Raw value.Value
}

// Message is one message of a conversation.
type Message struct {
	Role         string
	Name         string
	Parts        []Part
	FinishReason string
}

// Value is the neutral JSON form.
func (m Message) Value() value.Value {
	parts := make([]value.Value, 0, len(m.Parts))
	for _, p := range m.Parts {
		parts = append(parts, p.Value())
	}
	members := []value.Member{value.M("role", value.Str(m.Role))}
	if m.Name != "" {
		members = append(members, value.M("name", value.Str(m.Name)))
	}
	members = append(members, value.M("parts", value.List(parts...)))
	if m.FinishReason != "" {
		members = append(members, value.M("finish_reason", value.Str(m.FinishReason)))
	}
	return value.Obj(members...)
}

// Value is the neutral JSON form.
func (p Part) Value() value.Value {
	members := []value.Member{value.M("type", value.Str(string(p.Type)))}
	add := func(name, s string) {
		if s != "" {
			members = append(members, value.M(name, value.Str(s)))
		}
	}
	switch p.Type {
	case Text, Reasoning:
		members = append(members, value.M("content", value.Str(p.Text)))
		if sig := p.Raw.First("signature", "encrypted_content", "data"); !sig.IsNull() {
			members = append(members, value.M("signature", sig))
		}
	case ToolCall:
		add("id", p.ID)
		add("name", p.Name)
		members = append(members, value.M("arguments", p.Args))
	case ToolReply:
		add("id", p.ID)
		add("name", p.Name)
		members = append(members, value.M("result", p.Result))
		if p.Failed {
			members = append(members, value.M("failed", value.Boolean(true)))
		}
	default:
		members = append(members, value.M("value", p.Raw))
	}
	return value.Obj(members...)
}

// Values is the neutral JSON array of messages.
func Values(ms []Message) value.Value {
	out := make([]value.Value, 0, len(ms))
	for _, m := range ms {
		out = append(out, m.Value())
	}
	return value.List(out...)
}

// SetArgs sets the arguments of a tool call from what stood in their place:
// an object, or its JSON text, which providers use on the wire.
func (p *Part) SetArgs(v value.Value) {
	p.Args = v
	if v.Kind() != value.String {
		return
	}
	p.ArgsText = v.Str()
	if p.ArgsText == "" {
		p.Args = value.Value{}
		return
	}
	if parsed, err := value.Parse(p.ArgsText); err == nil {
		p.Args = parsed
	}
}
