package llm

import (
	"errors"
	"net/http"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// Gemini is POST /v1beta/models/MODEL:generateContent and streamGenerateContent.
// The model and whether to stream stand in the path, which is the caller's to
// read.
type Gemini struct{}

// Name is for reports.
func (Gemini) Name() string { return "Gemini" }

// Read reads the body of a request.
func (Gemini) Read(body value.Value) (*Request, error) {
	contents := body.At("contents")
	if contents.Kind() == value.Object {
		contents = value.List(contents)
	}
	if contents.Kind() != value.Array {
		return nil, errors.New("contents is not specified")
	}
	config := body.First("generationConfig", "generation_config")
	q := &Request{
		Body: body, Usage: true, System: systemOf(body.First("systemInstruction", "system_instruction")),
		Messages: message.Read(contents), Params: params(config), Choices: choices(config.First("candidateCount", "candidate_count")),
	}
	for i := range q.Messages {
		if q.Messages[i].Role == "" {
			q.Messages[i] = message.Message{Role: "user", Parts: q.Messages[i].Parts}
		}
	}
	for _, group := range body.At("tools").Items() {
		declared := group.First("functionDeclarations", "function_declarations").Items()
		for _, f := range declared {
			q.Tools = append(q.Tools, toolOf(f.At("name"), f.At("description"), f.First("parameters", "parametersJsonSchema")))
		}
		if declared == nil {
			for _, m := range group.Members() {
				q.Tools = append(q.Tools, toolOf(value.Str(m.Name), value.Value{}, value.Value{}))
			}
		}
	}
	return q, nil
}

var geminiReasons = map[stop]string{
	stopEnd: "STOP", stopLength: "MAX_TOKENS", stopTools: "STOP", stopFilter: "SAFETY", stopSequence: "STOP",
	stopRefusal: "SAFETY", stopPause: "STOP",
}

// Loses says what of a part the protocol has no place for.
func (Gemini) Loses(p *message.Part) string {
	switch {
	case p.Type == message.Reasoning && redactedThinking(p):
		return "encrypted reasoning"
	case p.Type == message.Other && !geminiPart(p.Raw), p.Type == message.Media && !p.Raw.Has("inlineData"):
		return "parts that are no text"
	}
	return ""
}

// geminiPart reports a part that the record keeps in this protocol's own form.
func geminiPart(v value.Value) bool {
	return v.Has("executableCode") || v.Has("codeExecutionResult") || v.Has("inlineData")
}

// parts are the parts of an answer, texts whole.
func (Gemini) parts(m *message.Message) (out []value.Value) {
	for i := range m.Parts {
		switch p := &m.Parts[i]; {
		case p.Type == message.Text:
			out = append(out, value.Obj(value.M("text", value.Str(p.Text))))
		case p.Type == message.Reasoning && p.Text != "":
			out = append(out, value.Obj(value.M("text", value.Str(p.Text)), value.M("thought", value.Boolean(true))))
		case p.Type == message.ToolCall:
			args := p.Args
			if args.Kind() != value.Object {
				args = value.Obj()
			}
			out = append(out, value.Obj(value.M("functionCall", value.Obj(
				value.M("id", value.Str(p.ID)), value.M("name", value.Str(p.Name)), value.M("args", args)))))
		case geminiPart(p.Raw):
			out = append(out, p.Raw)
		}
	}
	return out
}

// response is a body of some candidates.
func (Gemini) response(q *Request, a *Answer, candidates []value.Value, last bool) value.Value {
	members := []value.Member{value.M("candidates", value.List(candidates...))}
	if u := &a.Usage; last && u.Known() {
		usage := []value.Member{
			value.M("promptTokenCount", count(u.Input)), value.M("candidatesTokenCount", count(u.Output)),
			value.M("totalTokenCount", value.Int(orZero(u.Input)+orZero(u.Output)+orZero(u.Reasoning))),
		}
		if u.CacheRead != nil {
			usage = append(usage, value.M("cachedContentTokenCount", count(u.CacheRead)))
		}
		if u.Reasoning != nil {
			usage = append(usage, value.M("thoughtsTokenCount", count(u.Reasoning)))
		}
		members = append(members, value.M("usageMetadata", value.Obj(usage...)))
	}
	model := a.Model
	if model == "" {
		model = q.Model
	}
	return value.Obj(append(members, value.M("modelVersion", value.Str(model)), value.M("responseId", value.Str(a.id("tape-"))))...)
}

func candidate(index int, parts []value.Value, finish string) value.Value {
	members := []value.Member{
		value.M("content", value.Obj(value.M("parts", value.List(parts...)), value.M("role", value.Str("model")))),
	}
	if finish != "" {
		members = append(members, value.M("finishReason", value.Str(finish)))
	}
	return value.Obj(append(members, value.M("index", value.Int(int64(index))))...)
}

// Write writes an answer as one body.
func (c Gemini) Write(q *Request, a *Answer) value.Value {
	a.losses(c)
	a.rebuilt("id and time of the response")
	list := make([]value.Value, len(a.Choices))
	for i := range a.Choices {
		list[i] = candidate(i, c.parts(&a.Choices[i]), a.reason(&a.Choices[i], geminiReasons))
	}
	return c.response(q, a, list, true)
}

// Stream gives the events of an answer. A function call comes whole, and so does
// everything but text.
func (c Gemini) Stream(q *Request, a *Answer, emit Emit) error {
	a.losses(c)
	a.rebuilt("id and time of the response")
	a.rebuilt("borders of chunks")
	for i := range a.Choices {
		var held []value.Value
		flush := func(next value.Value) error {
			if held != nil {
				if err := emit("", c.response(q, a, []value.Value{candidate(i, held, "")}, false)); err != nil {
					return err
				}
			}
			held = []value.Value{next}
			return nil
		}
		for _, part := range c.parts(&a.Choices[i]) {
			if part.At("text").Kind() != value.String {
				if err := flush(part); err != nil {
					return err
				}
				continue
			}
			err := pieces(part.At("text").Str(), func(s string) error { return flush(part.With("text", value.Str(s))) })
			if err != nil {
				return err
			}
		}
		last := candidate(i, held, a.reason(&a.Choices[i], geminiReasons))
		if err := emit("", c.response(q, a, []value.Value{last}, i == len(a.Choices)-1)); err != nil {
			return err
		}
	}
	return nil
}

// Refuse is the body of an error.
func (Gemini) Refuse(f *Failure) value.Value {
	if !f.Body.IsNull() {
		return f.Body
	}
	status := f.Type
	if status == "" {
		status = geminiStatuses[f.Status]
	}
	if status == "" {
		status = "FAILED_PRECONDITION"
	}
	members := []value.Member{
		value.M("code", value.Int(int64(f.Status))), value.M("message", value.Str(withURL(f))), value.M("status", value.Str(status)),
	}
	if f.Code != "" {
		members = append(members, value.M("details", value.List(value.Obj(
			value.M("@type", value.Str("type.googleapis.com/google.rpc.ErrorInfo")), value.M("reason", value.Str(f.Code)),
			value.M("metadata", value.Obj(value.M("url", value.Str(f.URL))))))))
	}
	return value.Obj(value.M("error", value.Obj(members...)))
}

var geminiStatuses = map[int]string{
	http.StatusBadRequest: "INVALID_ARGUMENT", http.StatusUnauthorized: "UNAUTHENTICATED", http.StatusForbidden: "PERMISSION_DENIED",
	http.StatusNotFound: "NOT_FOUND", http.StatusTooManyRequests: "RESOURCE_EXHAUSTED", http.StatusInternalServerError: "INTERNAL",
	http.StatusServiceUnavailable: "UNAVAILABLE", http.StatusGatewayTimeout: "DEADLINE_EXCEEDED",
}
