package llm

import (
	"errors"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// Anthropic is POST /v1/messages.
type Anthropic struct{}

// Name is for reports.
func (Anthropic) Name() string { return "Anthropic Messages" }

// Read reads the body of a request.
func (Anthropic) Read(body value.Value) (*Request, error) {
	if body.At("messages").Kind() != value.Array {
		return nil, errors.New("messages: Field required")
	}
	q := &Request{
		Body: body, Model: body.At("model").Str(), Stream: body.At("stream").Truthy(), Usage: true, Choices: 1,
		System: systemOf(body.At("system")), Messages: message.Read(body.At("messages")), Params: params(body),
	}
	for _, t := range body.At("tools").Items() {
		q.Tools = append(q.Tools, toolOf(t.First("name", "type"), t.At("description"), t.At("input_schema")))
	}
	return q, nil
}

// systemOf is a system prompt that stands beside the messages: text, parts, or an
// object of parts.
func systemOf(v value.Value) []message.Message {
	if v.IsNull() || v.Kind() == value.String && v.Str() == "" {
		return nil
	}
	if v.Kind() == value.Object {
		v = v.At("parts")
	}
	return message.Read(value.List(value.Obj(value.M("role", value.Str("system")), value.M("content", v))))
}

var anthropicReasons = map[stop]string{
	stopEnd: "end_turn", stopLength: "max_tokens", stopTools: "tool_use", stopFilter: "refusal", stopSequence: "stop_sequence",
	stopRefusal: "refusal", stopPause: "pause_turn",
}

// Loses says what of a part the protocol has no place for. Blocks that the record
// keeps as they came are Anthropic's own, or cannot be known to be.
func (Anthropic) Loses(p *message.Part) string {
	switch p.Type {
	case message.Media:
		return "media in an answer"
	case message.Other:
		if p.Raw.At("type").Str() == "" {
			return "parts of an unknown kind"
		}
	}
	return ""
}

// blocks are the content blocks of an answer, in order.
func (Anthropic) blocks(a *Answer) (out []value.Value) {
	kind := func(name string, members ...value.Member) {
		out = append(out, value.Obj(append([]value.Member{value.M("type", value.Str(name))}, members...)...))
	}
	parts := a.Choices[0].Parts
	for i := range parts {
		switch p := &parts[i]; p.Type {
		case message.Text:
			kind("text", value.M("text", value.Str(p.Text)))
		case message.Reasoning:
			sig := signature(p)
			if redactedThinking(p) {
				kind("redacted_thinking", value.M("data", value.Str(sig)))
				continue
			}
			if sig == "" {
				a.leftOut("signatures of thinking")
			}
			kind("thinking", value.M("thinking", value.Str(p.Text)), value.M("signature", value.Str(sig)))
		case message.ToolCall:
			args := p.Args
			if args.Kind() != value.Object {
				args = value.Obj()
			}
			kind("tool_use", value.M("id", value.Str(p.ID)), value.M("name", value.Str(p.Name)), value.M("input", args))
		case message.ToolReply:
			kind("tool_result", value.M("tool_use_id", value.Str(p.ID)), value.M("content", p.Result))
		case message.Other:
			if p.Raw.At("type").Str() != "" {
				out = append(out, p.Raw)
			}
		}
	}
	return out
}

func (Anthropic) head(q *Request, a *Answer, content []value.Value, reason, usage value.Value) value.Value {
	model := a.Model
	if model == "" {
		model = q.Model
	}
	return value.Obj(
		value.M("id", value.Str(a.id("msg_"))), value.M("type", value.Str("message")), value.M("role", value.Str("assistant")),
		value.M("model", value.Str(model)), value.M("content", value.List(content...)),
		value.M("stop_reason", reason), value.M("stop_sequence", value.Value{}), value.M("usage", usage))
}

// usage is the counts; the protocol has no way to say that they are not known.
func (Anthropic) usage(a *Answer, output int64) value.Value {
	if !a.Usage.Known() {
		a.leftOut("token counts")
	}
	u := &a.Usage
	members := []value.Member{value.M("input_tokens", count(u.Input))}
	if u.CacheWrite != nil {
		members = append(members, value.M("cache_creation_input_tokens", count(u.CacheWrite)))
	}
	if u.CacheRead != nil {
		members = append(members, value.M("cache_read_input_tokens", count(u.CacheRead)))
	}
	return value.Obj(append(members, value.M("output_tokens", value.Int(output)))...)
}

// Write writes an answer as one body.
func (c Anthropic) Write(q *Request, a *Answer) value.Value {
	a.losses(c)
	a.rebuilt("id and time of the response")
	reason := a.reason(&a.Choices[0], anthropicReasons)
	return c.head(q, a, c.blocks(a), value.Str(reason), c.usage(a, orZero(a.Usage.Output)))
}

// Stream gives the events of an answer.
func (c Anthropic) Stream(q *Request, a *Answer, emit Emit) error {
	a.losses(c)
	a.rebuilt("id and time of the response")
	a.rebuilt("borders of chunks")
	send := func(event string, members ...value.Member) error {
		return emit(event, value.Obj(append([]value.Member{value.M("type", value.Str(event))}, members...)...))
	}
	if err := send("message_start", value.M("message", c.head(q, a, nil, value.Value{}, c.usage(a, min(1, orZero(a.Usage.Output)))))); err != nil {
		return err
	}
	for i, block := range c.blocks(a) {
		index := value.M("index", value.Int(int64(i)))
		start, deltas := c.split(block)
		if err := send("content_block_start", index, value.M("content_block", start)); err != nil {
			return err
		}
		for _, d := range deltas {
			cut := pieces
			if d.whole {
				cut = func(s string, give func(string) error) error { return give(s) }
			}
			err := cut(d.text, func(s string) error {
				return send("content_block_delta", index, value.M("delta", value.Obj(value.M("type", value.Str(d.kind)), value.M(d.member, value.Str(s)))))
			})
			if err != nil {
				return err
			}
		}
		if err := send("content_block_stop", index); err != nil {
			return err
		}
	}
	delta := value.Obj(value.M("stop_reason", value.Str(a.reason(&a.Choices[0], anthropicReasons))), value.M("stop_sequence", value.Value{}))
	if err := send("message_delta", value.M("delta", delta), value.M("usage", c.usage(a, orZero(a.Usage.Output)))); err != nil {
		return err
	}
	return send("message_stop")
}

// delta is a text of a block that comes piece by piece, or whole where clients do
// not join the pieces.
type delta struct {
	kind, member, text string
	whole              bool
}

// split is a block as it starts, and what comes after.
func (Anthropic) split(block value.Value) (start value.Value, rest []delta) {
	switch block.At("type").Str() {
	case "text":
		return block.With("text", value.Str("")), []delta{{kind: "text_delta", member: "text", text: block.At("text").Str()}}
	case "thinking":
		return block.With("thinking", value.Str("")).With("signature", value.Str("")), []delta{
			{kind: "thinking_delta", member: "thinking", text: block.At("thinking").Str()},
			{kind: "signature_delta", member: "signature", text: block.At("signature").Str(), whole: true},
		}
	case "tool_use", "server_tool_use", "mcp_tool_use":
		return block.With("input", value.Obj()), []delta{{kind: "input_json_delta", member: "partial_json", text: block.At("input").JSON()}}
	}
	return block, nil
}

// Refuse is the body of an error.
func (Anthropic) Refuse(f *Failure) value.Value {
	if !f.Body.IsNull() {
		return f.Body
	}
	kind := f.Type
	if kind == "" {
		kind = anthropicTypes[f.Status]
	}
	if kind == "" {
		kind = "invalid_request_error"
	}
	members := []value.Member{value.M("type", value.Str(kind)), value.M("message", value.Str(withURL(f)))}
	if f.Code != "" {
		members = append(members, value.M("code", value.Str(f.Code)))
	}
	if f.URL != "" {
		members = append(members, value.M("url", value.Str(f.URL)))
	}
	return value.Obj(value.M("type", value.Str("error")), value.M("error", value.Obj(members...)))
}

var anthropicTypes = map[int]string{
	401: "authentication_error", 403: "permission_error", 404: "not_found_error", 413: "request_too_large",
	429: "rate_limit_error", 500: "api_error", 504: "timeout_error", 529: "overloaded_error",
}
