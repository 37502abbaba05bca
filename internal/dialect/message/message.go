// Package message reads the message arrays that model providers and agent
// frameworks write into one neutral shape:
//
//	{"role": "system" | "user" | "assistant" | "tool" | …,
//	 "name": …,
//	 "parts": [
//	   {"type": "text", "content": "…"},
//	   {"type": "reasoning", "content": "…"},
//	   {"type": "tool_call", "id": …, "name": …, "arguments": {…}},
//	   {"type": "tool_call_response", "id": …, "name": …, "result": …, "failed": true},
//	   {"type": "media", "value": {…}},
//	   {"type": "other", "value": {…}}],
//	 "finish_reason": …}
//
// Members without a value are left out; failed is there only where the message
// itself says so, and a reasoning part keeps the provider's signature. A tool result stays as it was given to
// the model: a string stays a string. What has no neutral form is kept whole
// under "value", never dropped.
//
// Readable shapes: OpenTelemetry GenAI parts, OpenAI chat and Responses items,
// Anthropic and Bedrock blocks, Gemini contents, LangChain serialised and
// plain messages, Vercel AI SDK parts. A message array may mix them. Reading
// costs one pass; nothing panics on foreign input.
package message

import (
	"slices"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

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

	// form is shared by all readings of the same element, nil of a message that
	// was read from none or changed since.
	form   *Form
	shared bool
}

// WithFinish is the message with another finish reason.
func (m Message) WithFinish(reason string) Message {
	m.FinishReason, m.form, m.shared = reason, nil, false
	return m
}

// Append appends the neutral JSON array of messages to dst.
func Append(dst []byte, ms []Message) []byte {
	size := 2
	for i := range ms {
		size += len(ms[i].Text()) + 1
	}
	dst = append(slices.Grow(dst, size), '[')
	for i := range ms {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = ms[i].Append(dst)
	}
	return append(dst, ']')
}

// Append appends the neutral JSON form to dst.
func (m *Message) Append(dst []byte) []byte {
	if text := m.Text(); text != nil {
		return append(dst, text...)
	}
	dst = append(dst, `{"role":`...)
	dst = value.AppendString(dst, m.Role)
	dst = member(dst, "name", m.Name)
	dst = append(dst, `,"parts":[`...)
	for i := range m.Parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = m.Parts[i].Append(dst)
	}
	dst = append(dst, ']')
	dst = member(dst, "finish_reason", m.FinishReason)
	return append(dst, '}')
}

// member appends a member of a JSON object unless it is "".
func member(dst []byte, name, s string) []byte {
	if s == "" {
		return dst
	}
	dst = append(append(append(dst, `,"`...), name...), `":`...)
	return value.AppendString(dst, s)
}

// Append appends the neutral JSON form to dst.
func (p *Part) Append(dst []byte) []byte {
	dst = append(dst, `{"type":"`...)
	dst = append(append(dst, p.Type...), '"')
	switch p.Type {
	case Text, Reasoning:
		dst = value.AppendString(append(dst, `,"content":`...), p.Text)
		if sig := p.Raw.First("signature", "encrypted_content", "data"); !sig.IsNull() {
			dst = sig.Append(append(dst, `,"signature":`...))
		}
	case ToolCall:
		dst = member(member(dst, "id", p.ID), "name", p.Name)
		dst = p.Args.Append(append(dst, `,"arguments":`...))
	case ToolReply:
		dst = member(member(dst, "id", p.ID), "name", p.Name)
		dst = p.Result.Append(append(dst, `,"result":`...))
		if p.Failed {
			dst = append(dst, `,"failed":true`...)
		}
	default:
		dst = p.Raw.Append(append(dst, `,"value":`...))
	}
	return append(dst, '}')
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
		// So some models call a tool that takes none.
		p.Args = value.Obj()
		return
	}
	if parsed, err := value.Parse(p.ArgsText); err == nil {
		p.Args = parsed
	}
}
