package dialect

import "strings"

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
	}
}

// never says why no switch helps.
func (c *Call) never(why string) { c.Never, c.Fix = why, "" }

// Reasons for which no switch helps.
const (
	whySummary        = "the instrumentation writes the tool traffic of a request as a summary: what the model was sent is not in the trace"
	whyUnserialisable = "the instrumentation wrote <not serializable>"
)
