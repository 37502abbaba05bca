package operations

import (
	"fmt"
	"strings"
	"time"
)

// span is what of a span the scenes differ in.
type span struct {
	name, parent, attributes string
	status                   int
}

// The root span of a run that failed, and of one that did not.
var (
	failed = span{name: "invoke_agent a", attributes: operation("invoke_agent"), status: 2}
	ended  = span{name: "invoke_agent a", attributes: operation("invoke_agent")}
)

// tool is a call below the root, without arguments and result if there is no content. The
// content stands in a JSON string and must be escaped for it.
func tool(content string) span {
	attributes := operation("execute_tool") + "," + attribute("gen_ai.tool.name", "search")
	if content != "" {
		attributes += "," + attribute("gen_ai.tool.call.arguments", content) + "," + attribute("gen_ai.tool.call.result", "found")
	}
	return span{name: "execute_tool search", parent: "00000000000000ff", attributes: attributes}
}

func operation(name string) string { return attribute("gen_ai.operation.name", name) }

func attribute(key, value string) string {
	return fmt.Sprintf(`{"key":%q,"value":{"stringValue":"%s"}}`, key, value)
}

// trace is a request in OTLP/JSON. The last span without a parent has the id that calls
// name as theirs.
func trace(id string, spans ...span) []byte {
	now := time.Now().UnixNano()
	var all []string
	for i, s := range spans {
		spanID := fmt.Sprintf("%016x", i+1)
		if s.parent == "" {
			spanID = "00000000000000ff"
		}
		all = append(all, fmt.Sprintf(
			`{"traceId":%q,"spanId":%q,"parentSpanId":%q,"name":%q,"startTimeUnixNano":"%d","endTimeUnixNano":"%d","attributes":[%s],"status":{"code":%d}}`,
			id, spanID, s.parent, s.name, now-1e6, now, s.attributes, s.status))
	}
	return []byte(`{"resourceSpans":[{"resource":{"attributes":[` + attribute("service.name", "agent") +
		`]},"scopeSpans":[{"spans":[` + strings.Join(all, ",") + `]}]}]}`)
}
