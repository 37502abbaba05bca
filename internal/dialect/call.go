package dialect

import (
	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/tape"
)

// Kind says what a span stands for.
type Kind uint8

// The kinds of a span.
const (
	// KindOther is a span that is no call: a step, a request, a database query.
	KindOther Kind = iota
	// KindTool is a tool call.
	KindTool
	// KindModel is a model call.
	KindModel
	// KindAgent is an agent or a whole run.
	KindAgent
	// KindPart belongs to the tool call around it: its handler, its server side,
	// its wait for approval. It is no call of its own.
	KindPart
	// kindDraw is a clock read or a random draw, which is an event of a span.
	kindDraw
)

// String is the name of the kind.
func (k Kind) String() string {
	switch k {
	case KindTool:
		return "tool"
	case KindModel:
		return "model"
	case KindAgent:
		return "agent"
	case KindPart:
		return "part"
	}
	return "other"
}

// Call is one span in neutral form: what a dialect read from it. Members that
// the span does not tell stay zero and are filled from its twins and from the
// messages of model calls.
type Call struct {
	Dialect string
	// Fix is the switch of the instrumentation that turns content on.
	Fix string
	// Never says why content is missing where there is no such switch.
	Never string
	Kind  Kind

	// Tool is the tool's name, or the operation of a model call.
	Tool string
	// ClassName is set where Tool names the framework's class for every tool,
	// so that the real name has to come from elsewhere.
	ClassName bool
	// Stem is Tool without a number that may only tell it from its siblings.
	Stem string
	// ID is the call id as issued by the model or framework.
	ID     string
	Args   Content
	Result Content
	// Validated are the arguments as validated by the tool.
	Validated value.Value
	// Fail is a failure the span shows otherwise than by status or exception.
	Fail *Failure
	// OK is set where the span says itself that the call succeeded.
	OK          bool
	Description string
	SideEffect  *bool
	// Clock is the time that the call showed its caller, RFC 3339.
	Clock string
	// Wrapped is set where the framework puts results that are no objects into
	// {"result": X} or {"output": X} before the model sees them.
	Wrapped bool
	// Silent marks a span that knows the content of the one model call inside it
	// without standing for it.
	Silent bool
	// Settled is set where the span has been read in its other dialects too.
	Settled bool
	// draw is the kind of record where Kind is kindDraw.
	draw tape.Kind
	// conventions is set where the GenAI attributes have been read.
	conventions bool
	// Server marks the answering side of a call over a protocol.
	Server bool

	Model         string
	ResponseModel string
	System        []message.Message
	Input         []message.Message
	// talk is the conversation that Input is, once it is known.
	talk   *conversation
	Output []message.Message
	// bareRequest and bareAnswer are set where Input and Output have no content.
	bareRequest, bareAnswer bool
	// Request and Response say how the messages were found.
	Request  Content
	Response Content
	Tools    []toolDef
	Params   []value.Member
	Finish   string
	Usage    Usage
	// Cost of a model call in US dollars, nil when not told.
	Cost *float64

	// RequestID is what the provider calls the request of a model call.
	RequestID string

	Agent        string
	AgentVersion string
	Conversation string
}

// Usage counts the tokens of a model call. A count is nil when not told.
type Usage struct {
	Input, Output, CacheRead, CacheWrite, Reasoning *int64
}

// Failure is how a call failed.
type Failure struct {
	Code    string
	Message string
	Type    string
	// Evidence says what shows the failure: "status", "attribute", "event",
	// "result", "child", "log", "root".
	Evidence string
}

func (f *Failure) merge(o *Failure) *Failure {
	if f == nil {
		return o
	}
	if o == nil {
		return f
	}
	out := *f
	if out.Code == "" {
		out.Code = o.Code
	}
	if out.Message == "" {
		out.Message = o.Message
	}
	if out.Type == "" || out.Type == "_OTHER" && o.Type != "" {
		out.Type = o.Type
	}
	return &out
}

// fill takes from o what c lacks. Both describe the same call.
func (c *Call) fill(o *Call) {
	pick(&c.Tool, o.Tool)
	if c.ClassName && !o.ClassName && o.Tool != "" {
		c.Tool, c.ClassName = o.Tool, false
	}
	pick(&c.ID, o.ID)
	c.Args.fill(o.Args)
	c.Result.fill(o.Result)
	if c.Validated.IsNull() {
		c.Validated = o.Validated
	}
	c.Fail = c.Fail.merge(o.Fail)
	pick(&c.Description, o.Description)
	if c.SideEffect == nil {
		c.SideEffect = o.SideEffect
	}
	pick(&c.Model, o.Model)
	pick(&c.ResponseModel, o.ResponseModel)
	if weight(o.Input) > weight(c.Input) {
		c.Input, c.Request, c.talk, c.bareRequest = o.Input, o.Request, o.talk, o.bareRequest
	}
	if weight(o.Output) > weight(c.Output) {
		c.Output, c.Response, c.bareAnswer = o.Output, o.Response, o.bareAnswer
	}
	if len(c.System) == 0 {
		c.System = o.System
	}
	if len(c.Tools) < len(o.Tools) {
		c.Tools = o.Tools
	}
	if len(c.Params) == 0 {
		c.Params = o.Params
	}
	pick(&c.Finish, o.Finish)
	c.Usage.fill(o.Usage)
	if c.Cost == nil {
		c.Cost = o.Cost
	}
	pick(&c.Agent, o.Agent)
	pick(&c.AgentVersion, o.AgentVersion)
	pick(&c.Conversation, o.Conversation)
}

// weight compares two readings of the same messages: more messages are more,
// then more parts.
func weight(ms []message.Message) int {
	n := 0
	for _, m := range ms {
		n += 1
		for _, p := range m.Parts {
			n += 1000
			if p.ID != "" {
				n++
			}
		}
	}
	return n
}

func (u *Usage) fill(o Usage) {
	for _, p := range [...]struct{ to, from **int64 }{
		{&u.Input, &o.Input}, {&u.Output, &o.Output}, {&u.CacheRead, &o.CacheRead},
		{&u.CacheWrite, &o.CacheWrite}, {&u.Reasoning, &o.Reasoning},
	} {
		if *p.to == nil {
			*p.to = *p.from
		}
	}
}

func (u Usage) value() value.Value {
	var members []value.Member
	add := func(name string, n *int64) {
		if n != nil {
			members = append(members, value.M(name, value.Int(*n)))
		}
	}
	add("input_tokens", u.Input)
	add("output_tokens", u.Output)
	add("cache_read_tokens", u.CacheRead)
	add("cache_write_tokens", u.CacheWrite)
	add("reasoning_tokens", u.Reasoning)
	if members == nil {
		return value.Value{}
	}
	return value.Obj(members...)
}

func pick(to *string, from string) {
	if *to == "" {
		*to = from
	}
}
