package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// agentFramework reads Microsoft's Agent Framework for Python. Empty arguments
// are the text None, a call without an id has the id unknown, results are
// Python's str(), and a tool of an MCP server is a second span inside the first.
type agentFramework struct{}

const agentFrameworkFix = "ENABLE_SENSITIVE_DATA=true"

func (agentFramework) Name() string { return "ms_agent_framework" }

func (agentFramework) Kind(s *Span) (Kind, bool) {
	switch {
	case !strings.HasPrefix(s.Scope.Name(), "agent_framework"):
		return KindOther, false
	case s.mcp != "":
		return mcp{}.Kind(s)
	case s.op == "":
		return KindOther, false
	}
	return genAI{}.Kind(s)
}

func (agentFramework) Read(s *Span) Call {
	c := genAI{}.Read(s)
	if s.mcp != "" {
		c = mcp{}.Read(s)
	}
	c.Fix = agentFrameworkFix
	if c.Args.Grade == Exact && c.Args.Value.Kind() == value.String && c.Args.Value.Str() == "None" {
		c.Args = c.Args.changed(value.Obj())
	}
	return c
}
