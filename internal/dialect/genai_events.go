package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// genAIEvents recognises model spans that have no operation name but carry
// content events, as the first versions of the conventions wrote them.
type genAIEvents struct{}

func (genAIEvents) Name() string { return "otel_genai_events" }

func (genAIEvents) Kind(s *Span) (Kind, bool) {
	if s.op != "" || s.oi != "" || s.Events().Len() == 0 {
		return KindOther, false
	}
	for i := range s.Events().Len() {
		switch s.Events().At(i).Name() {
		case "gen_ai.content.prompt", "gen_ai.content.completion", "gen_ai.choice":
			return KindModel, true
		}
	}
	return KindOther, false
}

func (genAIEvents) Read(s *Span) Call {
	c := Call{Fix: genAIFix, Tool: "chat"}
	genAIModel(s, &c)
	return c
}

// Log is a span event or a log record.
type Log struct {
	Name  string
	Attrs pcommon.Map
	Body  value.Value
	Nanos int64
	// Observed is when a log record was seen, in Unix nanoseconds.
	Observed int64

	// Where a log record comes from and what it names, zero for span events.
	Resource pcommon.Resource
	Scope    string
	Trace    pcommon.TraceID
	Span     pcommon.SpanID
}

// events are the span's own events and its log records.
func (s *Span) events() []Log {
	out := make([]Log, 0, s.Events().Len()+len(s.Logs))
	for i := range s.Events().Len() {
		e := s.Events().At(i)
		l := Log{Name: e.Name(), Attrs: e.Attributes(), Nanos: int64(e.Timestamp())}
		if v, ok := e.Attributes().Get("gen_ai.event.content"); ok {
			l.Body = parsed(fromAttr(v))
		} else {
			l.Body = attrsValue(e.Attributes())
		}
		out = append(out, l)
	}
	return append(out, s.Logs...)
}

func attrsValue(m pcommon.Map) value.Value {
	members := make([]value.Member, 0, m.Len())
	for k, v := range m.All() {
		members = append(members, value.M(k, fromAttr(v)))
	}
	return value.Obj(members...)
}

// readEvents reads messages that came as events, unless attributes had them.
func readEvents(s *Span, c *Call) {
	if s.Events().Len() > 0 || len(s.Logs) > 0 {
		c.events(s.events())
	}
}

// events takes messages from events into what has none yet.
func (c *Call) events(events []Log) {
	var in, out, system []message.Message
	for _, e := range events {
		switch e.Name {
		case "gen_ai.content.prompt":
			in = append(in, message.Read(parsed(e.Body.At("gen_ai.prompt")))...)
		case "gen_ai.content.completion":
			out = append(out, message.Read(parsed(e.Body.At("gen_ai.completion")))...)
		case "gen_ai.system.message":
			system = append(system, eventMessage("system", e.Body)...)
		case "gen_ai.user.message":
			in = append(in, eventMessage("user", e.Body)...)
		case "gen_ai.assistant.message":
			in = append(in, eventMessage("assistant", e.Body)...)
		case "gen_ai.tool.message":
			in = append(in, eventMessage("tool", e.Body)...)
		case "gen_ai.choice":
			out = append(out, choice(e.Body)...)
		case "gen_ai.client.inference.operation.details":
			in = append(in, message.Read(parsed(detail(e, "gen_ai.input.messages")))...)
			out = append(out, message.Read(parsed(detail(e, "gen_ai.output.messages")))...)
			system = append(system, systemOf(parsed(detail(e, "gen_ai.system_instructions")))...)
		}
	}
	if len(c.Input) == 0 && len(in) > 0 {
		c.Input, c.Request = in, Content{Grade: Rebuilt}
	}
	if len(c.Output) == 0 && len(out) > 0 {
		c.Output, c.Response = out, Content{Grade: Rebuilt}
	}
	if len(c.System) == 0 {
		c.System = system
	}
}

// readToolEvents reads the arguments and the result of a tool call that came
// as events of its own span.
func readToolEvents(s *Span, c *Call) {
	if s.Events().Len() == 0 || c.Args.Present() && c.Result.Present() {
		return
	}
	for _, e := range s.events() {
		switch e.Name {
		case "gen_ai.tool.message":
			args, _ := decodeArgs(contentValue(e.Body.At("content"), pythonText))
			c.Args.fill(args)
		case "gen_ai.choice":
			if !c.Result.Present() {
				c.setResult(decodeResult(contentValue(e.Body.At("message"), jsonText), false))
			}
		case "gen_ai.client.inference.operation.details":
			for _, key := range [...]string{"gen_ai.input.messages", "gen_ai.output.messages"} {
				for _, m := range message.Read(parsed(detail(e, key))) {
					c.fromParts(m.Parts)
				}
			}
		}
	}
}

// fromParts takes a call's own arguments and result from message parts.
func (c *Call) fromParts(parts []message.Part) {
	for i := range parts {
		switch p := &parts[i]; p.Type {
		case message.ToolCall:
			args := argsOf(*p)
			args.FromMessages = false
			c.Args.fill(args)
		case message.ToolReply:
			if !c.Result.Present() {
				result := replyContent(p)
				result.FromMessages = false
				c.setResult(decodeResult(result, false))
			}
		}
	}
}

// contentValue is a value as content: text as text, anything else as rebuilt.
func contentValue(v value.Value, enc encoding) Content {
	switch v.Kind() {
	case value.Null:
		return Content{}
	case value.String:
		return contentText(v.Str(), enc)
	}
	return Content{Value: v, Grade: Rebuilt}
}

// detail is a member of an event that may stand in its attributes or its body.
func detail(e Log, key string) value.Value {
	if v, ok := e.Body.Get(key); ok {
		return v
	}
	if v, ok := e.Attrs.Get(key); ok {
		return fromAttr(v)
	}
	return value.Value{}
}

// eventMessage reads the body of a per-message event, whose role is its name.
func eventMessage(role string, body value.Value) []message.Message {
	content := parsedBlocks(body.At("content"))
	v := body.With("role", value.Str(role)).With("content", content)
	if role == "tool" && !v.Has("tool_call_id") {
		if id := v.At("id").Str(); id != "" {
			v = v.With("tool_call_id", value.Str(id))
		}
	}
	return message.Read(v)
}

// choice reads a completion event: the message and its finish reason.
func choice(body value.Value) []message.Message {
	if body.Kind() == value.Array {
		// Semantic Kernel for .NET lists the choices.
		var out []message.Message
		for _, item := range body.Items() {
			out = append(out, choice(item)...)
		}
		return out
	}
	v := body.At("message")
	switch v.Kind() {
	case value.Object:
	case value.Null:
		v = body
	default:
		v = value.Obj(value.M("content", parsedBlocks(v)), value.M("tool_calls", parsed(body.At("tool_calls"))))
	}
	if v.At("role").Str() == "" {
		v = v.With("role", value.Str("assistant"))
	}
	if f := body.At("finish_reason"); !f.IsNull() && !v.Has("finish_reason") {
		v = v.With("finish_reason", f)
	}
	return message.Read(v)
}

// parsedBlocks is text as content blocks where it holds an array of them: some
// frameworks write the blocks of a message as JSON text.
func parsedBlocks(v value.Value) value.Value {
	if strings.HasPrefix(strings.TrimSpace(v.Str()), "[") {
		if inner := parsed(v); len(inner.Items()) > 0 && inner.Items()[0].Kind() == value.Object {
			return inner
		}
	}
	return v
}
