package ingest

import (
	"encoding/json"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/tape"
)

// model is the span of a model call.
func (b *builder) model(i int, r *tape.Record) ptrace.Span {
	op := r.Tool
	// These are no operations of a model.
	if op == "" || op == "execute_tool" || op == "invoke_agent" {
		op = "chat"
	}
	s := b.span(b.ids[i], strings.TrimSpace(op+" "+r.Model), b.times[i])
	s.SetKind(ptrace.SpanKindClient)
	attrs := s.Attributes()
	attrs.PutStr("gen_ai.operation.name", op)
	putText(attrs, "gen_ai.request.model", r.Model)
	if b.holds(r, r.Args, true) {
		putRequest(attrs, r.Args)
	}
	if b.holds(r, r.Result, false) && len(r.Result) > 0 {
		putAnswer(attrs, r.Result)
	}
	return s
}

// putRequest writes a request: the neutral form of a tape, or that of a provider,
// of which all members but the messages and the tools are parameters.
func putRequest(attrs pcommon.Map, args json.RawMessage) {
	list := membersOf(args)
	if list == nil {
		name := dialect.RecordedInput
		if isArray(args) {
			name = "gen_ai.input.messages"
		}
		attrs.PutStr(name, jsonOf(args))
		return
	}
	for _, m := range list {
		switch m.name {
		case "system":
			attrs.PutStr("gen_ai.system_instructions", m.text())
		case "messages":
			attrs.PutStr("gen_ai.input.messages", m.text())
		case "tools":
			attrs.PutStr("gen_ai.tool.definitions", m.text())
		case "input":
			attrs.PutStr(dialect.RecordedInput, string(m.value))
		case "params":
			putMembers(attrs, m.value, "gen_ai.request.")
		default:
			putValue(attrs.PutEmpty("gen_ai.request."+m.name), m.value)
		}
	}
}

// usageNames are the attributes of the counts, by the names that a tape and the
// providers have for them.
var usageNames = map[string]string{
	"input_tokens":       "gen_ai.usage.input_tokens",
	"prompt_tokens":      "gen_ai.usage.input_tokens",
	"output_tokens":      "gen_ai.usage.output_tokens",
	"completion_tokens":  "gen_ai.usage.output_tokens",
	"cache_read_tokens":  "gen_ai.usage.cache_read.input_tokens",
	"cache_write_tokens": "gen_ai.usage.cache_creation.input_tokens",
	"reasoning_tokens":   "gen_ai.usage.reasoning.output_tokens",
}

// answerMembers are those that tell an answer from any other value.
var answerMembers = map[string]bool{"finish_reason": true, "stop_reason": true, "usage": true, "output": true}

// putAnswer writes an answer: the neutral form of a tape, or that of a provider.
// What is neither is the output as a whole.
func putAnswer(attrs pcommon.Map, result json.RawMessage) {
	var said []json.RawMessage
	known := false
	for _, m := range membersOf(result) {
		known = known || answerMembers[m.name]
		switch m.name {
		case "message":
			said = append(said, m.value)
		case "messages":
			said = append(said, elements(m.value)...)
		case "choices":
			for _, choice := range elements(m.value) {
				for _, c := range membersOf(choice) {
					switch c.name {
					case "message":
						said = append(said, c.value)
					case "finish_reason":
						putFinish(attrs, c)
					}
				}
			}
		case "role":
			// A message by itself, as providers without choices answer.
			said = append(said, result)
		case "finish_reason", "stop_reason":
			putFinish(attrs, m)
		case "model":
			putText(attrs, "gen_ai.response.model", m.text())
		case "usage":
			for _, u := range membersOf(m.value) {
				if name, ok := usageNames[u.name]; ok {
					putValue(attrs.PutEmpty(name), u.value)
				}
			}
		case "output":
			attrs.PutStr(dialect.RecordedOutput, string(m.value))
		}
	}
	if len(said) > 0 {
		text, err := json.Marshal(said)
		if err == nil {
			attrs.PutStr("gen_ai.output.messages", string(text))
		}
		return
	}
	if !known {
		attrs.PutStr(dialect.RecordedOutput, string(result))
	}
}

func putFinish(attrs pcommon.Map, m jsonMember) {
	if reason := m.text(); reason != "" && reason != "null" {
		attrs.PutEmptySlice("gen_ai.response.finish_reasons").AppendEmpty().SetStr(reason)
	}
}

// isDraw reports records that are events of the span around them.
func isDraw(r *tape.Record) bool {
	return r.Kind == tape.KindClock || r.Kind == tape.KindRandom
}

// draw writes a clock read or a random draw as the event that programs write.
func (b *builder) draw(r *tape.Record, at interval, on ptrace.Span) {
	e := on.Events().AppendEmpty()
	e.SetName("tape." + string(r.Kind))
	e.SetTimestamp(pcommon.NewTimestampFromTime(at.start))
	attrs := e.Attributes()
	putText(attrs, "tape.tool", r.Tool)
	if b.holds(r, r.Args, true) && len(r.Args) > 0 {
		attrs.PutStr("tape.args", string(r.Args))
	}
	if b.holds(r, r.Result, false) && len(r.Result) > 0 {
		putValue(attrs.PutEmpty("tape.value"), r.Result)
	}
}
