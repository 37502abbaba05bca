package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// mcp reads the Model Context Protocol conventions, client and server side,
// and FastMCP, which follows them without arguments and results.
type mcp struct{}

func (mcp) Name() string { return "mcp" }

func (mcp) Kind(s *Span) (Kind, bool) {
	switch s.mcp {
	case "":
		return KindOther, false
	case "tools/call":
		return KindTool, true
	}
	return KindOther, true
}

func (mcp) Read(s *Span) Call {
	c := Call{Fix: genAIFix, Server: s.Kind() == ptrace.SpanKindServer}
	c.advise(s, KindTool)
	genAITool(s, &c)
	c.Tool = s.Str("gen_ai.tool.name", "mcp.tool.name")
	if c.Tool == "" {
		c.Tool = strings.TrimSpace(strings.TrimPrefix(s.Name(), "tools/call"))
	}
	c.Agent = s.agentName
	args, _ := decodeArgs(s.content(pythonText, "mcp.tool.arguments", "mcp.request.argument"))
	c.Args.fill(args)
	if !c.Result.Present() {
		c.setResult(decodeResult(s.content(jsonText, "mcp.tool.result", "mcp.result"), false))
	}
	return c
}
