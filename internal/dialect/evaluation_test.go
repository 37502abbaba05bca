package dialect

import (
	"fmt"
	"math"
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
			assert.Equal(t, failed, DefaultConfig().EvaluationFailed(span))
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
	assert.True(t, DefaultConfig().LogEvaluationFailed(rec))
	m := TranslateWithLogs(evaluatedSpan(1, ""), ld, Options{})[0].Manifest
	assert.Equal(t, tape.OutcomeFailed, m.Outcome)
	rec.Attributes().PutStr("gen_ai.evaluation.score.label", "pass")
	assert.False(t, DefaultConfig().LogEvaluationFailed(rec))
}

// Evaluations that only give a number are judged by the rules for their name.
func TestAScoreOutsideItsBoundsIsAFailure(t *testing.T) {
	bound := func(f float64) *float64 { return &f }
	cfg := DefaultConfig()
	cfg.EvaluationScores = []ScoreRule{
		{Evaluation: "faithfulness", Below: bound(0.7)},
		{Evaluation: "toxicity*", Above: bound(0.2)},
		{Evaluation: "length", Below: bound(10), Above: bound(500)},
		{Below: bound(0.5)},
	}
	require.NoError(t, cfg.Validate())
	for _, c := range []struct {
		name  string
		score any
		label string
		want  string
	}{
		{"faithfulness", 0.69, "", "evaluation faithfulness: 0.69 is below 0.7, off topic"},
		{"faithfulness", 0.7, "", ""},
		{"faithfulness", "0.6", "", "evaluation faithfulness: 0.6 is below 0.7, off topic"},
		{"faithfulness", "low", "", ""},
		{"faithfulness", math.NaN(), "", ""},
		{"faithfulness", nil, "", ""},
		{"toxicity_max", 0.3, "", "evaluation toxicity_max: 0.3 is above 0.2, off topic"},
		{"toxicity_max", 0.1, "", ""}, // and not below 0.5: the first rule that fits counts
		{"length", 501, "", "evaluation length: 501 is above 500, off topic"},
		{"length", 9, "", "evaluation length: 9 is below 10, off topic"},
		{"length", 100, "", ""},
		{"other", 0, "", "evaluation other: 0 is below 0.5, off topic"},
		{"", 0.4, "", "evaluation without a name: 0.4 is below 0.5, off topic"},
		{"faithfulness", 0.9, "fail", "evaluation faithfulness: fail, off topic"},
		{"faithfulness", 0.1, "pass", "evaluation faithfulness: 0.1 is below 0.7, off topic"},
	} {
		t.Run(fmt.Sprint(c.name, c.score, c.label), func(t *testing.T) {
			set := func(m pcommon.Map) {
				m.Remove("gen_ai.evaluation.score.label")
				m.PutStr("gen_ai.evaluation.explanation", "off topic")
				require.NoError(t, m.PutEmpty("gen_ai.evaluation.score.value").FromRaw(c.score))
				m.PutStr("gen_ai.evaluation.name", c.name)
				if c.label != "" {
					m.PutStr("gen_ai.evaluation.score.label", c.label)
				}
			}
			td := evaluatedSpan(1, "x")
			span := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0)
			set(span.Events().At(0).Attributes())
			assert.Equal(t, c.want != "", cfg.EvaluationFailed(span))
			ld := plog.NewLogs()
			rec := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
			rec.SetTraceID(pcommon.TraceID{1})
			rec.SetEventName("gen_ai.evaluation.result")
			set(rec.Attributes())
			assert.Equal(t, c.want != "", cfg.LogEvaluationFailed(rec))

			for _, m := range []*tape.Manifest{
				Translate(td, Options{Config: cfg})[0].Manifest,
				TranslateWithLogs(evaluatedSpan(1, ""), ld, Options{Config: cfg})[0].Manifest,
			} {
				if c.want == "" {
					assert.Equal(t, tape.OutcomeSucceeded, m.Outcome)
					continue
				}
				assert.Equal(t, tape.OutcomeFailed, m.Outcome)
				require.NotNil(t, m.Failure)
				assert.Equal(t, c.want, m.Failure.Reason)
			}
			assert.Equal(t, tape.OutcomeFailed == Translate(td, Options{})[0].Manifest.Outcome, c.label == "fail", "no rule by default")
		})
	}
}

func TestAScoreRuleThatCannotWorkIsNamed(t *testing.T) {
	one, two, nan := 1.0, 2.0, math.NaN()
	err := (&Config{EvaluationScores: []ScoreRule{
		{Evaluation: "a"}, {Evaluation: "[", Below: &one}, {Below: &two, Above: &one}, {Above: &nan}, {Below: &one, Above: &two},
	}}).Validate()
	for _, want := range []string{
		"evaluation_scores[0]: needs below or above", `evaluation_scores[1]: evaluation: pattern "[": syntax error in pattern`,
		"evaluation_scores[2]: fits every score", "evaluation_scores[3]: below and above must be finite",
	} {
		require.ErrorContains(t, err, want)
	}
	assert.NotContains(t, err.Error(), "evaluation_scores[4]")
}
