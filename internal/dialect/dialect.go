package dialect

import (
	"sync"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Dialect is the way one instrumentation writes calls into spans.
type Dialect interface {
	// Name is written into the records read by it.
	Name() string
	// Kind says whether the span is written in this dialect, and what it stands
	// for. It allocates nothing and looks at little more than the marks.
	Kind(*Span) (Kind, bool)
	// Read reads a span that Kind has recognised.
	Read(*Span) Call
}

// dialects are all dialects, the most specific first: a span written in two is
// read in the first and only completed from the second.
var dialects = []Dialect{
	recorder{},
	adk{},
	geminiCLI{},
	langSmith{},
	logfire{},
	claudeCode{},
	codex{},
	cagent{},
	anyAgent{},
	strands{},
	liteLLM{},
	openLIT{},
	laminar{},
	braintrust{},
	traceloop{},
	langfuse{},
	mlflow{},
	vercel{},
	mastra{},
	genkit{},
	liveKit{},
	springAI{},
	haystack{},
	pydanticAI{},
	semanticKernel{},
	agentFramework{},
	extensionsAI{},
	autoGen{},
	openAIAgents{},
	openInference{},
	mcp{},
	copilot{},
	anthropic{},
	genAI{},
	koog{},
	genAIEvents{},
	langfuse{foreign: true},
}

// recognise is the first dialect a span is written in, from the given place in
// the order on.
func recognise(s *Span, from int) (int, Kind, bool) {
	for i := from; i < len(dialects); i++ {
		if kind, ok := dialects[i].Kind(s); ok {
			return i, kind, true
		}
	}
	return len(dialects), KindOther, false
}

// read reads a span, nil if it is no call, no agent and no part of one.
func read(s *Span) *Call {
	i, kind, ok := recognise(s, 0)
	if !ok || kind == KindOther {
		return nil
	}
	call := readBy(s, i, kind)
	for call.incomplete() {
		next, also, ok := recognise(s, i+1)
		if !ok {
			break
		}
		i = next
		if _, same := dialects[i].(genAI); same && call.conventions {
			continue
		}
		if also == call.Kind {
			second := readBy(s, i, also)
			call.fill(&second)
		}
	}
	call.withoutBare()
	return &call
}

func readBy(s *Span, i int, kind Kind) Call {
	s.model = kind == KindModel
	call := dialects[i].Read(s)
	call.Dialect, call.Kind = dialects[i].Name(), kind
	pick(&call.Conversation, s.conv)
	return call
}

// incomplete reports whether a second dialect on the same span may add to it.
func (c *Call) incomplete() bool {
	if c.Settled {
		return false
	}
	switch c.Kind {
	case KindTool:
		return c.Tool == "" || c.ID == "" || !c.Args.Present() || !c.Result.Present()
	case KindModel:
		return len(c.Input) == 0 || len(c.Output) == 0 || c.Model == ""
	}
	return false
}

// KindOf says what a span stands for, without reading its content. It costs
// one pass over the attributes and allocates nothing.
func KindOf(res pcommon.Resource, scope pcommon.InstrumentationScope, span ptrace.Span) Kind {
	s := spans.Get().(*Span)
	*s = newSpan(res, scope, span)
	_, kind, _ := recognise(s, 0)
	*s = Span{}
	spans.Put(s)
	return kind
}

// spans are reused, because a span handed to an interface is on the heap.
var spans = sync.Pool{New: func() any { return new(Span) }}

// Failed reports whether a single span shows a failed call or a failed agent:
// the signal by which a late span upgrades a decision. Failures that only the
// messages or children of other spans tell are not seen.
func (c *Config) Failed(res pcommon.Resource, scope pcommon.InstrumentationScope, span ptrace.Span) bool {
	s := newSpan(res, scope, span)
	i, kind, ok := recognise(&s, 0)
	if !ok || kind == KindOther {
		return span.Status().Code() == ptrace.StatusCodeError && span.ParentSpanID().IsEmpty()
	}
	call := readBy(&s, i, kind)
	return failureOf(&s, &call) != nil || kind == KindTool && c.judge(nil, &call) != nil
}
