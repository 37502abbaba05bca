package llm

import (
	"errors"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// OpenAIResponses is POST /v1/responses.
type OpenAIResponses struct{}

// Name is for reports.
func (OpenAIResponses) Name() string { return "OpenAI Responses" }

// Read reads the body of a request.
func (OpenAIResponses) Read(body value.Value) (*Request, error) {
	input := body.At("input")
	if k := input.Kind(); k != value.String && k != value.Array {
		return nil, errors.New(`member "input" is neither text nor an array`)
	}
	q := &Request{
		Body: body, Model: body.At("model").Str(), Stream: body.At("stream").Truthy(), Usage: true, Choices: 1,
		System: systemOf(body.At("instructions")), Messages: message.Read(input), Params: params(body),
		Tools: openAITools(body.At("tools")), Previous: body.At("previous_response_id").Str(),
	}
	if effort := body.At("reasoning").At("effort"); !effort.IsNull() {
		q.Params = append(q.Params, value.M("reasoning_effort", effort))
	}
	return q, nil
}

// Loses says what of a part the protocol has no place for.
func (OpenAIResponses) Loses(p *message.Part) string {
	if p.Type == message.Media || p.Type == message.Other && p.Raw.At("type").Str() == "" {
		return "parts that are no text"
	}
	return ""
}

// items are the output items of an answer, in order. Texts that follow each other
// are one message.
func (OpenAIResponses) items(a *Answer) (out []value.Value) {
	m := &a.Choices[0]
	refused := a.stopped(m) == stopRefusal
	var content []value.Value
	flush := func() {
		if content != nil {
			out = append(out, value.Obj(
				value.M("id", value.Str(a.id("msg_", len(out)))), value.M("type", value.Str("message")), value.M("status", value.Str("completed")),
				value.M("content", value.List(content...)), value.M("role", value.Str("assistant"))))
			content = nil
		}
	}
	for i := range m.Parts {
		p := &m.Parts[i]
		if p.Type != message.Text {
			flush()
		}
		switch p.Type {
		case message.Text:
			if refused {
				content = append(content, value.Obj(value.M("type", value.Str("refusal")), value.M("refusal", value.Str(p.Text))))
				continue
			}
			content = append(content, value.Obj(
				value.M("type", value.Str("output_text")), value.M("annotations", value.List()), value.M("logprobs", value.List()), value.M("text", value.Str(p.Text))))
		case message.Reasoning:
			out = append(out, reasoningItem(a, p, len(out)))
		case message.ToolCall:
			out = append(out, value.Obj(
				value.M("id", value.Str(a.id("fc_", len(out)))), value.M("type", value.Str("function_call")), value.M("status", value.Str("completed")),
				value.M("arguments", value.Str(argsText(p))), value.M("call_id", value.Str(p.ID)), value.M("name", value.Str(p.Name))))
		case message.ToolReply:
			out = append(out, value.Obj(
				value.M("id", value.Str(a.id("fco_", len(out)))), value.M("type", value.Str("function_call_output")), value.M("status", value.Str("completed")),
				value.M("call_id", value.Str(p.ID)), value.M("output", p.Result)))
		case message.Other:
			if p.Raw.At("type").Str() != "" {
				out = append(out, p.Raw)
			}
		}
	}
	flush()
	return out
}

func reasoningItem(a *Answer, p *message.Part, at int) value.Value {
	var summary []value.Value
	if p.Text != "" {
		summary = []value.Value{value.Obj(value.M("type", value.Str("summary_text")), value.M("text", value.Str(p.Text)))}
	}
	members := []value.Member{
		value.M("id", value.Str(a.id("rs_", at))), value.M("type", value.Str("reasoning")), value.M("summary", value.List(summary...)),
	}
	if sig := signature(p); sig != "" {
		members = append(members, value.M("encrypted_content", value.Str(sig)))
	}
	return value.Obj(members...)
}

// ID is the id of the response that an answer is.
func (OpenAIResponses) ID(a *Answer) string { return a.id("resp_") }

// response is the response object in some state.
func (c OpenAIResponses) response(q *Request, a *Answer, status string, output []value.Value) value.Value {
	model := a.Model
	if model == "" {
		model = q.Model
	}
	or := func(name string, instead value.Value) value.Member {
		if v := q.Body.At(name); !v.IsNull() {
			return value.M(name, v)
		}
		return value.M(name, instead)
	}
	none := value.Value{}
	incomplete, usage := none, none
	if status == "incomplete" {
		why := "max_output_tokens"
		if a.stopped(&a.Choices[0]) == stopFilter {
			why = "content_filter"
		}
		incomplete = value.Obj(value.M("reason", value.Str(why)))
	}
	if status != "in_progress" && a.Usage.Known() {
		usage = responsesUsage(&a.Usage)
	}
	return value.Obj(
		value.M("id", value.Str(c.ID(a))), value.M("object", value.Str("response")), value.M("created_at", value.Int(a.Created)),
		value.M("status", value.Str(status)), or("background", value.Boolean(false)), value.M("error", none), value.M("incomplete_details", incomplete),
		or("instructions", none), or("max_output_tokens", none), value.M("model", value.Str(model)), value.M("output", value.List(output...)),
		or("parallel_tool_calls", value.Boolean(true)), or("previous_response_id", none),
		or("reasoning", value.Obj(value.M("effort", none), value.M("summary", none))), or("store", value.Boolean(true)),
		or("temperature", value.Float(1)), or("text", value.Obj(value.M("format", value.Obj(value.M("type", value.Str("text")))))),
		or("tool_choice", value.Str("auto")), or("tools", value.List()), or("top_p", value.Float(1)), or("truncation", value.Str("disabled")),
		value.M("usage", usage), or("user", none), or("metadata", value.Obj()))
}

func responsesUsage(u *Usage) value.Value {
	return value.Obj(
		value.M("input_tokens", count(u.Input)), value.M("input_tokens_details", value.Obj(value.M("cached_tokens", count(u.CacheRead)))),
		value.M("output_tokens", count(u.Output)), value.M("output_tokens_details", value.Obj(value.M("reasoning_tokens", count(u.Reasoning)))),
		value.M("total_tokens", value.Int(orZero(u.Input)+orZero(u.Output))))
}

// status is that of a whole response.
func (OpenAIResponses) status(a *Answer) string {
	switch a.stopped(&a.Choices[0]) {
	case stopLength, stopFilter:
		return "incomplete"
	}
	return "completed"
}

func (c OpenAIResponses) prepare(a *Answer) {
	a.losses(c)
	a.rebuilt("id and time of the response")
	a.rebuilt("ids of output items")
	if !a.Usage.Known() {
		a.leftOut("token counts")
	}
}

// Write writes an answer as one body.
func (c OpenAIResponses) Write(q *Request, a *Answer) value.Value {
	c.prepare(a)
	return c.response(q, a, c.status(a), c.items(a))
}

// Refuse is the body of an error.
func (OpenAIResponses) Refuse(f *Failure) value.Value { return openAIError(f) }
