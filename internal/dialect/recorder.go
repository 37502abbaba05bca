package dialect

import (
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// RecordedScope is the scope of the spans that are made of the records of a
// plain recorder.
const RecordedScope = "tapedeck.recorder"

// Attributes of such spans for what the conventions have no name for.
const (
	// RecordedClock is the time that the caller was shown, as it was recorded.
	RecordedClock = "tape.recorded.clock"
	// RecordedArgsRaw is the verbatim text of arguments, and RecordedValidated
	// what the tool made of them, as JSON text.
	RecordedArgsRaw   = "tape.recorded.args_raw"
	RecordedValidated = "tape.recorded.args_validated"
	// RecordedInput and RecordedOutput are what a model call without messages was
	// given and gave, as JSON text.
	RecordedInput  = "tape.recorded.input"
	RecordedOutput = "tape.recorded.output"
	// RecordedSideEffect is a boolean.
	RecordedSideEffect = "tool.side_effect"
	// RecordedErrorCode and RecordedErrorMessage say how a call failed, the latter
	// with all its lines, of which a status has only the first.
	RecordedErrorCode    = "error.code"
	RecordedErrorMessage = "error.message"
)

// recorder reads the records of plain recorders back from the spans that were
// made of them. Contents are JSON text and stand for nothing but themselves:
// what looks like an envelope is what the tool was given or returned.
type recorder struct{}

func (recorder) Name() string { return "recorder" }

// Kind tells model calls by the kind of the span: their operation may have any
// name.
func (recorder) Kind(s *Span) (Kind, bool) {
	switch {
	case s.Scope.Name() != RecordedScope:
		return KindOther, false
	case s.op == "execute_tool":
		return KindTool, true
	case s.op == "invoke_agent":
		return KindAgent, true
	case s.Kind() == ptrace.SpanKindClient:
		return KindModel, true
	}
	return KindOther, true
}

func (d recorder) Read(s *Span) Call {
	c := Call{Settled: true, Never: "the recorder did not record it"}
	if s.Status().Code() == ptrace.StatusCodeError {
		c.Fail = &Failure{Code: s.Str(RecordedErrorCode), Message: s.Str(RecordedErrorMessage), Evidence: "status"}
	}
	c.Agent, c.AgentVersion = s.agentName, s.Str("gen_ai.agent.version")
	switch kind, _ := d.Kind(s); kind {
	case KindTool:
		c.Tool, c.ID = s.Str("gen_ai.tool.name"), s.Str("gen_ai.tool.call.id")
		c.Description = s.Str("gen_ai.tool.description")
		c.Args = s.content(jsonText, "gen_ai.tool.call.arguments")
		c.Args.Raw = s.Str(RecordedArgsRaw)
		c.Result = s.content(jsonText, "gen_ai.tool.call.result")
		c.Validated = s.Value(RecordedValidated)
		c.Tools = toolDefinitions(s.Value("gen_ai.tool.definitions"))
	case KindModel:
		c.Tool, c.Model, c.ResponseModel = s.op, s.Str("gen_ai.request.model"), s.Str("gen_ai.response.model")
		c.Params = params(s, "gen_ai.request.", "gen_ai.request.model")
		c.Usage = genAIUsage(s)
		c.Finish = finishReason(s.Value("gen_ai.response.finish_reasons"))
		c.Tools = toolDefinitions(s.Value("gen_ai.tool.definitions"))
		c.System = systemOf(s.Value("gen_ai.system_instructions"))
		c.Input, c.Request = s.messages("gen_ai.input.messages")
		c.Output, c.Response = s.messages("gen_ai.output.messages")
		c.Args, c.Result = s.content(jsonText, RecordedInput), s.content(jsonText, RecordedOutput)
	}
	c.Clock = s.Str(RecordedClock)
	if effect, ok := truth(recordedEffect(s)); ok {
		c.SideEffect = &effect
	}
	return c
}

func recordedEffect(s *Span) value.Value {
	v, ok := s.Attr(RecordedSideEffect)
	if !ok {
		return value.Value{}
	}
	return fromAttr(v)
}
