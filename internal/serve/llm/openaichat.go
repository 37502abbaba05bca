package llm

import (
	"errors"
	"fmt"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// OpenAIChat is POST /v1/chat/completions, of OpenAI and of the many that speak
// like it.
type OpenAIChat struct{}

// Name is for reports.
func (OpenAIChat) Name() string { return "OpenAI chat completions" }

// Read reads the body of a request.
func (OpenAIChat) Read(body value.Value) (*Request, error) {
	if body.At("messages").Kind() != value.Array {
		return nil, errors.New(`member "messages" is not an array`)
	}
	q := &Request{
		Body: body, Model: body.At("model").Str(), Stream: body.At("stream").Truthy(),
		Usage:    body.At("stream_options").At("include_usage").Truthy(),
		Messages: message.Read(body.At("messages")), Params: params(body), Choices: choices(body.At("n")),
	}
	refusals(q.Messages, body.At("messages").Items())
	q.Tools = openAITools(body.At("tools"))
	for _, f := range body.At("functions").Items() {
		q.Tools = append(q.Tools, toolOf(f.At("name"), f.At("description"), f.At("parameters")))
	}
	return q, nil
}

// choices is how many answers are asked for.
func choices(n value.Value) int {
	if n, ok := n.Int64(); ok && n > 1 {
		// No provider gives more; a larger number would only cost memory.
		return int(min(n, 128))
	}
	return 1
}

// refusals puts the refusals of a history back, which stand beside the content.
func refusals(ms []message.Message, items []value.Value) {
	if len(ms) != len(items) {
		return
	}
	for i, item := range items {
		if text := item.At("refusal").Str(); text != "" {
			parts := append([]message.Part{{Type: message.Text, Text: text}}, ms[i].Parts...)
			ms[i] = message.Message{Role: ms[i].Role, Name: ms[i].Name, Parts: parts}
		}
	}
}

func openAITools(v value.Value) (out []value.Value) {
	for _, t := range v.Items() {
		def := t
		if inner := t.At("function"); inner.Kind() == value.Object {
			def = inner
		} else if inner := t.At("custom"); inner.Kind() == value.Object {
			def = inner
		}
		out = append(out, toolOf(def.First("name", "type"), def.At("description"), def.At("parameters")))
	}
	return out
}

// toolOf is a tool definition as records hold it.
func toolOf(name, description, schema value.Value) value.Value {
	members := []value.Member{value.M("name", name)}
	if description.Str() != "" {
		members = append(members, value.M("description", description))
	}
	if !schema.IsNull() {
		members = append(members, value.M("schema", schema))
	}
	return value.Obj(members...)
}

var chatReasons = map[stop]string{
	stopEnd: "stop", stopLength: "length", stopTools: "tool_calls", stopFilter: "content_filter", stopSequence: "stop",
	stopRefusal: "content_filter", stopPause: "stop",
}

// Loses says what of a part the protocol has no place for.
func (OpenAIChat) Loses(p *message.Part) string {
	switch p.Type {
	case message.Reasoning:
		if redactedThinking(p) {
			return "encrypted reasoning"
		}
	case message.Media, message.Other:
		return "parts that are no text"
	}
	return ""
}

// turn is an answer as this API tells it: one text, one reasoning, the calls.
type turn struct {
	text, reasoning, refusal string
	calls                    []*message.Part
}

func turnOf(a *Answer, m *message.Message) (t turn) {
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Type {
		case message.Text:
			t.text += p.Text
		case message.Reasoning:
			t.reasoning += p.Text
		case message.ToolCall:
			t.calls = append(t.calls, p)
		}
	}
	if a.stopped(m) == stopRefusal {
		t.refusal, t.text = t.text, ""
	}
	return t
}

func (t *turn) content() value.Value {
	if t.text == "" && (len(t.calls) > 0 || t.refusal != "") {
		return value.Value{}
	}
	return value.Str(t.text)
}

func textOrNull(s string) value.Value {
	if s == "" {
		return value.Value{}
	}
	return value.Str(s)
}

