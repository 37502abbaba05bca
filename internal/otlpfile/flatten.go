package otlpfile

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
)

// jsonText names the attributes that instrumentations write as JSON text. Where
// an export has parsed it, it becomes text again.
var jsonText = []string{
	"input.value", "output.value", "metadata", "document.metadata", "tool.parameters", "tool.json_schema",
	"function.arguments", "function_call.arguments_json", "llm.function_call", "llm.invocation_parameters",
	"prompt_template.variables", "tool_arguments", "tool_response",
	"gen_ai.tool.call.arguments", "gen_ai.tool.call.result", "gen_ai.tool.definitions",
	"gen_ai.input.messages", "gen_ai.output.messages", "gen_ai.system_instructions",
}

// flatten sets attributes from an object that may be nested, as backends show
// them: {"llm":{"input_messages":[{"message":{"role":"user"}}]}} is
// llm.input_messages.0.message.role. Objects become members with dots, arrays
// of objects members with numbers; arrays of other values stay arrays.
func flatten(to pcommon.Map, raw json.RawMessage) error {
	if given(raw) && raw[0] == '"' {
		// Data bases hand the attributes out as text.
		inner := json.RawMessage(text(raw))
		if !json.Valid(inner) {
			return fmt.Errorf("want an object, found a string that is not one as JSON")
		}
		c := cursor{b: inner}
		raw = c.raw()
	}
	if !given(raw) {
		return nil
	}
	if raw[0] != '{' {
		return fmt.Errorf("want an object, found %s", describe(raw[0]))
	}
	c := cursor{b: raw}
	for name := range c.object() {
		key := string(name)
		flattenInto(to, key, c.raw(), 0)
	}
	return nil
}

func flattenInto(to pcommon.Map, key string, raw json.RawMessage, depth int) {
	c := cursor{b: raw}
	switch {
	case !given(raw):
	case raw[0] != '{' && raw[0] != '[':
		putValue(to.PutEmpty(key), raw, 0)
	case isJSONText(key) || depth == maxValueDepth:
		to.PutStr(key, string(raw))
	case raw[0] == '{':
		for name := range c.object() {
			member := key + "." + string(name)
			flattenInto(to, member, c.raw(), depth+1)
		}
	case hasObject(raw):
		for i := range c.array() {
			flattenInto(to, key+"."+strconv.Itoa(i), c.raw(), depth+1)
		}
	default:
		putValue(to.PutEmpty(key), raw, 0)
	}
}

func isJSONText(key string) bool {
	for _, name := range jsonText {
		if rest, ok := strings.CutSuffix(key, name); ok && (rest == "" || rest[len(rest)-1] == '.') {
			return true
		}
	}
	return false
}

func hasObject(array json.RawMessage) bool {
	c := cursor{b: array}
	for range c.array() {
		if c.peek() == '{' {
			return true
		}
		c.skip()
	}
	return false
}
