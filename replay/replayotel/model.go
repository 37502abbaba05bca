package replayotel

import (
	"bytes"
	"encoding/json"

	"go.opentelemetry.io/otel/attribute"

	"github.com/tapedeck/tapedeck/tape"
)

// operation is that of a model call; some names are no operations of a model.
func operation(r *tape.Record) string {
	switch r.Tool {
	case "", "execute_tool", "invoke_agent":
		return "chat"
	}
	return r.Tool
}

// modelOf is the model that is asked, "" where nothing says so.
func modelOf(r *tape.Record) string {
	var args struct {
		Model string `json:"model"`
	}
	if r.Model != "" || json.Unmarshal(r.Args, &args) != nil {
		return r.Model
	}
	return args.Model
}

// request writes the neutral form of a tape (system, messages, tools, params); any
// other member is a parameter, and what is no object is the input as a whole.
func request(args json.RawMessage) (list []attribute.KeyValue) {
	var members map[string]json.RawMessage
	if json.Unmarshal(args, &members) != nil || members == nil {
		name := "tape.recorded.input"
		if bytes.HasPrefix(bytes.TrimSpace(args), []byte("[")) {
			name = "gen_ai.input.messages"
		}
		return []attribute.KeyValue{attribute.String(name, orNull(args))}
	}
	for name, text := range members {
		switch name {
		case "system":
			list = append(list, value("gen_ai.system_instructions", text))
		case "messages":
			list = append(list, attribute.String("gen_ai.input.messages", string(text)))
		case "tools":
			list = append(list, attribute.String("gen_ai.tool.definitions", string(text)))
		case "input":
			list = append(list, attribute.String("tape.recorded.input", string(text)))
		case "params":
			var params map[string]json.RawMessage
			if json.Unmarshal(text, &params) != nil {
				list = append(list, attribute.String("gen_ai.request.params", string(text)))
			}
			for param, of := range params {
				list = append(list, value("gen_ai.request."+param, of))
			}
		default:
			list = append(list, value("gen_ai.request."+name, text))
		}
	}
	return list
}

// counts are the attributes of the counts of a neutral answer.
var counts = map[string]string{
	"input_tokens":       "gen_ai.usage.input_tokens",
	"output_tokens":      "gen_ai.usage.output_tokens",
	"cache_read_tokens":  "gen_ai.usage.cache_read.input_tokens",
	"cache_write_tokens": "gen_ai.usage.cache_creation.input_tokens",
	"reasoning_tokens":   "gen_ai.usage.reasoning.output_tokens",
}

// answer writes the neutral form of a tape (message or messages, finish_reason,
// usage); anything else is the output as a whole.
func answer(result json.RawMessage) (list []attribute.KeyValue) {
	if len(result) == 0 {
		return nil
	}
	var neutral struct {
		Message  json.RawMessage            `json:"message"`
		Messages json.RawMessage            `json:"messages"`
		Finish   string                     `json:"finish_reason"`
		Usage    map[string]json.RawMessage `json:"usage"`
		Model    string                     `json:"model"`
	}
	if json.Unmarshal(result, &neutral) != nil || neutral.Message == nil && neutral.Messages == nil {
		return []attribute.KeyValue{attribute.String("tape.recorded.output", string(result))}
	}
	said := string(neutral.Messages)
	if neutral.Messages == nil {
		said = "[" + string(neutral.Message) + "]"
	}
	list = append(list, attribute.String("gen_ai.output.messages", said))
	if neutral.Finish != "" {
		list = append(list, attribute.StringSlice("gen_ai.response.finish_reasons", []string{neutral.Finish}))
	}
	if neutral.Model != "" {
		list = append(list, attribute.String("gen_ai.response.model", neutral.Model))
	}
	for name, text := range neutral.Usage {
		if as, ok := counts[name]; ok {
			list = append(list, value(as, text))
		}
	}
	return list
}

// value is JSON as an attribute: texts, numbers, truths and lists of texts as such,
// anything else as JSON text.
func value(name string, text json.RawMessage) attribute.KeyValue {
	var s string
	if json.Unmarshal(text, &s) == nil && text[0] == '"' {
		return attribute.String(name, s)
	}
	var list []string
	if json.Unmarshal(text, &list) == nil && list != nil {
		return attribute.StringSlice(name, list)
	}
	var i int64
	if json.Unmarshal(text, &i) == nil && string(text) != "null" {
		return attribute.Int64(name, i)
	}
	var f float64
	if json.Unmarshal(text, &f) == nil && string(text) != "null" {
		return attribute.Float64(name, f)
	}
	switch string(text) {
	case "true", "false":
		return attribute.Bool(name, string(text) == "true")
	}
	return attribute.String(name, string(text))
}
