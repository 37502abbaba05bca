package dialect

// copilot reads Copilot Chat of VS Code, which follows the GenAI conventions:
// only the switch of its content is its own. Its scope is whatever the user
// named the service, so it is known by its session.
type copilot struct{}

func (copilot) Name() string { return "vscode_copilot" }

func (copilot) Kind(s *Span) (Kind, bool) {
	if s.op == "" || !s.copilot && s.Scope.Name() != "copilot-chat" {
		return KindOther, false
	}
	return genAI{}.Kind(s)
}

func (copilot) Read(s *Span) Call {
	c := genAI{}.Read(s)
	c.Fix = "github.copilot.chat.otel.captureContent: true"
	return c
}
