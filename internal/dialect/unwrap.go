package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// decodeArgs unwraps what instrumentations put around the arguments of a tool,
// down to what the tool was given, and the call id if the wrapper tells it.
func decodeArgs(c Content) (Content, string) {
	id := ""
	for range maxEncodings + 1 {
		v := c.Value
		switch {
		case c.Grade != Exact && c.Grade != Rebuilt:
			return c, id
		case v.Kind() == value.String:
			inner := parsed(v)
			if inner.Kind() < value.Array {
				return c, id
			}
			c = c.changed(inner)
		case v.Has("input_str") && v.Only("input_str", "tags", "metadata", "inputs", "kwargs"):
			id = v.At("kwargs").At("tool_call_id").Str()
			c = c.changed(langchainInputs(v))
		case v.Has("args", "kwargs") && v.Only("args", "kwargs", "sanitize_inputs_outputs"):
			inner, ok := pythonCall(v)
			if !ok {
				return c, id
			}
			c = c.changed(inner)
		case v.Only("tool_name", "arguments", "meta") && v.Has("arguments"):
			c = c.changed(v.At("arguments"))
		case v.At("method").Str() == "tools/call" && v.At("params").Kind() == value.Object:
			c = c.changed(v.At("params").At("arguments"))
		default:
			return c, id
		}
	}
	return c, id
}

// langchainInputs are the arguments inside LangChain's description of a run.
func langchainInputs(v value.Value) value.Value {
	if in := v.At("inputs"); in.Kind() == value.Object {
		return in
	}
	text := v.At("input_str").Str()
	if c := contentText(text, pythonText); c.Grade == Exact || c.Grade == Rebuilt {
		return c.Value
	}
	return value.Str(text)
}

// pythonCall is the one half of a Python call that holds the arguments. A call
// with both halves is left as it is: names of positional arguments are unknown.
func pythonCall(v value.Value) (value.Value, bool) {
	args, kwargs := v.At("args"), v.At("kwargs")
	switch {
	case len(args.Items()) == 0 && kwargs.Kind() == value.Object:
		return kwargs, true
	case len(kwargs.Members()) == 0 && args.Kind() == value.Array:
		if items := args.Items(); len(items) == 1 && items[0].Kind() == value.String {
			// LangChain.js passes the arguments as one JSON text.
			if inner := parsed(items[0]); inner.Kind() == value.Object {
				return inner, true
			}
		}
		return args, true
	}
	return value.Value{}, false
}

// reply is a result without its envelope.
type reply struct {
	Content
	ID   string
	Name string
	// Failed is set where the envelope says that the call failed.
	Failed bool

	// sole allows {"result": X} as an envelope.
	sole bool
	// fresh is set after an envelope of which the text is still encoded.
	fresh bool
}

// unwrap replaces the value by what it wraps. Results have no verbatim twin.
func (r *reply) unwrap(v value.Value) {
	r.Value, r.fresh = v, true
	if r.Grade == Exact {
		r.Grade = Rebuilt
	}
}

// decodeResult unwraps message objects, content blocks and protocol envelopes
// around a result. JSON text is parsed, other text stays text. A lone member
// "result" may be what the tool returned; it is an envelope only where sole
// says that the instrumentation writes one.
func decodeResult(c Content, sole bool) reply {
	r := reply{Content: c, sole: sole}
	for range 8 {
		if r.Grade != Exact && r.Grade != Rebuilt {
			return r
		}
		if !r.step() {
			return r
		}
	}
	return r
}

