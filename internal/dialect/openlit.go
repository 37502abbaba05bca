package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// openLIT reads OpenLIT, which follows the GenAI conventions with Python's
// repr as arguments, str() of a message as result, and LangChain's run id in
// place of a call id it does not know. A call over MCP is two spans: that of the
// client's method, which ends before there is an answer and has the tool's name
// as its method, around that of the JSON-RPC request.
type openLIT struct{}

// openLITScope is that of all its spans, whatever the framework.
const openLITScope = "openlit.otel.tracing"

func (openLIT) Name() string { return "openlit" }

func (openLIT) Kind(s *Span) (Kind, bool) {
	if s.Scope.Name() != openLITScope {
		return KindOther, false
	}
	if s.mcp != "" && s.op != "execute_tool" {
		if s.mcp == "tools/call" || strings.HasPrefix(s.Name(), "mcp tools/call") || strings.HasPrefix(s.Name(), "mcp tool/") {
			return KindTool, true
		}
		return KindOther, true
	}
	kind, _ := (genAI{}).Kind(s)
	return kind, true
}

func (openLIT) Read(s *Span) Call {
	c := genAI{}.Read(s)
	if s.mcp != "" {
		c = mcp{}.Read(s)
		c.openLITPayloads(s)
	}
	c.Fix = "openlit.init(capture_message_content=True)"
	if isUUID(c.ID) {
		c.ID = ""
	}
	if text := c.Result.Value.Str(); strings.HasPrefix(text, "content=") {
		c.setResult(messageText(text, c.Result))
	}
	if c.Fail == nil && s.errorType != "" {
		if text := s.Str("gen_ai.framework.error.message"); text != "" {
			c.Fail = &Failure{Message: text, Type: s.errorType, Evidence: "attribute"}
		}
	}
	return c
}

// openLITPayloads reads the JSON-RPC request and response of a call, for what
// has no attribute of its own.
func (c *Call) openLITPayloads(s *Span) {
	request := s.content(jsonText, "mcp.request.payload")
	params := request.Value.At("params")
	if name := params.At("name").Str(); name != "" && s.Str("mcp.tool.name") == "" {
		c.Tool = name
	}
	if args := params.At("arguments"); args.Kind() != value.Null {
		c.Args.fill(request.changed(args))
	}
	response := s.content(jsonText, "mcp.response.payload")
	if !c.Result.Present() && response.Value.At("type").Str() != "mcp_coroutine" {
		c.setResult(decodeResult(response, false))
	}
	if text := s.Str("mcp.error.message"); text != "" && c.Fail == nil {
		c.Fail = &Failure{Message: text, Code: s.Str("mcp.error.code"), Evidence: "attribute"}
	}
}

// messageText reads str() of a LangChain message: content='…' name='…'
// tool_call_id='…'. What does not parse stays text.
func messageText(text string, c Content) reply {
	fields := map[string]value.Value{}
	rest := text
	for rest != "" {
		name, after, ok := strings.Cut(rest, "=")
		if !ok || strings.ContainsAny(name, " '\"") {
			return reply{Content: c}
		}
		v, n, err := value.PythonPrefix(after)
		if err != nil {
			return reply{Content: c}
		}
		fields[name] = v
		rest = strings.TrimLeft(after[n:], " ")
	}
	r := reply{Content: c, Failed: fields["status"].Str() == "error"}
	r.note(fields["tool_call_id"], fields["name"])
	r.unwrap(fields["content"])
	r.step()
	return r
}

func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch dash := i == 8 || i == 13 || i == 18 || i == 23; {
		case dash && s[i] != '-':
			return false
		case !dash && strings.IndexByte("0123456789abcdefABCDEF", s[i]) < 0:
			return false
		}
	}
	return true
}
