// Package condition decides by OTTL conditions over spans whether a run is wanted.
//
// It exists apart from the recorder because it is the one part of the decision
// that knows a collector's language. A condition is compiled once; asking it
// costs a walk of its expression for each span of a run that nothing else keeps,
// and nothing where there are no conditions.
package condition

import (
	"context"
	"errors"
	"fmt"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlspan"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/ottlfuncs"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.uber.org/zap"
)

// Conditions are asked about the spans of a run; any one of them is enough.
// They are safe for concurrent use.
type Conditions struct {
	sequence ottl.ConditionSequence[*ottlspan.TransformContext]
}

type parser = ottl.Parser[*ottlspan.TransformContext]

func newParser(set component.TelemetrySettings) (*parser, error) {
	p, err := ottlspan.NewParser(ottlfuncs.StandardConverters[*ottlspan.TransformContext](), set,
		ottlspan.EnablePathContextNames())
	if err != nil {
		return nil, err
	}
	return &p, nil
}

func parse(p *parser, text string) (*ottl.Condition[*ottlspan.TransformContext], error) {
	c, err := p.ParseCondition(text)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return c, nil
}

// Check is the error of a condition that New could not compile, which quotes it.
func Check(text string) error {
	p, err := newParser(component.TelemetrySettings{Logger: zap.NewNop()})
	if err != nil {
		return err
	}
	_, err = parse(p, text)
	return err
}

// New compiles conditions in the language of the span context. The error names and
// quotes every one that cannot be compiled, counted from 0. Conditions that fail for
// a span are skipped and logged with mode ignore, skipped with mode silent; with mode
// propagate the run counts as wanted, because nobody can say that it is not.
func New(conditions []string, mode ottl.ErrorMode, set component.TelemetrySettings) (*Conditions, error) {
	p, err := newParser(set)
	if err != nil {
		return nil, fmt.Errorf("conditions: %w", err)
	}
	var errs []error
	parsed := make([]*ottl.Condition[*ottlspan.TransformContext], 0, len(conditions))
	for i, text := range conditions {
		c, err := parse(p, text)
		if err != nil {
			errs = append(errs, fmt.Errorf("conditions::%d: %w", i, err))
			continue
		}
		parsed = append(parsed, c)
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return &Conditions{
		sequence: ottlspan.NewConditionSequence(parsed, set, ottlspan.WithConditionSequenceErrorMode(mode)),
	}, nil
}

// Match reports whether any condition holds for any span of td.
func (c *Conditions) Match(ctx context.Context, td ptrace.Traces) bool {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				tc := ottlspan.NewTransformContext(rs, ss, span)
				ok, err := c.sequence.Eval(ctx, tc)
				tc.Close()
				if ok || err != nil {
					return true
				}
			}
		}
	}
	return false
}
