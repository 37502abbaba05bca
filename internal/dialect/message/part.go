package message

import "github.com/tapedeck/tapedeck/internal/dialect/value"

// part reads one content part of any provider.
func part(v value.Value) Part {
	if v.Kind() == value.String {
		return Part{Type: Text, Text: v.Str()}
	}
	if v.Kind() != value.Object {
		return Part{Type: Other, Raw: v}
	}
	if inner := v.At("message_content"); inner.Kind() == value.Object {
		v = inner
	}
	switch v.At("type").Str() {
	case "text", "input_text", "output_text":
		return Part{Type: Text, Text: v.First("text", "content").Str()}
	case "reasoning", "thinking", "redacted_thinking":
		return Part{Type: Reasoning, Text: reasoningText(v), Raw: v}
	case "tool_call", "tool-call", "tool_use", "function", "function_call":
		return call(v)
	case "tool_call_response", "tool-result", "tool_result", "function_call_output":
		return reply(v)
	case "image", "image_url", "input_image", "audio", "input_audio", "video", "file", "input_file", "document", "blob", "uri":
		return Part{Type: Media, Raw: v}
	case "media", "other":
		// The neutral form itself.
		if v.Only("type", "value") && v.At("value").Kind() == value.Object {
			return Part{Type: Type(v.At("type").Str()), Raw: v.At("value")}
		}
	case "refusal":
		return Part{Type: Text, Text: v.First("refusal", "text").Str()}
	}
	return untyped(v)
}

// untyped reads parts that tell what they are by their only member: Gemini
// parts and Bedrock blocks.
func untyped(v value.Value) Part {
	if c := v.First("function_call", "functionCall", "toolUse", "toolRequest", "tool_call"); c.Kind() == value.Object {
		p := call(c)
		if p.Args.IsNull() {
			// Gemini leaves empty arguments out.
			p.Args = value.Obj()
		}
		return p
	}
	if r := v.First("function_response", "functionResponse", "toolResult", "toolResponse", "tool_call_result"); r.Kind() == value.Object {
		return reply(r)
	}
	if v.Has("toolName") && (v.Has("input") || v.Has("args")) {
		return call(v)
	}
	if t := v.At("text"); t.Kind() == value.String {
		kind := Text
		if v.At("thought").Truthy() {
			kind = Reasoning
		}
		return Part{Type: kind, Text: t.Str()}
	}
	if v.Has("inline_data") || v.Has("inlineData") || v.Has("file_data") || v.Has("fileData") || v.Has("image") {
		return Part{Type: Media, Raw: v}
	}
	return Part{Type: Other, Raw: v}
}

func reasoningText(v value.Value) string {
	if s := v.First("content", "text", "thinking").Str(); s != "" {
		return s
	}
	var out string
	for _, item := range v.At("summary").Items() {
		out += item.At("text").Str()
	}
	return out
}

// call reads a request to run a tool, whatever the provider names its members.
func call(v value.Value) Part {
	if inner := v.At("tool_call"); inner.Kind() == value.Object {
		v = inner
	}
	p := Part{Type: ToolCall, ID: v.First("call_id", "id", "toolCallId", "toolUseId", "tool_call_id", "ref").Str()}
	fn := v
	if inner := v.At("function"); inner.Kind() == value.Object {
		fn = inner
	}
	p.Name = fn.First("name", "toolName", "tool_name").Str()
	p.SetArgs(fn.First("arguments", "args", "input"))
	return p
}

// reply reads what a tool call gave back.
func reply(v value.Value) Part {
	origin := v.At("origin")
	p := Part{
		Type: ToolReply,
		ID:   v.First("call_id", "tool_use_id", "toolCallId", "toolUseId", "tool_call_id", "id", "ref").Str(),
		Name: v.First("name", "toolName", "tool_name").Str(),
		Failed: v.First("is_error", "isError").Truthy() || v.At("status").Str() == "error" ||
			v.At("outcome").Str() == "error" || v.At("failed").Truthy(),
	}
	if origin.Kind() == value.Object {
		p.ID, p.Name = origin.At("id").Str(), origin.At("tool_name").Str()
		p.Failed = v.At("error").Truthy()
	}
	p.Result = v.First("response", "result", "output", "content")
	// Vercel says with the value how it is to be read.
	if out := p.Result; out.Only("type", "value", "providerOptions", "reason") && out.Has("type", "value") {
		switch out.At("type").Str() {
		case "error-text", "error-json":
			p.Failed = true
		}
		p.Result = out.At("value")
	} else if out.Only("type", "reason") && out.At("type").Str() == "execution-denied" {
		p.Failed = true
	}
	return p
}
