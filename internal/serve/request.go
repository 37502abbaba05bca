package serve

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// parseCall reads the body of a call: "tool", "args" (null when absent), "kind"
// ("tool" when absent) and "live", which says that the client can run the call
// itself (false when absent). Members are known by their exact names, since a
// decoder that takes "ARGS" for "args" would answer a call that nobody made;
// others are ignored.
func parseCall(body []byte) (request replay.Request, canRun bool, err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return request, false, fmt.Errorf("want an object, not %s", article(wrong.Value))
		}
		return request, false, err
	}
	request.Args = members["args"]
	if value, ok := members["live"]; ok && json.Unmarshal(value, &canRun) != nil {
		return request, false, errors.New(`member "live" is neither true nor false`)
	}
	kind := ""
	for _, text := range []struct {
		name string
		to   *string
	}{{"tool", &request.Tool}, {"kind", &kind}, {"tool_call_id", &request.ToolCallID}} {
		if value, ok := members[text.name]; ok && json.Unmarshal(value, text.to) != nil {
			return request, false, fmt.Errorf("member %q is not a string", text.name)
		}
	}
	if request.Tool == "" {
		return request, false, errors.New(`member "tool" is missing`)
	}
	if request.Kind = tape.Kind(kind); kind != "" && !slices.Contains(tape.Kinds, request.Kind) {
		return request, false, fmt.Errorf("member \"kind\": %q is none of %q", kind, tape.Kinds)
	}
	return request, canRun, nil
}

func article(what string) string {
	if what == "array" {
		return "an array"
	}
	return "a " + what
}
