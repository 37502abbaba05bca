// Package condition decides by OTTL conditions over spans whether a run is wanted.
//
// It exists apart from the recorder because it is the one part of the decision
// that knows a collector's language. A condition is compiled once; asking it
// costs a walk of its expression for each span of a run that nothing else keeps,
// and nothing where there are no conditions.
package condition

import (
	"context"
	"fmt"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/contexts/ottlspan"
	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl/ottlfuncs"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Conditions are asked about the spans of a run; any one of them is enough.
// They are safe for concurrent use.
type Conditions struct {
	sequence ottl.ConditionSequence[*ottlspan.TransformContext]
}

// New compiles conditions in the language of the span context. What cannot be
// compiled is an error that quotes it. Conditions that fail for a span are skipped
// and logged with mode ignore, skipped with mode silent; with mode propagate the
// run counts as wanted, because nobody can say that it is not.
func New(conditions []string, mode ottl.ErrorMode, set component.TelemetrySettings) (*Conditions, error) {
	parser, err := ottlspan.NewParser(ottlfuncs.StandardConverters[*ottlspan.TransformContext](), set,
		ottlspan.EnablePathContextNames())
	if err != nil {
		return nil, fmt.Errorf("conditions: %w", err)
	}
	parsed, err := parser.ParseConditions(conditions)
	if err != nil {
		return nil, fmt.Errorf("conditions: %w", err)
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
