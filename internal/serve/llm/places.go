package llm

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// Place names a place in a [Conversation] in words: "message 7, tool result of
// search: items[2].title". Messages count from 1, without the system prompt. It is
// "" for what is no such place.
func Place(path string, args json.RawMessage) string {
	v, err := value.Parse(string(args))
	if err != nil {
		return ""
	}
	head, rest := cutPath(path)
	switch head {
	case "system":
		return "system prompt"
	case "tools":
		return "tools offered"
	case "params":
		name, inside := cutPath(rest)
		if name == "" {
			return "parameters"
		}
		return inner("parameter "+name, inside)
	case "messages":
		if rest == "" {
			return "messages"
		}
		return messagePlace(v.At("messages"), rest)
	}
	return ""
}

func messagePlace(list value.Value, path string) string {
	n, path, ok := cutIndex(path)
	if !ok || n >= list.Len() {
		return ""
	}
	m := list.Items()[n]
	where := fmt.Sprintf("message %d", n+1)
	head, rest := cutPath(path)
	switch head {
	case "":
		return fmt.Sprintf("%s, of role %s", where, m.At("role").Str())
	case "role":
		return where + ", its role"
	}
	k, rest, ok := cutIndex(rest)
	if head != "parts" || !ok || k >= m.At("parts").Len() {
		return where
	}
	part := m.At("parts").Items()[k]
	name := part.At("name").Str()
	what := "part " + strconv.Itoa(k+1)
	switch part.At("type").Str() {
	case "text":
		what = "text of " + m.At("role").Str()
	case "reasoning":
		what = "reasoning"
	case "tool_call":
		what = "call of " + name
	case "tool_call_response":
		what = "tool result"
		if name != "" {
			what += " of " + name
		}
	case "media":
		what = "medium"
	}
	member, inside := cutPath(rest)
	switch member {
	case "", "content", "result", "value", "sha256":
	case "arguments":
		what = "arguments of " + name
	default:
		what = fmt.Sprintf("%s, its %s", what, member)
	}
	return inner(where+", "+what, inside)
}

// inner appends what is left of a path.
func inner(where, path string) string {
	if path == "" {
		return where
	}
	return where + ": " + path
}

// cutPath cuts the first name off a path.
func cutPath(path string) (name, rest string) {
	path = strings.TrimPrefix(path, ".")
	if i := strings.IndexAny(path, ".["); i >= 0 {
		return path[:i], strings.TrimPrefix(path[i:], ".")
	}
	return path, ""
}

// cutIndex cuts an index off a path.
func cutIndex(path string) (n int, rest string, ok bool) {
	digits, rest, ok := strings.Cut(strings.TrimPrefix(path, "["), "]")
	if !ok || !strings.HasPrefix(path, "[") {
		return 0, path, false
	}
	n, err := strconv.Atoi(digits)
	return n, strings.TrimPrefix(rest, "."), err == nil && n >= 0
}
