package serve

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/internal/serve/llm"
)

// event is one server-sent event.
type event struct {
	name string
	data value.Value
}

func eventsOf(t testing.TB, text string) (list []event) {
	text = strings.ReplaceAll(text, "\r\n", "\n")
	for _, block := range strings.Split(text, "\n\n") {
		var e event
		var data []string
		for _, line := range strings.Split(block, "\n") {
			if name, ok := strings.CutPrefix(line, "event: "); ok {
				e.name = name
			}
			if d, ok := strings.CutPrefix(line, "data: "); ok {
				data = append(data, d)
			}
		}
		if len(data) == 0 || data[0] == "[DONE]" {
			continue
		}
		v, err := value.Parse(strings.Join(data, "\n"))
		require.NoError(t, err, block)
		e.data = v
		list = append(list, e)
	}
	return list
}

// assembled is the answer that a client makes of events, as the providers' SDKs do.
func assembled(t testing.TB, p llm.Protocol, text string) value.Value {
	events := eventsOf(t, text)
	switch p.(type) {
	case llm.Anthropic:
		return assembledMessage(events)
	case llm.OpenAIResponses:
		for _, e := range events {
			switch e.data.At("type").Str() {
			case "response.completed", "response.incomplete":
				return e.data.At("response")
			}
		}
		return value.Value{}
	}
	return assembledChat(events)
}

func assembledMessage(events []event) (out value.Value) {
	var blocks []value.Value
	inputs := map[int]string{}
	for _, e := range events {
		n, _ := e.data.At("index").Int64()
		i := int(n)
		switch e.data.At("type").Str() {
		case "message_start":
			out = e.data.At("message")
		case "content_block_start":
			blocks = append(blocks, e.data.At("content_block"))
		case "content_block_delta":
			d := e.data.At("delta")
			switch d.At("type").Str() {
			case "text_delta":
				blocks[i] = blocks[i].With("text", value.Str(blocks[i].At("text").Str()+d.At("text").Str()))
			case "thinking_delta":
				blocks[i] = blocks[i].With("thinking", value.Str(blocks[i].At("thinking").Str()+d.At("thinking").Str()))
			case "signature_delta":
				blocks[i] = blocks[i].With("signature", value.Str(d.At("signature").Str()))
			case "input_json_delta":
				inputs[i] += d.At("partial_json").Str()
			case "citations_delta":
				blocks[i] = blocks[i].With("citations", value.List(append(blocks[i].At("citations").Items(), d.At("citation"))...))
			}
		case "content_block_stop":
			if v, err := value.Parse(inputs[i]); err == nil {
				blocks[i] = blocks[i].With("input", v)
			}
		case "message_delta":
			for _, m := range e.data.At("delta").Members() {
				out = out.With(m.Name, m.Value)
			}
			usage := out.At("usage")
			for _, m := range e.data.At("usage").Members() {
				usage = usage.With(m.Name, m.Value)
			}
			out = out.With("usage", usage)
		}
	}
	return out.With("content", value.List(blocks...))
}

// assembledChat merges the deltas of chunks: texts are joined, calls by index.
func assembledChat(events []event) (out value.Value) {
	type choice struct {
		message value.Value
		calls   []value.Value
		rest    value.Value
	}
	var choices []choice
	for _, e := range events {
		for _, m := range e.data.Members() {
			if m.Name != "choices" && !m.Value.IsNull() {
				out = out.With(m.Name, m.Value)
			}
		}
		for _, c := range e.data.At("choices").Items() {
			n, _ := c.At("index").Int64()
			for len(choices) <= int(n) {
				choices = append(choices, choice{message: value.Obj(), rest: value.Obj()})
			}
			at := &choices[n]
			for _, m := range c.Members() {
				if m.Name != "delta" && (!m.Value.IsNull() || !at.rest.Has(m.Name)) {
					at.rest = at.rest.With(m.Name, m.Value)
				}
			}
			for _, m := range c.At("delta").Members() {
				switch {
				case m.Name == "tool_calls":
					for _, call := range m.Value.Items() {
						at.calls = mergeCall(at.calls, call)
					}
				case m.Value.Kind() == value.String && m.Name != "role":
					at.message = at.message.With(m.Name, value.Str(at.message.At(m.Name).Str()+m.Value.Str()))
				case !at.message.Has(m.Name):
					at.message = at.message.With(m.Name, m.Value)
				}
			}
		}
	}
	list := make([]value.Value, len(choices))
	for i, c := range choices {
		if c.calls != nil {
			c.message = c.message.With("tool_calls", value.List(c.calls...))
		}
		list[i] = c.rest.With("message", c.message)
	}
	return out.With("choices", value.List(list...)).With("object", value.Str("chat.completion"))
}

func mergeCall(calls []value.Value, part value.Value) []value.Value {
	n, _ := part.At("index").Int64()
	for len(calls) <= int(n) {
		calls = append(calls, value.Obj())
	}
	c := calls[n]
	for _, m := range part.Members() {
		switch m.Name {
		case "index":
		case "function":
			f := c.At("function")
			if f.Kind() != value.Object {
				f = value.Obj()
			}
			for _, m := range m.Value.Members() {
				if m.Name == "arguments" {
					m.Value = value.Str(f.At("arguments").Str() + m.Value.Str())
				}
				f = f.With(m.Name, m.Value)
			}
			c = c.With("function", f)
		default:
			c = c.With(m.Name, m.Value)
		}
	}
	calls[n] = c
	return calls
}
