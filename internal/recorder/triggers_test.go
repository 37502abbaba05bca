package recorder

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/tape"
)

func TestAPauseShorterThanTheIdleTimeoutNeverSplitsARun(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1))
	f.pass(70 * time.Second)
	f.add(tool(1, 3, 1, failed))
	for range 20 {
		f.pass(9 * time.Minute)
		f.add(tool(1, 4, 1))
	}
	f.pass(240 * time.Second)
	assert.Empty(t, f.out())
	f.add(agent(1, 1))
	f.pass(6 * time.Second)
	row := only1(t, f.out())
	assert.Equal(t, tape.OutcomeRecovered, row.Outcome)
	f.balanced()
}

func TestTriggers(t *testing.T) {
	for name, c := range map[string]struct {
		change  func(*Config)
		do      func(*fixture)
		trigger tape.Trigger
		outcome tape.Outcome
	}{
		"a local root counts when the run goes idle": {
			do: func(f *fixture) {
				f.add(tool(1, 2, 1), span(1, 1, 9, func(s ptrace.Span) { s.SetEndTimestamp(s.StartTimestamp() + 1e12) }))
				f.pass(11 * time.Minute)
			},
			trigger: tape.TriggerIdle, outcome: tape.OutcomeSucceeded,
		},
		"no root at max age is incomplete, not a success": {
			do: func(f *fixture) {
				for range 200 {
					f.add(tool(1, 2, 1))
					f.pass(8 * time.Minute)
				}
			},
			trigger: tape.TriggerMaxAge, outcome: tape.OutcomeIncomplete,
		},
		"shutdown": {
			do: func(f *fixture) {
				f.add(tool(1, 2, 1))
				require.NoError(f.t, f.Close(context.Background()))
			},
			trigger: tape.TriggerShutdown, outcome: tape.OutcomeIncomplete,
		},
		"size": {
			change: func(c *Config) { c.MaxRunSpans = 32 },
			do: func(f *fixture) {
				for i := range 40 {
					f.add(tool(1, byte(2+i), 1))
				}
				f.add(agent(1, 1))
				f.pass(6 * time.Second)
			},
			trigger: tape.TriggerSize, outcome: tape.OutcomeSucceeded,
		},
		"evicted": {
			change: func(c *Config) { c.Spool.MaxBytes = 64 << 10 },
			do: func(f *fixture) {
				f.add(tool(1, 2, 1))
				for i := range 200 {
					f.add(tool(2, byte(2+i), 1))
				}
			},
			trigger: tape.TriggerEvicted, outcome: tape.OutcomeIncomplete,
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, c.change)
			c.do(f)
			got := rows(f.out())
			require.NotEmpty(t, got)
			assert.Equal(t, c.trigger, got[0].Trigger)
			assert.Equal(t, c.outcome, got[0].Outcome)
			f.balanced()
		})
	}
}

func TestBackgroundSpansDoNotKeepAnEndedRunOpenForEver(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1), agent(1, 1))
	for i := range 200 {
		f.add(span(1, byte(3+i%200), 1))
		f.pass(4 * time.Second)
	}
	assert.NotEmpty(t, f.out())
	f.balanced()
}

func TestAnyOrderOfTheSameRequestsGivesTheSameRow(t *testing.T) {
	parts := []func(ptrace.ResourceSpans, ptrace.Span){agent(1, 1), tool(1, 2, 1), tool(1, 3, 1, failed), tool(1, 4, 1), tool(1, 5, 1)}
	var want tape.Row
	for i := range 50 {
		f := newFixture(t, nil)
		order := rand.New(rand.NewPCG(uint64(i), 1)).Perm(len(parts))
		for _, p := range order {
			f.add(parts[p])
			if i%7 == 0 {
				f.add(parts[p])
			}
		}
		f.pass(6 * time.Second)
		row := only1(t, f.out())
		if i == 0 {
			want = row
		}
		row.Spans, row.Decided = want.Spans, want.Decided
		assert.Equal(t, want, row, "order %v", order)
	}
}
