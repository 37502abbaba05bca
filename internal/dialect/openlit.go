package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// openLIT reads OpenLIT, which follows the GenAI conventions with Python's
// repr as arguments, str() of a message as result, and LangChain's run id in
// place of a call id it does not know.
type openLIT struct{}

func (openLIT) Name() string { return "openlit" }

func (openLIT) Kind(s *Span) (Kind, bool) {
	if s.Scope.Name() != "openlit.otel.tracing" {
		return KindOther, false
	}
	if s.mcp != "" && s.op != "execute_tool" {
		return mcp{}.Kind(s)
	}
	kind, _ := (genAI{}).Kind(s)
	return kind, true
}

func (openLIT) Read(s *Span) Call {
	c := genAI{}.Read(s)
	if s.mcp != "" {
		c = mcp{}.Read(s)
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
