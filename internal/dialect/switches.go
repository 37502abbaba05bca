package dialect

import "strings"

// Switches of the frameworks that write the GenAI names with an instrumentation
// of their own.
const (
	agentFrameworkFix = "ENABLE_SENSITIVE_DATA=true"
	semanticKernelFix = "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true"
	extensionsAIFix   = "EnableSensitiveData = true in UseOpenTelemetry"
	agentsJSFix       = "traceIncludeSensitiveData: true of the runner"
)

// advise sets the switch of the instrumentation that wrote a span of a shared
// dialect, or the reason why it has none: advice that mends nothing is worse
// than none.
func (c *Call) advise(s *Span, kind Kind) {
	scope := s.Scope.Name()
	switch {
	case strings.HasPrefix(scope, "agent_framework"):
		c.Fix = agentFrameworkFix
	case strings.HasPrefix(scope, "Microsoft.SemanticKernel"), strings.HasPrefix(scope, "semantic_kernel"):
		c.Fix = semanticKernelFix
	case strings.HasPrefix(scope, "Experimental.Microsoft.Extensions.AI"):
		c.Fix = extensionsAIFix
	case strings.HasPrefix(scope, "autogen"), s.Str("gen_ai.system") == "autogen":
		c.never("AutoGen records no content on its spans")
	case scope == "fastmcp", strings.HasPrefix(scope, "fastmcp."):
		c.never("FastMCP records no content on its spans")
	case kind == KindModel && strings.HasPrefix(scope, "org.springframework."):
		c.never("Spring AI writes no messages on the spans of its model calls")
	case s.strands:
		c.never("not captured, although Strands records content by default")
	}
}

// never says why no switch helps.
func (c *Call) never(why string) { c.Never, c.Fix = why, "" }

// Reasons for which no switch helps.
const (
	whySummary        = "the instrumentation writes the tool traffic of a request as a summary: what the model was sent is not in the trace"
	whyUnserialisable = "the instrumentation wrote <not serializable>"
)
