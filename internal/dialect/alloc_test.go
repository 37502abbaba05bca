//go:build !race

package dialect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/plog"
)

// What a run costs in memory is a part of what it promises: a span that is no call
// nearly nothing, a model call what it adds to its conversation.
func TestAllocations(t *testing.T) {
	t.Run("a span that is no call", func(t *testing.T) {
		const spans = 1000
		td := plainSpans(t, spans)
		got := testing.AllocsPerRun(10, func() { Runs(td, plog.NewLogs(), Options{Lean: true}) })
		assert.LessOrEqual(t, got, 0.15*spans)
		rs := td.ResourceSpans().At(0)
		ss := rs.ScopeSpans().At(0)
		assert.Zero(t, testing.AllocsPerRun(100, func() { KindOf(rs.Resource(), ss.Scope(), ss.Spans().At(0)) }))
	})
	for name, write := range notations {
		t.Run("a model call, "+name, func(t *testing.T) {
			allocs := func(calls int) float64 {
				td, _ := repeatingRun(t, calls, 300, write)
				return testing.AllocsPerRun(5, func() { Runs(td, plog.NewLogs(), Options{Lean: true}) })
			}
			few, many := allocs(40), allocs(120)
			assert.LessOrEqual(t, (many-few)/80, 130.0, "for each call, however long its conversation")
		})
	}
}
