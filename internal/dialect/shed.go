package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// shedSize is the length from which a text of a span that has been read is not
// kept, and shedHint what is left of it: that there was something.
const (
	shedSize = 1024
	shedHint = 64
)

// shed lets go of the content of a span that has been read, so that a run needs
// no memory for what its spans repeat. What later passes ask for stays: what is
// configured to be looked for, what an earlier pass wrote, whatever is small, and
// all events but those with messages.
func (n *node) shed(config *Config) {
	s := n.Span
	slim := ptrace.NewSpan()
	slim.SetTraceID(s.TraceID())
	slim.SetSpanID(s.SpanID())
	slim.SetParentSpanID(s.ParentSpanID())
	slim.SetName(s.Name())
	slim.SetKind(s.Kind())
	slim.SetStartTimestamp(s.StartTimestamp())
	slim.SetEndTimestamp(s.EndTimestamp())
	slim.SetDroppedAttributesCount(s.DroppedAttributesCount())
	slim.SetDroppedEventsCount(s.DroppedEventsCount())
	slim.SetDroppedLinksCount(s.DroppedLinksCount())
	s.Span.Status().CopyTo(slim.Status())
	keep := config.keys()
	shedMap(slim.Attributes(), s.Attributes(), keep)
	for _, e := range s.Events().All() {
		if strings.HasPrefix(e.Name(), "gen_ai.") && e.Name() != evaluationEvent {
			continue
		}
		e.CopyTo(slim.Events().AppendEmpty())
	}
	scope := pcommon.NewInstrumentationScope()
	scope.SetName(s.Scope.Name())
	scope.SetVersion(s.Scope.Version())
	s.Span, s.Scope, s.Logs = slim, scope, nil
	n.call.shed()
}

// shedMap copies the attributes that are kept.
func shedMap(to, from pcommon.Map, keep map[string]bool) {
	for k, v := range from.All() {
		switch {
		case keep[k] || strings.HasPrefix(k, "tape."):
			v.CopyTo(to.PutEmpty(k))
		case placed(k):
		case v.Type() == pcommon.ValueTypeStr && len(v.Str()) > shedSize:
			to.PutStr(k, strings.ToValidUTF8(strings.Clone(v.Str()[:shedHint]), ""))
		case v.Type() == pcommon.ValueTypeMap || v.Type() == pcommon.ValueTypeSlice || v.Type() == pcommon.ValueTypeBytes:
			if text := v.AsString(); len(text) > shedSize {
				to.PutStr(k, strings.ToValidUTF8(strings.Clone(text[:shedHint]), ""))
				continue
			}
			v.CopyTo(to.PutEmpty(k))
		default:
			v.CopyTo(to.PutEmpty(k))
		}
	}
}

// placed reports a name with a number in it, as messages have that are spread over
// attributes.
func placed(name string) bool {
	for part := range strings.SplitSeq(name, ".") {
		if plainIndex(part) {
			return true
		}
	}
	return false
}

// keys are the attributes in which the configuration looks for something, and the
// one in which frameworks keep it.
func (c *Config) keys() map[string]bool {
	out := map[string]bool{"metadata": true}
	add := func(keys []string) {
		for _, k := range keys {
			out[k] = true
		}
	}
	for _, keys := range c.Caller {
		add(keys)
	}
	add(c.PromptVersion)
	add(c.PolicyResult)
	add(c.ApprovalID)
	add(c.SideEffect)
	return out
}

// shed lets go of what a call was read from and is not part of its record.
func (c *Call) shed() {
	if c == nil {
		return
	}
	if c.Kind == KindModel {
		if len(c.Input) > 0 {
			c.Args.shed()
			c.Request.shed()
		}
		if len(c.Output) > 0 {
			c.Result.shed()
			c.Response.shed()
		}
		for i := range c.Output {
			c.Output[i] = c.Output[i].Clone()
		}
		for i, p := range c.Params {
			c.Params[i] = value.M(strings.Clone(p.Name), p.Value.Clone())
		}
	}
	for _, s := range []*string{
		&c.Tool, &c.ID, &c.Description, &c.Model, &c.ResponseModel, &c.Finish, &c.RequestID, &c.Agent, &c.AgentVersion, &c.Conversation,
	} {
		*s = strings.Clone(*s)
	}
}

// shed keeps what is said about content and not the content.
func (c *Content) shed() { c.Value, c.Raw, c.source = value.Value{}, "", "" }
