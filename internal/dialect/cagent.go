package dialect

import "strings"

// cagent reads Docker cagent, which never records content: names and ids only.
type cagent struct{}

func (cagent) Name() string { return "cagent" }

func (cagent) Kind(s *Span) (Kind, bool) {
	rest, ok := strings.CutPrefix(s.Name(), "runtime.")
	if !ok || s.Scope.Name() != "cagent" {
		return KindOther, false
	}
	switch {
	case rest == "tool.call":
		return KindTool, true
	case strings.HasPrefix(rest, "tool.handler"):
		return KindPart, true
	case rest == "stream":
		return KindModel, true
	case rest == "session":
		return KindAgent, true
	}
	return KindOther, true
}

func (cagent) Read(s *Span) Call {
	c := Call{Agent: s.Str("agent")}
	c.never("cagent has no switch that records content")
	kind, _ := (cagent{}).Kind(s)
	switch kind {
	case KindTool:
		c.Tool, c.ID = s.Str("tool.name"), realID(s.Str("tool.call_id"))
	case KindModel:
		c.Tool = "chat"
	}
	return c
}
