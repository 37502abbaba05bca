package dialect

import "strings"

// Switches of instrumentations whose spans are also read by a shared dialect.
const (
	koogFix      = "setVerbose(true) of the OpenTelemetry feature"
	mlflowFix    = "let no span processor of mlflow.tracing.configure drop inputs and outputs"
	traceloopFix = "TRACELOOP_TRACE_CONTENT=true"
)

// agentsJSFix is the switch of the OpenAI Agents SDK itself, which its
// instrumentations cannot see.
const agentsJSFix = "traceIncludeSensitiveData: true of the runner"

// advise sets the switch of the instrumentation that wrote a span of a shared
// dialect, or the reason why it has none: advice that mends nothing is worse
// than none.
func (c *Call) advise(s *Span, kind Kind) {
	scope := s.Scope.Name()
	switch {
	case scope == "fastmcp", strings.HasPrefix(scope, "fastmcp."):
		c.never("FastMCP records no content on its spans")
	case kind == KindModel && strings.HasPrefix(scope, "org.springframework."):
		c.never("Spring AI writes no messages on the spans of its model calls")
	case scope == "ai.koog":
		c.Fix = koogFix
	case strings.HasPrefix(scope, "mlflow."):
		c.Fix = mlflowFix
	case scope == "opentelemetry.instrumentation.openai":
		// OpenTelemetry's own is called openai_v2.
		c.Fix = traceloopFix
	}
}

// never says why no switch helps.
func (c *Call) never(why string) { c.Never, c.Fix = why, "" }

// Reasons for which no switch helps.
const (
	whySummary        = "the instrumentation writes the tool traffic of a request as a summary: what the model was sent is not in the trace"
	whyUnserialisable = "the instrumentation wrote <not serializable>"
)
