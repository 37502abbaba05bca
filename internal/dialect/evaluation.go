package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// An evaluation of a run is an event of the GenAI conventions, on a span or as a
// log record. A run that was judged to have failed has failed, however its spans
// ended.
const (
	evaluationEvent       = "gen_ai.evaluation.result"
	evaluationName        = "gen_ai.evaluation.name"
	evaluationLabel       = "gen_ai.evaluation.score.label"
	evaluationExplanation = "gen_ai.evaluation.explanation"
)

// failedLabels are the labels that mean a failure whatever is evaluated. A number
// alone says nothing: for some metrics more is worse.
var failedLabels = map[string]bool{
	"fail": true, "failed": true, "failure": true, "not_pass": true, "not_passed": true, "incorrect": true,
}

// EvaluationFailed reports whether one of a span's events is an evaluation that
// failed.
func EvaluationFailed(span ptrace.Span) bool {
	for _, e := range span.Events().All() {
		if e.Name() == evaluationEvent && failedLabel(e.Attributes()) {
			return true
		}
	}
	return false
}

// LogEvaluationFailed is [EvaluationFailed] for a log record.
func LogEvaluationFailed(rec plog.LogRecord) bool {
	named := rec.EventName() == evaluationEvent || attrText(rec.Attributes(), "event.name") == evaluationEvent
	return named && failedLabel(rec.Attributes())
}

func failedLabel(attrs pcommon.Map) bool {
	label := strings.NewReplacer(" ", "_", "-", "_").Replace(attrText(attrs, evaluationLabel))
	return failedLabels[strings.ToLower(label)]
}

// failedEvaluation says which evaluation of the run failed, "" for none.
func (r *run) failedEvaluation() string {
	for _, n := range r.nodes {
		if n.Span == nil || !EvaluationFailed(n.Span.Span) {
			continue
		}
		for _, e := range n.Events().All() {
			if e.Name() == evaluationEvent && failedLabel(e.Attributes()) {
				return evaluationText(e.Attributes())
			}
		}
	}
	for i := range r.logs {
		if l := &r.logs[i]; l.Name == evaluationEvent && failedLabel(l.Attrs) {
			return evaluationText(l.Attrs)
		}
	}
	return ""
}

func evaluationText(attrs pcommon.Map) string {
	text := "evaluation " + firstOf(attrText(attrs, evaluationName), "without a name") + ": " + attrText(attrs, evaluationLabel)
	if why := firstLine(attrText(attrs, evaluationExplanation)); why != "" {
		text += ", " + why
	}
	return text
}
