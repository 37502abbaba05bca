package dialect

import (
	"errors"
	"fmt"
	"math"
	"strconv"
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
	evaluationScore       = "gen_ai.evaluation.score.value"
	evaluationExplanation = "gen_ai.evaluation.explanation"
)

// failedLabels are the labels that mean a failure whatever is evaluated. A number
// alone says nothing without a [ScoreRule]: for some metrics more is worse.
var failedLabels = map[string]bool{
	"fail": true, "failed": true, "failure": true, "not_pass": true, "not_passed": true, "incorrect": true,
}

// ScoreRule says which scores of an evaluation are failures:
//
//	{evaluation: faithfulness, below: 0.7}
//	{evaluation: "toxicity*", above: 0.2}
//	{below: 0.5}
//
// It never undoes what the label of an evaluation says.
type ScoreRule struct {
	// Evaluation is a glob over the names of evaluations, as path.Match has it; "" is
	// every evaluation, also one without a name.
	Evaluation string `mapstructure:"evaluation"`
	// Below and Above are the bounds outside of which a score is a failure; the bounds
	// themselves are none. At least one is set.
	Below *float64 `mapstructure:"below"`
	Above *float64 `mapstructure:"above"`
}

// Validate says why a rule can never work.
func (r *ScoreRule) Validate() error {
	if r.Evaluation != "" {
		if err := checkGlob(r.Evaluation); err != nil {
			return fmt.Errorf("evaluation: %w", err)
		}
	}
	for _, bound := range []*float64{r.Below, r.Above} {
		if bound != nil && (math.IsNaN(*bound) || math.IsInf(*bound, 0)) {
			return errors.New("below and above must be finite numbers")
		}
	}
	switch {
	case r.Below == nil && r.Above == nil:
		return errors.New("needs below or above")
	case r.Below != nil && r.Above != nil && *r.Below > *r.Above:
		return errors.New("fits every score: below is more than above")
	}
	return nil
}

// shown says how a score shows a failure, "" when it does not.
func (r *ScoreRule) shown(score float64) string {
	switch {
	case r.Below != nil && score < *r.Below:
		return number(score) + " is below " + number(*r.Below)
	case r.Above != nil && score > *r.Above:
		return number(score) + " is above " + number(*r.Above)
	}
	return ""
}

func number(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// EvaluationFailed reports whether one of a span's events is an evaluation that
// failed.
func (c *Config) EvaluationFailed(span ptrace.Span) bool {
	for _, e := range span.Events().All() {
		if e.Name() == evaluationEvent && c.failedEvaluation(e.Attributes()) != "" {
			return true
		}
	}
	return false
}

// LogEvaluationFailed is EvaluationFailed for a log record.
func (c *Config) LogEvaluationFailed(rec plog.LogRecord) bool {
	named := rec.EventName() == evaluationEvent || attrText(rec.Attributes(), "event.name") == evaluationEvent
	return named && c.failedEvaluation(rec.Attributes()) != ""
}

// failedEvaluation says what shows that an evaluation failed, its label or else its
// score; "" when nothing does.
func (c *Config) failedEvaluation(attrs pcommon.Map) string {
	label := attrText(attrs, evaluationLabel)
	if failedLabels[strings.ToLower(strings.NewReplacer(" ", "_", "-", "_").Replace(label))] {
		return label
	}
	if len(c.EvaluationScores) == 0 {
		return ""
	}
	score, ok := scoreOf(attrs)
	if !ok {
		return ""
	}
	name := attrText(attrs, evaluationName)
	for i := range c.EvaluationScores {
		if r := &c.EvaluationScores[i]; r.Evaluation == "" || matches(r.Evaluation, name) {
			return r.shown(score)
		}
	}
	return ""
}

// scoreOf is the score of an evaluation. Some write it as a whole number or a text.
func scoreOf(attrs pcommon.Map) (float64, bool) {
	v, ok := attrs.Get(evaluationScore)
	if !ok {
		return 0, false
	}
	switch v.Type() {
	case pcommon.ValueTypeDouble:
		return v.Double(), !math.IsNaN(v.Double())
	case pcommon.ValueTypeInt:
		return float64(v.Int()), true
	case pcommon.ValueTypeStr:
		f, err := strconv.ParseFloat(strings.TrimSpace(v.Str()), 64)
		return f, err == nil && !math.IsNaN(f)
	default:
		return 0, false
	}
}

// failedEvaluation says which evaluation of the run failed, "" for none.
func (r *run) failedEvaluation() string {
	config := r.opts.config()
	for _, n := range r.nodes {
		if n.Span == nil {
			continue
		}
		for _, e := range n.Events().All() {
			if e.Name() != evaluationEvent {
				continue
			}
			if shown := config.failedEvaluation(e.Attributes()); shown != "" {
				return evaluationText(e.Attributes(), shown)
			}
		}
	}
	for i := range r.logs {
		l := &r.logs[i]
		if l.Name != evaluationEvent {
			continue
		}
		if shown := config.failedEvaluation(l.Attrs); shown != "" {
			return evaluationText(l.Attrs, shown)
		}
	}
	return ""
}

func evaluationText(attrs pcommon.Map, shown string) string {
	text := "evaluation " + firstOf(attrText(attrs, evaluationName), "without a name") + ": " + shown
	if why := firstLine(attrText(attrs, evaluationExplanation)); why != "" {
		text += ", " + why
	}
	return text
}
