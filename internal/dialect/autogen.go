package dialect

import "strings"

// autoGen reads AutoGen's own spans of agents and tools: names, ids and
// failures. Its models are instrumented by others, and content is in those
// alone.
type autoGen struct{}

func (autoGen) Name() string { return "autogen" }

func (autoGen) Kind(s *Span) (Kind, bool) {
	if s.op == "" || !s.autogen && !strings.HasPrefix(s.Scope.Name(), "autogen") {
		return KindOther, false
	}
	return genAI{}.Kind(s)
}

func (autoGen) Read(s *Span) Call {
	c := genAI{}.Read(s)
	c.never("AutoGen records no content on its spans")
	return c
}
