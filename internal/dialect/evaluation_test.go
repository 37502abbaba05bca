package dialect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/tape"
)

func evaluatedSpan(id byte, label string) ptrace.Traces {
	td := ptrace.NewTraces()
	s := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	s.SetTraceID(pcommon.TraceID{id})
	s.SetSpanID(pcommon.SpanID{1})
	s.SetStartTimestamp(1)
	s.SetEndTimestamp(2)
	s.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
	s.Attributes().PutStr("gen_ai.tool.name", "t")
	if label == "" {
		return td
	}
	e := s.Events().AppendEmpty()
	e.SetName("gen_ai.evaluation.result")
	e.Attributes().PutStr("gen_ai.evaluation.name", "Relevance")
	e.Attributes().PutStr("gen_ai.evaluation.score.label", label)
	e.Attributes().PutStr("gen_ai.evaluation.explanation", "off topic")
	return td
}

func TestARunThatWasJudgedToHaveFailedHasFailed(t *testing.T) {
	for label, failed := range map[string]bool{
		"": false, "pass": false, "Fail": true, "failed": true, "Not passed": true, "relevant": false,
	} {
		t.Run(label, func(t *testing.T) {
			td := evaluatedSpan(1, label)
			span := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
			assert.Equal(t, failed, EvaluationFailed(span))
			m := Translate(td, Options{})[0].Manifest
			if !failed {
				assert.Equal(t, tape.OutcomeSucceeded, m.Outcome)
				return
			}
			assert.Equal(t, tape.OutcomeFailed, m.Outcome)
			require.NotNil(t, m.Failure)
			assert.Equal(t, "evaluation Relevance: "+label+", off topic", m.Failure.Reason)
		})
	}
}

func TestAnEvaluationMayBeALogRecord(t *testing.T) {
	ld := plog.NewLogs()
	rec := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	rec.SetTraceID(pcommon.TraceID{1})
	rec.SetEventName("gen_ai.evaluation.result")
	rec.Attributes().PutStr("gen_ai.evaluation.score.label", "fail")
	assert.True(t, LogEvaluationFailed(rec))
	m := TranslateWithLogs(evaluatedSpan(1, ""), ld, Options{})[0].Manifest
	assert.Equal(t, tape.OutcomeFailed, m.Outcome)
	rec.Attributes().PutStr("gen_ai.evaluation.score.label", "pass")
	assert.False(t, LogEvaluationFailed(rec))
}
