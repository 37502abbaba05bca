package dialect

import (
	"math"
	"strconv"
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// costNames are the attributes that hold what a model call cost, in US dollars:
// those of OpenLIT, OpenInference, Logfire and Claude Code.
var costNames = []string{"gen_ai.usage.cost", "llm.cost.total", "operation.cost", "cost_usd"}

// cost is what a model call cost, nil when the span does not say.
func (s *Span) cost() *float64 {
	for _, name := range costNames {
		if n := s.dollars(name); n != nil {
			return n
		}
	}
	if _, ok := s.Attr("langfuse.observation.cost_details"); ok {
		details := s.Value("langfuse.observation.cost_details")
		if n := dollars(details.At("total")); n != nil {
			return n
		}
		return addCost(dollars(details.At("input")), dollars(details.At("output")))
	}
	return addCost(s.dollars("gen_ai.usage.input_cost"), s.dollars("gen_ai.usage.output_cost"))
}

// dollars is the amount in an attribute.
func (s *Span) dollars(name string) *float64 {
	v, ok := s.Attr(name)
	if !ok {
		return nil
	}
	return dollars(fromAttr(v))
}

// dollars is a number, or its text; nil for what is no amount.
func dollars(v value.Value) *float64 {
	if v.Kind() != value.Number && v.Kind() != value.String {
		return nil
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(v.Text()), 64)
	if err != nil || math.IsNaN(n) || math.IsInf(n, 0) || n < 0 {
		return nil
	}
	return &n
}

// addCost adds amounts of which either may be unknown.
func addCost(a, b *float64) *float64 {
	if a == nil || b == nil {
		if a == nil {
			return b
		}
		return a
	}
	sum := *a + *b
	return &sum
}
