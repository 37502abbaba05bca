//go:build !race

// The race detector makes pools forget, and forgetting allocates.

package archive_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

// A run that a processor decided is passed on to the store, not read again: a
// further span costs next to nothing.
func TestADecidedRunIsStoredWithoutAllocationsBySpan(t *testing.T) {
	perRun := func(calls int) float64 {
		f := newFixture(t)
		var all []storetest.Call
		for range calls {
			all = append(all, good)
		}
		// Write takes its spans apart, so that each time needs its own.
		const times = 5
		var ready []ptrace.Traces
		for n := range times + 1 {
			row := tape.Row{Outcome: tape.OutcomeFailed}
			td := storetest.AgentRun(t, fmt.Sprintf("%032x", n+1), noon, all...)
			ready = append(ready, decided(td, &row, tape.OutcomeFailed))
		}
		return testing.AllocsPerRun(times, func() {
			f.write(ready[0])
			ready = ready[1:]
		})
	}
	few, many := perRun(10), perRun(1_010)
	assert.LessOrEqual(t, (many-few)/1_000, 1.5, "allocations a span: %.0f for 10 calls, %.0f for 1010", few, many)
}
