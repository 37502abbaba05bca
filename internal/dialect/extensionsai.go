package dialect

import "strings"

// extensionsAI reads Microsoft.Extensions.AI, and the Agent Framework for .NET,
// which is built on it. Results may be numbers and booleans of OTLP, and a
// failed call has the result null.
type extensionsAI struct{}

func (extensionsAI) Name() string { return "microsoft_extensions_ai" }

func (extensionsAI) Kind(s *Span) (Kind, bool) {
	if s.op == "" {
		return KindOther, false
	}
	for _, scope := range [...]string{"Experimental.Microsoft.Extensions.AI", "Experimental.Microsoft.Agents.AI"} {
		if strings.HasPrefix(s.Scope.Name(), scope) {
			return genAI{}.Kind(s)
		}
	}
	return KindOther, false
}

func (extensionsAI) Read(s *Span) Call {
	c := genAI{}.Read(s)
	c.Fix = "EnableSensitiveData = true in UseOpenTelemetry"
	return c
}
