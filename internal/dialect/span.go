package dialect

import (
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// Span is what a dialect sees: one span with its resource and scope, and the
// few attributes by which dialects recognise their own, found in one pass.
type Span struct {
	ptrace.Span
	Resource pcommon.Resource
	Scope    pcommon.InstrumentationScope
	// Logs are the log records that name this span, in the order of their time.
	Logs []Log

	// history is shared by the spans of a run.
	history *history
	// model is set while the span is read as a model call.
	model bool

	marks
}

// marks are the recognising attributes of a span.
type marks struct {
	op         string // gen_ai.operation.name
	oi         string // openinference.span.kind
	traceloop  string // traceloop.span.kind
	vercel     string // ai.operationId
	mcp        string // mcp.method.name
	langfuse   string // langfuse.observation.type
	langsmith  string // langsmith.span.kind
	mlflow     string // mlflow.spanType, without its quotes
	mastra     string // mastra.span.type
	spring     string // spring.ai.kind
	spanType   string // span.type
	genkit     string // genkit:metadata:subtype
	laminar    string // lmnr.span.type
	conv       string
	convRank   int
	agentName  string // gen_ai.agent.name
	errorType  string
	outcome    string // tape.outcome, of an earlier pass
	trigger    string // tape.trigger
	errorLevel bool   // langfuse.observation.level is ERROR
	toolName   bool   // gen_ai.tool.name is there
	toolCall   bool   // tool_name and call_id are there
	llmRequest bool   // llm.request.type is there
	oiTool     bool   // tool.name is there
	// traceloopAny: some traceloop.* attribute is there.
	traceloopAny bool
	liveKit      bool // some lk.* attribute is there
	copilot      bool // copilot_chat.chat_session_id is there
	anthropic    bool // some anthropic.* attribute is there
	adk          bool // some gcp.vertex.agent.* attribute is there
	// strands: Strands' name as the provider, or its times of a span's events.
	strands bool
	autogen bool // gen_ai.system is autogen
	// braintrust is the type in braintrust.span_attributes.
	braintrust braintrustType
}

func newSpan(res pcommon.Resource, scope pcommon.InstrumentationScope, span ptrace.Span) Span {
	s := Span{Span: span, Resource: res, Scope: scope}
	s.scan()
	return s
}

func (s *Span) scan() {
	m := &s.marks
	toolName, callID := false, false
	for k, v := range s.Attributes().All() {
		switch k {
		case "gen_ai.operation.name":
			m.op = v.Str()
		case "openinference.span.kind":
			m.oi = v.Str()
		case "traceloop.span.kind":
			m.traceloop, m.traceloopAny = v.Str(), true
		case "tool.name":
			m.oiTool = true
		case "ai.operationId":
			m.vercel = v.Str()
		case "mcp.method.name", "mcp.method":
			m.mcp = v.Str()
		case "langfuse.observation.type":
			m.langfuse = v.Str()
		case "langsmith.span.kind":
			m.langsmith = v.Str()
		case "mlflow.spanType":
			m.mlflow = strings.Trim(v.Str(), `"`)
		case "mastra.span.type":
			m.mastra = v.Str()
		case "spring.ai.kind":
			m.spring = v.Str()
		case "genkit:metadata:subtype":
			m.genkit = v.Str()
		case "lmnr.span.type":
			m.laminar = v.Str()
		case "braintrust.span_attributes":
			m.braintrust = braintrustTypeOf(v.Str())
		case "gen_ai.system", "gen_ai.provider.name":
			m.strands = m.strands || v.Str() == "strands-agents"
			m.autogen = m.autogen || v.Str() == "autogen"
		case "gen_ai.event.start_time":
			m.strands = true
		case "rpc.method":
			// FastMCP's older releases name the method so.
			if v.Str() == "tools/call" {
				m.mcp = v.Str()
			}
		case "span.type":
			m.spanType = v.Str()
		case "gen_ai.agent.name":
			m.agentName = v.Str()
		case "tape.outcome":
			m.outcome = v.Str()
		case "tape.trigger":
			m.trigger = v.Str()
		case "langfuse.observation.level":
			m.errorLevel = v.Str() == "ERROR"
		case "error.type":
			m.errorType = v.Str()
		case "gen_ai.tool.name":
			m.toolName = true
		case "tool_name":
			toolName = true
		case "call_id":
			callID = true
		case "llm.request.type":
			m.llmRequest = true
		default:
			m.prefixed(k)
			if r := conversationRank(k); r > 0 && (m.convRank == 0 || r < m.convRank) && v.Type() == pcommon.ValueTypeStr && v.Str() != "" {
				m.conv, m.convRank = v.Str(), r
			}
		}
	}
	m.toolCall = toolName && callID
	if m.op == "" && s.DroppedAttributesCount() > 0 {
		m.op = operationOf(s.Name(), s.Kind())
	}
}

// prefixed notes dialects of which any attribute is a mark.
func (m *marks) prefixed(k string) {
	if k == "" {
		return
	}
	switch k[0] {
	case 't':
		m.traceloopAny = m.traceloopAny || strings.HasPrefix(k, "traceloop.")
	case 'l':
		m.liveKit = m.liveKit || strings.HasPrefix(k, "lk.")
	case 'c':
		m.copilot = m.copilot || strings.HasPrefix(k, "copilot_chat.")
	case 'a':
		m.anthropic = m.anthropic || strings.HasPrefix(k, "anthropic.")
	case 'g':
		m.adk = m.adk || strings.HasPrefix(k, "gcp.vertex.agent.")
	}
}

// conversationRank orders the attributes that name a conversation, the surest
// first; 0 is none. A transport session, such as mcp.session.id, is not one.
func conversationRank(key string) int {
	switch key {
	case "gen_ai.conversation.id":
		return 1
	case "session.id":
		return 2
	case "langfuse.session.id", "gcp.vertex.agent.session_id", "spring.ai.chat.client.conversation.id",
		"copilot_chat.chat_session_id", "conversation.id":
		return 3
	case "ai.telemetry.metadata.sessionId", "ai.telemetry.metadata.conversationId", "ai.telemetry.metadata.threadId",
		"ai.telemetry.metadata.session_id", "ai.telemetry.metadata.thread_id":
		return 4
	case "traceloop.association.properties.session_id", "traceloop.association.properties.conversation_id",
		"langsmith.metadata.session_id", "langsmith.metadata.conversation_id":
		return 5
	case "traceloop.association.properties.thread_id", "langsmith.metadata.thread_id", "threadId":
		return 6
	}
	return 0
}

// Attr is the attribute of that name.
func (s *Span) Attr(key string) (pcommon.Value, bool) { return s.Attributes().Get(key) }

// Str is a string attribute, "" if there is none.
func (s *Span) Str(keys ...string) string {
	for _, key := range keys {
		if v, ok := s.Attributes().Get(key); ok && v.Type() == pcommon.ValueTypeStr && v.Str() != "" {
			return v.Str()
		}
	}
	return ""
}

// answered reports whether the span says what came out of it, by the names of
// any framework.
func (s *Span) answered() bool {
	if s.Scope.Name() == RecordedScope && s.Status().Code() == ptrace.StatusCodeOk {
		// The recorder knew how the run ended.
		return true
	}
	for _, key := range [...]string{"traceloop.entity.output", "output.value", "gen_ai.output.messages", "langfuse.observation.output", "mlflow.spanOutputs"} {
		if v, ok := s.Attr(key); ok && v.AsString() != "" && v.AsString() != `""` && v.AsString() != "null" {
			return true
		}
	}
	return false
}

// Value is the first present attribute as a value; strings that hold a JSON
// object or array are parsed.
func (s *Span) Value(keys ...string) value.Value {
	for _, key := range keys {
		if v, ok := s.Attributes().Get(key); ok {
			return parsedBy(fromAttr(v), s.memo())
		}
	}
	return value.Value{}
}

// memo is what is remembered of texts that model calls repeat, nil for other
// spans, whose content comes once.
func (s *Span) memo() *value.Memo {
	if s.history == nil || !s.model {
		return nil
	}
	return &s.history.memo
}

// attrMemo is memo for content that is structured.
func (s *Span) attrMemo() *attrMemo {
	if s.history == nil || !s.model {
		return nil
	}
	return &s.history.attrs
}

// parsed is v, or what its text holds where the text is a JSON object or array.
func parsed(v value.Value) value.Value { return parsedBy(v, nil) }

func parsedBy(v value.Value, memo *value.Memo) value.Value {
	for range maxEncodings {
		s := strings.TrimSpace(v.Str())
		if s == "" || s[0] != '{' && s[0] != '[' && s[0] != '"' {
			return v
		}
		inner, err := memo.Parse(s)
		if err != nil {
			return v
		}
		v = inner
	}
	return v
}

// fromAttr is an attribute value as JSON value. Bytes that are text become
// text, other bytes base64 as OTLP/JSON writes them.
func fromAttr(v pcommon.Value) value.Value { return fromAttrDepth(v, 0) }

func fromAttrDepth(v pcommon.Value, depth int) value.Value {
	if depth > value.MaxDepth {
		return value.Value{}
	}
	switch v.Type() {
	case pcommon.ValueTypeStr:
		return value.Str(v.Str())
	case pcommon.ValueTypeBool:
		return value.Boolean(v.Bool())
	case pcommon.ValueTypeInt:
		return value.Int(v.Int())
	case pcommon.ValueTypeDouble:
		return value.Float(v.Double())
	case pcommon.ValueTypeBytes:
		if raw := v.Bytes().AsRaw(); utf8.Valid(raw) {
			return value.Str(string(raw))
		}
		return value.Str(v.AsString())
	case pcommon.ValueTypeSlice:
		items := make([]value.Value, 0, v.Slice().Len())
		for i := range v.Slice().Len() {
			items = append(items, fromAttrDepth(v.Slice().At(i), depth+1))
		}
		return value.List(items...)
	case pcommon.ValueTypeMap:
		members := make([]value.Member, 0, v.Map().Len())
		for k, e := range v.Map().All() {
			members = append(members, value.M(k, fromAttrDepth(e, depth+1)))
		}
		return value.Obj(members...)
	}
	return value.Value{}
}

// jsonMember reports whether JSON text has a member with that text as value,
// spaced as JSON writers do. It may err where the text is inside a string.
func jsonMember(text, name, v string) bool {
	at := strings.Index(text, `"`+name+`"`)
	if at < 0 {
		return false
	}
	rest := strings.TrimLeft(text[at+len(name)+2:], " ")
	rest, ok := strings.CutPrefix(rest, ":")
	rest = strings.TrimLeft(rest, " ")
	return ok && len(rest) >= len(v)+2 && rest[0] == '"' && rest[1:1+len(v)] == v && rest[1+len(v)] == '"'
}

// operationOf is the operation in the name of a span. Limits on the number of
// attributes drop the oldest, which is the operation.
func operationOf(name string, kind ptrace.SpanKind) string {
	op, _, ok := strings.Cut(name, " ")
	switch {
	case !ok:
	case op == "execute_tool", op == "invoke_agent":
		return op
	case kind == ptrace.SpanKindClient && (op == "chat" || op == "generate_content" || op == "text_completion" || op == "embeddings"):
		return op
	}
	return ""
}
