package ingest

import (
	"encoding/json"
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/tape"
)

// memberPrefix is before the names of members that have no other place.
const memberPrefix = "tape.member."

func setResource(res pcommon.Resource, m *tape.Manifest, service string) {
	attrs := res.Attributes()
	putMembers(attrs, m.Resource, "")
	for _, a := range [...]struct{ name, value string }{
		{"service.name", m.Service}, {"service.version", m.CodeVersion}, {"deployment.environment.name", m.Environment},
	} {
		putText(attrs, a.name, a.value)
	}
	if v, ok := attrs.Get("service.name"); !ok || v.AsString() == "" {
		putText(attrs, "service.name", service)
	}
}

func putText(m pcommon.Map, name, value string) {
	if value != "" {
		m.PutStr(name, value)
	}
}

// agent is the span of the run as a whole.
func (b *builder) agent() ptrace.Span {
	m := b.manifest
	at := b.times[0]
	for _, t := range b.times {
		if t.start.Before(at.start) {
			at.start = t.start
		}
		if t.end.After(at.end) {
			at.end = t.end
		}
	}
	if t, ok := instant(m.Started); ok && t.Before(at.start) {
		at.start = t
	}
	if t, ok := instant(m.Ended); ok && t.After(at.end) {
		at.end = t
	}
	s := b.span(b.root, strings.TrimSpace("invoke_agent "+m.Agent), at)
	attrs := s.Attributes()
	attrs.PutStr("gen_ai.operation.name", "invoke_agent")
	putText(attrs, "gen_ai.agent.name", m.Agent)
	putText(attrs, "gen_ai.agent.version", m.AgentVersion)
	putText(attrs, "gen_ai.conversation.id", m.ConversationID)
	switch m.Outcome {
	case tape.OutcomeFailed:
		s.Status().SetCode(ptrace.StatusCodeError)
		if m.Failure != nil {
			s.Status().SetMessage(m.Failure.Reason)
		}
	case tape.OutcomeSucceeded, tape.OutcomeRecovered:
		s.Status().SetCode(ptrace.StatusCodeOk)
	}
	return s
}

// call is the span of a tool call or a model call.
func (b *builder) call(i int) ptrace.Span {
	r := b.records[i]
	var s ptrace.Span
	if r.KindOf() == tape.KindModel {
		s = b.model(i, r)
	} else {
		s = b.tool(i, r)
	}
	attrs := s.Attributes()
	putText(attrs, dialect.RecordedClock, r.Clock)
	if r.SideEffect != nil {
		attrs.PutBool(dialect.RecordedSideEffect, *r.SideEffect)
	}
	putText(attrs, "gen_ai.prompt.version", r.PromptVersion)
	putText(attrs, "policy.result", r.PolicyResult)
	putText(attrs, "approval.id", r.ApprovalID)
	putText(attrs, dialect.RecordedExpires, r.Expires)
	putCaller(attrs, r.CallerContext)
	for _, member := range r.Extra {
		attrs.PutStr(memberPrefix+member.Name, string(member.Value))
	}
	setError(s, r.Error)
	return s
}

func (b *builder) tool(i int, r *tape.Record) ptrace.Span {
	s := b.span(b.ids[i], strings.TrimSpace("execute_tool "+r.Tool), b.times[i])
	attrs := s.Attributes()
	attrs.PutStr("gen_ai.operation.name", "execute_tool")
	attrs.PutStr("gen_ai.tool.name", r.Tool)
	putText(attrs, "gen_ai.tool.call.id", r.ToolCallID)
	if b.holds(r, r.Args, true) {
		attrs.PutStr("gen_ai.tool.call.arguments", jsonOf(r.Args))
	}
	if b.holds(r, r.Result, false) {
		attrs.PutStr("gen_ai.tool.call.result", jsonOf(r.Result))
	}
	putText(attrs, dialect.RecordedArgsRaw, r.ArgsRaw)
	putText(attrs, dialect.RecordedValidated, string(r.ArgsValidated))
	b.define(attrs, r)
	return s
}

// holds reports whether content is on the tape itself. Null is, unless the record
// says that it stands for what was never captured.
func (b *builder) holds(r *tape.Record, content json.RawMessage, args bool) bool {
	for i := range r.Bodies {
		if r.Bodies[i].IsArgs() == args {
			b.byReference++
			return false
		}
	}
	return len(content) > 0 || r.Fidelity != tape.FidelityAbsent && r.Fidelity != tape.FidelitySynthesised
}

// jsonOf is content as text; nil is null.
func jsonOf(content json.RawMessage) string {
	if len(content) == 0 {
		return "null"
	}
	return string(content)
}

// define describes the tool of a call where that is not known already, in the form
// in which models are offered tools.
func (b *builder) define(attrs pcommon.Map, r *tape.Record) {
	tool, ok := b.tools[r.Tool]
	switch version, defined := b.defined[r.Tool]; {
	case defined && (r.SchemaVersion == "" || r.SchemaVersion == version):
		return
	case ok && (r.SchemaVersion == "" || r.SchemaVersion == tool.SchemaVersion):
	case r.SchemaVersion == "":
		return
	default:
		tool = tape.Tool{Name: r.Tool, SchemaVersion: r.SchemaVersion}
	}
	b.defined[r.Tool] = tool.SchemaVersion
	type definition struct {
		Name        string          `json:"name"`
		Description string          `json:"description,omitempty"`
		Schema      json.RawMessage `json:"schema,omitempty"`
		Version     string          `json:"version,omitempty"`
	}
	text, err := json.Marshal([]definition{{tool.Name, tool.Description, tool.Schema, tool.SchemaVersion}})
	if err == nil {
		attrs.PutStr("gen_ai.tool.definitions", string(text))
	}
}

// putCaller writes the members of the context of a caller under the names that
// are read by default.
func putCaller(attrs pcommon.Map, context json.RawMessage) {
	for _, m := range membersOf(context) {
		switch m.name {
		case "user":
			putValue(attrs.PutEmpty("user.id"), m.value)
		case "tenant":
			putValue(attrs.PutEmpty("tenant.id"), m.value)
		case "role":
			putValue(attrs.PutEmpty("user.roles"), m.value)
		case "permissions":
			putValue(attrs.PutEmpty("enduser.scope"), m.value)
		default:
			putValue(attrs.PutEmpty(memberPrefix+"caller_context."+m.name), m.value)
		}
	}
}

// setError makes a span that of a failed call. A status is for one line; what has
// more is in an attribute of its own.
func setError(s ptrace.Span, e *tape.Error) {
	if e == nil {
		return
	}
	s.Status().SetCode(ptrace.StatusCodeError)
	line, _, more := strings.Cut(e.Message, "\n")
	s.Status().SetMessage(strings.TrimSpace(line))
	if more || strings.TrimSpace(line) != line || strings.Contains(line, "Traceback ") {
		// Readers take the line of a status for all there is.
		s.Status().SetMessage("")
	}
	attrs := s.Attributes()
	putText(attrs, "error.type", e.Type)
	putText(attrs, dialect.RecordedErrorCode, e.Code)
	putText(attrs, dialect.RecordedErrorMessage, e.Message)
}
