package dialect

import "strings"

// semanticKernel reads Semantic Kernel for .NET and for Python. .NET writes the
// messages of a model call as span events and no ids of calls; Python writes
// them as log records and names a function by its plugin too. Python's versions
// before the GenAI conventions call the operations chat.completions and
// text.completions.
type semanticKernel struct{}

const semanticKernelFix = "SEMANTICKERNEL_EXPERIMENTAL_GENAI_ENABLE_OTEL_DIAGNOSTICS_SENSITIVE=true"

func (semanticKernel) Name() string { return "semantic_kernel" }

func (semanticKernel) Kind(s *Span) (Kind, bool) {
	scope := s.Scope.Name()
	if s.op == "" || !strings.HasPrefix(scope, "Microsoft.SemanticKernel") && !strings.HasPrefix(scope, "semantic_kernel") {
		return KindOther, false
	}
	return genAI{}.Kind(s)
}

func (semanticKernel) Read(s *Span) Call {
	c := genAI{}.Read(s)
	c.Fix = semanticKernelFix
	return c
}