// Write writes an answer as one body.
func (c OpenAIChat) Write(q *Request, a *Answer) value.Value {
	a.losses(c)
	a.rebuilt("id and time of the response")
	list := make([]value.Value, len(a.Choices))
	for i := range a.Choices {
		m := &a.Choices[i]
		t := turnOf(a, m)
		msg := []value.Member{
			value.M("role", value.Str("assistant")), value.M("content", t.content()), value.M("refusal", textOrNull(t.refusal)),
			value.M("annotations", value.List()),
		}
		if t.reasoning != "" {
			msg = append(msg, value.M(reasoningName(q), value.Str(t.reasoning)))
		}
		if len(t.calls) > 0 {
			msg = append(msg, callsMember(q, t.calls))
		}
		list[i] = value.Obj(
			value.M("index", value.Int(int64(i))), value.M("message", value.Obj(msg...)), value.M("logprobs", value.Value{}),
			value.M("finish_reason", value.Str(a.reason(m, chatWords(q)))))
	}
	members := c.head(q, a, "chat.completion")
	members = append(members, value.M("choices", value.List(list...)))
	if a.Usage.Known() {
		members = append(members, value.M("usage", chatUsage(&a.Usage)))
	}
	return value.Obj(append(members, value.M("system_fingerprint", value.Value{}))...)
}

// reasoningName is the member in which reasoning goes: OpenAI's own API gives
// none, and those that speak like it have two names for it. The client says which
// it knows once it repeats an answer.
func reasoningName(q *Request) string {
	for _, m := range q.Body.At("messages").Items() {
		if m.At("reasoning").Kind() == value.String {
			return "reasoning"
		}
	}
	return "reasoning_content"
}

// oldFunctions reports a client of the API before there were tools.
func oldFunctions(q *Request) bool {
	return q.Body.Has("functions") && !q.Body.Has("tools")
}

func chatWords(q *Request) map[stop]string {
	if !oldFunctions(q) {
		return chatReasons
	}
	words := map[stop]string{}
	for s, w := range chatReasons {
		words[s] = w
	}
	words[stopTools] = "function_call"
	return words
}

func callsMember(q *Request, calls []*message.Part) value.Member {
	if oldFunctions(q) {
		return value.M("function_call", value.Obj(value.M("name", value.Str(calls[0].Name)), value.M("arguments", value.Str(argsText(calls[0])))))
	}
	list := make([]value.Value, len(calls))
	for i, p := range calls {
		list[i] = value.Obj(
			value.M("id", value.Str(p.ID)), value.M("type", value.Str("function")),
			value.M("function", value.Obj(value.M("name", value.Str(p.Name)), value.M("arguments", value.Str(argsText(p))))))
	}
	return value.M("tool_calls", value.List(list...))
}

func (OpenAIChat) head(q *Request, a *Answer, object string) []value.Member {
	model := a.Model
	if model == "" {
		model = q.Model
	}
	return []value.Member{
		value.M("id", value.Str(a.id("chatcmpl-"))), value.M("object", value.Str(object)),
		value.M("created", value.Int(a.Created)), value.M("model", value.Str(model)),
	}
}

func chatUsage(u *Usage) value.Value {
	members := []value.Member{
		value.M("prompt_tokens", count(u.Input)), value.M("completion_tokens", count(u.Output)),
		value.M("total_tokens", value.Int(orZero(u.Input)+orZero(u.Output))),
	}
	if u.CacheRead != nil {
		members = append(members, value.M("prompt_tokens_details", value.Obj(value.M("cached_tokens", count(u.CacheRead)))))
	}
	if u.Reasoning != nil {
		members = append(members, value.M("completion_tokens_details", value.Obj(value.M("reasoning_tokens", count(u.Reasoning)))))
	}
	return value.Obj(members...)
}

