package recorder

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// A decision is about the whole trace, whatever requests its spans came in: one
// row, which counts them all.
func TestADecisionCountsTheSpansOfAllRequests(t *testing.T) {
	for name, more := range map[string]func(*fixture){
		"root in the second": func(f *fixture) { f.add(tool(1, 2, 1, failed)); f.add(tool(1, 3, 1), agent(1, 1, failed)) },
		"root in the first":  func(f *fixture) { f.add(tool(1, 2, 1), agent(1, 1, failed)); f.add(tool(1, 3, 1, failed)) },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			more(f)
			f.pass(6 * time.Second)
			spans := f.out()
			require.Len(t, spans, 3)
			row := only1(t, spans)
			assert.Equal(t, tape.OutcomeFailed, row.Outcome)
			assert.Equal(t, []int{3, 2, 2, 1}, []int{row.Spans, row.Steps, row.ToolCalls, row.FailedCalls})
			assert.Equal(t, map[string]int{"failed root_ended": 1}, f.counts.decided)
			f.balanced()
		})
	}
}
