package recorder

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/tape"
)

func keepEverything(c *Config) {
	c.Keep.Outcomes = []tape.Outcome{tape.OutcomeFailed, tape.OutcomeRecovered, tape.OutcomeIncomplete, tape.OutcomeSucceeded}
}

// ids are the last bytes of the ids of spans.
func ids(spans []ptrace.Span) map[byte]bool {
	out := map[byte]bool{}
	for _, s := range spans {
		out[s.SpanID()[7]] = true
	}
	return out
}

func TestARunThatOutgrowsItsBoundsKeepsHeadAndTail(t *testing.T) {
	const size = 40
	long := strings.Repeat("a text of a conversation that goes on and on, ", 40)
	for name, c := range map[string]func(*Config){
		"spans": func(c *Config) { keepEverything(c); c.MaxRunSpans = size },
		"bytes": func(c *Config) { keepEverything(c); c.MaxRunBytes = size * 2400 },
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, onDisk(t, c))
			const all = 200
			for i := range all {
				f.add(tool(1, byte(2+i), 1, func(s ptrace.Span) {
					// Texts of the head come again in the tail, and within it.
					s.Attributes().PutStr("gen_ai.tool.call.result", long+string(rune('a'+i%3)))
				}))
				if i == 120 {
					f.kill()
				}
			}
			lost := f.counts.dropped[DropTruncated]
			assert.Positive(t, lost)
			f.balanced()
			f.add(agent(1, 1))
			f.pass(6 * time.Second)
			spans := f.out()
			row := only1(t, spans)
			assert.Equal(t, tape.TriggerSize, row.Trigger)
			assert.Equal(t, tape.OutcomeSucceeded, row.Outcome)
			assert.Equal(t, all+1-len(spans), row.TruncatedSpans, "exact, over the kill too")
			assert.InDelta(t, size, len(spans), size/4)
			got := ids(spans)
			for i := range byte(size/2 - 4) {
				assert.True(t, got[2+i], "head %d", i)
			}
			for i := range byte(size/2 - size/4) {
				assert.True(t, got[1+all-i], "tail %d", i)
			}
			assert.False(t, got[100])
			for _, s := range spans {
				if v, ok := s.Attributes().Get("gen_ai.tool.call.result"); ok {
					assert.Len(t, v.Str(), len(long)+1, "no text was lost with the middle")
				}
			}
			f.balanced()
		})
	}
}

func TestAFailureThatWasCutOutStillCounts(t *testing.T) {
	f := newFixture(t, onDisk(t, func(c *Config) { c.MaxRunSpans = 64 }))
	for i := range 200 {
		if i == 100 {
			f.add(tool(1, byte(2+i), 1, failed))
			continue
		}
		f.add(tool(1, byte(2+i), 1))
	}
	f.kill()
	f.add(agent(1, 1))
	f.pass(6 * time.Second)
	spans := f.out()
	row := only1(t, spans)
	assert.Equal(t, tape.OutcomeRecovered, row.Outcome)
	assert.True(t, row.Kept)
	for _, s := range spans {
		assert.Equal(t, tape.OutcomeRecovered, attr.OutcomeOf(s.Attributes()))
	}
	f.balanced()
}

func TestAFailureAfterTheSizeCapStillCounts(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.MaxRunSpans = 64 })
	for i := range 100 {
		f.add(tool(1, byte(2+i), 1))
	}
	f.add(tool(1, 150, 1, failed), agent(1, 1, failed))
	f.pass(6 * time.Second)
	row := only1(t, f.out())
	assert.Equal(t, tape.OutcomeFailed, row.Outcome)
	assert.Equal(t, tape.TriggerSize, row.Trigger)
	assert.Positive(t, row.TruncatedSpans)
	f.balanced()
}

func TestCallsThatWereCutOutMakeARun(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.MaxRunSpans = 64 })
	for i := range 200 {
		if i == 100 {
			f.add(tool(1, byte(2+i), 1))
			continue
		}
		f.add(span(1, byte(2+i), 1))
	}
	f.add(span(1, 1, 0))
	f.pass(6 * time.Second)
	row := only1(t, f.out())
	assert.Equal(t, tape.TriggerSize, row.Trigger)
	assert.Positive(t, row.TruncatedSpans)
	f.balanced()
}

// One request can be larger than a run may be.
func TestAHugeRequestIsCutInItself(t *testing.T) {
	f := newFixture(t, func(c *Config) { keepEverything(c); c.MaxRunSpans = 64 })
	spans := []func(ptrace.ResourceSpans, ptrace.Span){agent(1, 1)}
	for i := range 200 {
		spans = append(spans, tool(1, byte(2+i), 1))
	}
	f.add(spans...)
	f.pass(6 * time.Second)
	out := f.out()
	row := only1(t, out)
	assert.InDelta(t, 64, len(out), 24)
	assert.Equal(t, 201-len(out), row.TruncatedSpans)
	got := ids(out)
	assert.True(t, got[1] && got[10] && got[201] && got[195])
	f.balanced()
}

func TestLateSpansOfALargeRunDoNotMakeItLarger(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.MaxRunSpans = 64 })
	for i := range 60 {
		f.add(tool(1, byte(2+i), 1))
	}
	f.add(agent(1, 1))
	f.pass(6 * time.Second)
	require.Len(t, f.out(), 1)
	for i := range 100 {
		f.add(tool(1, byte(100+i), 1))
	}
	f.add(tool(1, 250, 1, failed))
	spans := f.out()
	assert.NotEmpty(t, spans)
	assert.Less(t, len(spans), 80)
	f.balanced()
}