// Stream gives the events of an answer. The last, [DONE], is the writer's.
func (c OpenAIChat) Stream(q *Request, a *Answer, emit Emit) error {
	a.losses(c)
	a.rebuilt("id and time of the response")
	a.rebuilt("borders of chunks")
	head := c.head(q, a, "chat.completion.chunk")
	chunk := func(choices []value.Value, usage value.Value) error {
		members := join(head, value.M("system_fingerprint", value.Value{}), value.M("choices", value.List(choices...)))
		if q.Usage {
			members = append(members, value.M("usage", usage))
		}
		return emit("", value.Obj(members...))
	}
	for i := range a.Choices {
		m := &a.Choices[i]
		send := func(delta []value.Member, finish value.Value) error {
			return chunk([]value.Value{value.Obj(
				value.M("index", value.Int(int64(i))), value.M("delta", value.Obj(delta...)),
				value.M("logprobs", value.Value{}), value.M("finish_reason", finish))}, value.Value{})
		}
		if err := c.deltas(q, a, m, func(delta ...value.Member) error { return send(delta, value.Value{}) }); err != nil {
			return err
		}
		if err := send(nil, value.Str(a.reason(m, chatWords(q)))); err != nil {
			return err
		}
	}
	if q.Usage {
		if !a.Usage.Known() {
			a.leftOut("token counts")
			return nil
		}
		return chunk(nil, chatUsage(&a.Usage))
	}
	return nil
}

// deltas gives one choice piece by piece.
func (OpenAIChat) deltas(q *Request, a *Answer, m *message.Message, send func(...value.Member) error) error {
	t := turnOf(a, m)
	first := []value.Member{value.M("role", value.Str("assistant")), value.M("content", value.Value{}), value.M("refusal", value.Value{})}
	if content := t.content(); !content.IsNull() {
		first[1] = value.M("content", value.Str(""))
	}
	if err := send(first...); err != nil {
		return err
	}
	for _, text := range []struct{ name, s string }{{reasoningName(q), t.reasoning}, {"refusal", t.refusal}, {"content", t.text}} {
		if err := pieces(text.s, func(s string) error { return send(value.M(text.name, value.Str(s))) }); err != nil {
			return err
		}
	}
	for n, p := range t.calls {
		part := func(function value.Value, more ...value.Member) error {
			if oldFunctions(q) {
				return send(value.M("function_call", function))
			}
			members := append([]value.Member{value.M("index", value.Int(int64(n)))}, more...)
			return send(value.M("tool_calls", value.List(value.Obj(append(members, value.M("function", function))...))))
		}
		err := part(value.Obj(value.M("name", value.Str(p.Name)), value.M("arguments", value.Str(""))),
			value.M("id", value.Str(p.ID)), value.M("type", value.Str("function")))
		if err != nil {
			return err
		}
		err = pieces(argsText(p), func(s string) error { return part(value.Obj(value.M("arguments", value.Str(s)))) })
		if err != nil {
			return err
		}
	}
	return nil
}

// Refuse is the body of an error.
func (OpenAIChat) Refuse(f *Failure) value.Value { return openAIError(f) }

func openAIError(f *Failure) value.Value {
	if !f.Body.IsNull() {
		return f.Body
	}
	kind := f.Type
	if kind == "" {
		kind = openAITypes[f.Status]
	}
	if kind == "" {
		kind = "invalid_request_error"
	}
	members := []value.Member{
		value.M("message", value.Str(withURL(f))), value.M("type", value.Str(kind)),
		value.M("param", value.Value{}), value.M("code", textOrNull(f.Code)),
	}
	if f.URL != "" {
		members = append(members, value.M("url", value.Str(f.URL)))
	}
	return value.Obj(value.M("error", value.Obj(members...)))
}

// withURL is the message of an error with where to read on.
func withURL(f *Failure) string {
	if f.URL == "" {
		return f.Message
	}
	return fmt.Sprintf("%s (%s)", f.Message, f.URL)
}

var openAITypes = map[int]string{
	401: "authentication_error", 403: "permission_error", 429: "rate_limit_error", 500: "server_error", 502: "server_error", 503: "server_error",
}