// step removes one envelope, and reports whether there was one.
func (r *reply) step() bool {
	v := r.Value
	switch v.Kind() {
	case value.String:
		if why, hidden, ok := placeholder(v.Str()); ok {
			r.Content = Content{Why: why, Key: r.Key}
			if hidden {
				r.Grade = Redacted
			}
			return false
		}
		text := strings.TrimSpace(v.Str())
		if !r.fresh && !structured(text) {
			return false
		}
		inner, err := value.Parse(text)
		if err != nil {
			return false
		}
		r.Value, r.fresh = inner, false
		return inner.Kind() >= value.Array
	case value.Array:
		inner, ok := blocks(v)
		if ok {
			r.unwrap(inner)
		}
		return ok
	case value.Object:
	default:
		return false
	}
	if inner, ok := r.toolMessage(v); ok {
		r.unwrap(inner)
		return true
	}
	switch {
	case v.Has("content") && v.Only("content", "isError", "is_error", "structuredContent", "structured_content", "_meta", "meta") &&
		(v.Has("isError") || v.Has("is_error") || isBlocks(v.At("content"))):
		r.Failed = r.Failed || v.First("isError", "is_error").Truthy()
		inner := v.At("content")
		if len(inner.Items()) == 0 && v.Has("structuredContent") {
			inner = v.At("structuredContent")
		}
		r.unwrap(inner)
	case v.Has("response", "name") && v.Only("id", "name", "response", "will_continue", "scheduling"):
		r.note(v.At("id"), v.At("name"))
		r.unwrap(v.At("response"))
	case v.Has("result") && v.Only("result", "is_error", "isError") && (r.sole || len(v.Members()) > 1):
		r.Failed = r.Failed || v.First("isError", "is_error").Truthy()
		r.unwrap(v.At("result"))
	case r.sole && v.Only("output"):
		r.unwrap(v.At("output"))
	case v.Has("type", "call_id", "result") && v.At("type").Str() == "function_result":
		r.note(v.At("call_id"), value.Value{})
		r.unwrap(v.At("result"))
	case v.Has("jsonrpc", "result"):
		r.unwrap(v.At("result"))
	case v.Only("lg_name", "update", "goto", "graph", "resume") && v.Has("update"):
		r.unwrap(v.At("update"))
	case v.Only("messages") && len(v.At("messages").Items()) == 1:
		r.unwrap(v.At("messages").Items()[0])
	case v.Has("output") && v.Only("output", "kwargs", "tags") && (v.Has("kwargs") || isToolMessage(parsed(v.At("output")))):
		r.unwrap(v.At("output"))
	default:
		return false
	}
	return true
}

// toolMessage unwraps a serialised tool message of LangChain.
func (r *reply) toolMessage(v value.Value) (value.Value, bool) {
	if !isToolMessage(v) {
		return v, false
	}
	if inner := v.First("kwargs", "data"); inner.Kind() == value.Object {
		v = inner
	}
	r.note(v.At("tool_call_id"), v.At("name"))
	r.Failed = r.Failed || v.At("status").Str() == "error"
	return v.At("content"), true
}

func (r *reply) note(id, name value.Value) {
	pick(&r.ID, realID(id.Str()))
	pick(&r.Name, name.Str())
}

func isToolMessage(v value.Value) bool {
	if v.Kind() != value.Object {
		return false
	}
	if v.At("type").Str() == "constructor" {
		ids := v.At("id").Items()
		return len(ids) > 0 && strings.HasPrefix(ids[len(ids)-1].Str(), "ToolMessage")
	}
	if v.At("type").Str() != "tool" {
		return false
	}
	return v.At("data").Has("content") || v.Has("content", "tool_call_id")
}

// isBlocks reports whether v is a non-empty array of content blocks.
func isBlocks(v value.Value) bool {
	for _, item := range v.Items() {
		if !isBlock(item) {
			return false
		}
	}
	return len(v.Items()) > 0
}

func isBlock(v value.Value) bool {
	switch v.At("type").Str() {
	case "text":
		return v.Has("text") || v.Has("content")
	case "image", "audio", "resource", "resource_link":
		return true
	case "":
		return v.Only("text") || v.Only("json")
	}
	return false
}

// blocks is the content of a block array: of one block its content, of several
// text blocks nothing is joined, because their borders are part of the answer.
func blocks(v value.Value) (value.Value, bool) {
	if v.Len() != 1 || !isBlock(v.Items()[0]) {
		return v, false
	}
	b := v.Items()[0]
	if t := b.First("text", "json"); !t.IsNull() {
		return t, true
	}
	if b.At("type").Str() == "text" {
		return b.At("content"), true
	}
	return v, false
}

// realID drops what stands in place of a call id the instrumentation did not
// have.
func realID(id string) string {
	switch id {
	case "", "unknown", "None", "null", "<not specified>", "N/A", "undefined":
		return ""
	}
	return id
}
