package storetest

import (
	"encoding/hex"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Call is one tool call of a run made by AgentRun.
type Call struct {
	Tool, Args, Result string
	// Error, when set, makes the call fail.
	Error string
}

// AgentRun makes the trace of an agent run in the OpenTelemetry conventions:
// one root and one span for each call, all spans one second long. The root
// fails when the last call does.
func AgentRun(t testing.TB, traceID string, start time.Time, calls ...Call) ptrace.Traces {
	t.Helper()
	raw, err := hex.DecodeString(traceID)
	require.NoError(t, err)
	td := ptrace.NewTraces()
	rs := td.ResourceSpans().AppendEmpty()
	rs.Resource().Attributes().PutStr("service.name", "shop")
	ss := rs.ScopeSpans().AppendEmpty()
	ss.Scope().SetName("opentelemetry.instrumentation.agent")
	span := func(n int, name string, at, end time.Time) ptrace.Span {
		s := ss.Spans().AppendEmpty()
		s.SetTraceID(pcommon.TraceID(raw))
		s.SetSpanID(pcommon.SpanID{byte(n), byte(n >> 8)})
		s.SetName(name)
		s.SetStartTimestamp(pcommon.NewTimestampFromTime(at))
		s.SetEndTimestamp(pcommon.NewTimestampFromTime(end))
		return s
	}
	root := span(1, "invoke_agent buyer", start, start.Add(time.Duration(len(calls))*time.Second))
	root.Attributes().PutStr("gen_ai.operation.name", "invoke_agent")
	root.Attributes().PutStr("gen_ai.agent.name", "buyer")
	root.Attributes().PutStr("gen_ai.conversation.id", "talk-1")
	for i, call := range calls {
		at := start.Add(time.Duration(i) * time.Second)
		s := span(i+2, "execute_tool "+call.Tool, at, at.Add(time.Second))
		s.SetParentSpanID(pcommon.SpanID{1})
		m := s.Attributes()
		m.PutStr("gen_ai.operation.name", "execute_tool")
		m.PutStr("gen_ai.tool.name", call.Tool)
		m.PutStr("gen_ai.tool.call.arguments", call.Args)
		if call.Result != "" {
			m.PutStr("gen_ai.tool.call.result", call.Result)
		}
		if call.Error != "" {
			m.PutStr("error.type", "ToolError")
			s.Status().SetCode(ptrace.StatusCodeError)
			s.Status().SetMessage(call.Error)
			if i == len(calls)-1 {
				root.Status().SetCode(ptrace.StatusCodeError)
			}
		}
	}
	return td
}
