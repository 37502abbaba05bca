package recorder

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/tape"
)

func spanIDs(spans []ptrace.Span) (out []byte) {
	for _, s := range spans {
		id := s.SpanID()
		out = append(out, id[7])
	}
	return out
}

// The same request comes again and again: at-least-once senders, and agents that
// export one span many times.
func TestASpanThatComesAgainIsInItsTraceOnce(t *testing.T) {
	for _, times := range []int{2, 29} {
		t.Run(fmt.Sprint(times), func(t *testing.T) {
			f := newFixture(t, nil)
			request := traces(tool(1, 2, 1, failed), tool(1, 3, 1), agent(1, 1, failed))
			for range times {
				again := ptrace.NewTraces()
				request.CopyTo(again)
				require.NoError(t, f.Add(context.Background(), again))
			}
			f.failWith(errRetryable)
			f.pass(6 * time.Second)
			assert.Zero(t, f.counts.dropped[DropDuplicate], "nothing was decided yet")
			f.balanced()
			f.failWith(nil)
			f.pass(time.Minute)
			spans := f.out()
			assert.Equal(t, []byte{2, 3, 1}, spanIDs(spans))
			assert.Equal(t, 3, only1(t, spans).Spans)
			assert.Equal(t, map[string]int{DropDuplicate: 3 * (times - 1), DropDamaged: 0}, f.counts.dropped)
			assert.Equal(t, 3, f.counts.kept)
			f.balanced()
		})
	}
}

func TestASpanThatComesAgainWithinARequestIsInItsTraceOnce(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.Keep.Outcomes = []tape.Outcome{tape.OutcomeSucceeded} })
	f.add(tool(1, 2, 1), tool(1, 2, 1), agent(1, 1))
	f.pass(6 * time.Second)
	assert.Equal(t, []byte{2, 1}, spanIDs(f.out()))
	f.balanced()
}

// After the decision nobody looks for its first delivery, but the whole run, when it
// goes out after all, has the span once.
func TestASpanThatComesAgainLateIsCountedOnceMore(t *testing.T) {
	f := newFixture(t, nil)
	f.goodRun(1)
	f.out()
	f.add(tool(1, 2, 1))
	f.add(tool(1, 2, 1))
	f.balanced()
	f.add(tool(1, 7, 1, failed))
	spans := f.out()
	seen := map[byte]int{}
	for _, id := range spanIDs(spans) {
		seen[id]++
	}
	assert.Equal(t, 1, seen[2])
	assert.Equal(t, tape.TriggerLateFailure, only1(t, spans).Trigger)
	f.balanced()
}

// A trace that is nobody's run goes on as it came.
func TestWhatIsPassedOnKeepsItsDuplicates(t *testing.T) {
	for _, pass := range []bool{true, false} {
		f := newFixture(t, func(c *Config) { c.PassThrough = pass })
		f.add(span(1, 2, 1), span(1, 1, 0))
		f.add(span(1, 2, 1))
		f.pass(6 * time.Second)
		if pass {
			assert.Equal(t, []byte{2, 1, 2}, spanIDs(f.out()))
			assert.Equal(t, 3, f.counts.passed)
		} else {
			assert.Equal(t, 3, f.counts.letGo)
		}
		f.balanced()
	}
}

// Of several deliveries of a span those stay that say something of their own.
func TestWhatASpanSaysIsKeptOnceAndNeverLost(t *testing.T) {
	open := func(s ptrace.Span) { s.SetEndTimestamp(0) }
	put := func(name, text string) func(ptrace.Span) {
		return func(s ptrace.Span) { s.Attributes().PutStr(name, text) }
	}
	event := func(name string) func(ptrace.Span) {
		return func(s ptrace.Span) { s.Events().AppendEmpty().SetName(name) }
	}
	link := func(s ptrace.Span) { s.Links().AppendEmpty().SetSpanID(pcommon.SpanID{9}) }
	noID := func(s ptrace.Span) { s.SetSpanID(pcommon.SpanID{}) }
	both := func(fns ...func(ptrace.Span)) func(ptrace.Span) {
		return func(s ptrace.Span) {
			for _, fn := range fns {
				fn(s)
			}
		}
	}
	for name, c := range map[string]struct {
		a, b func(ptrace.Span)
		stay int
	}{
		"ended after open":               {open, put("x", "1"), 1},
		"open after ended":               {put("x", "1"), open, 1},
		"open with an event of both":     {both(open, event("e")), both(event("e"), event("f"), link), 1},
		"an attribute only the open has": {both(open, put("x", "1")), put("y", "1"), 2},
		"another value in the open":      {both(open, put("x", "1")), put("x", "2"), 2},
		"an event only the open has":     {both(open, event("e")), event("f"), 2},
		"a link only the open has":       {both(open, link), put("y", "1"), 2},
		"a failure only the open has":    {both(open, failed), put("y", "1"), 2},
		"two that ended otherwise":       {put("x", "1"), put("x", "2"), 2},
		"another event":                  {event("e"), event("f"), 2},
		"another link":                   {link, both(link, link), 2},
		"the same":                       {both(event("e"), link), both(event("e"), link), 1},
		"without an id":                  {noID, noID, 2},
	} {
		t.Run(name, func(t *testing.T) {
			for _, order := range [][2]func(ptrace.Span){{c.a, c.b}, {c.b, c.a}} {
				td := traces(tool(1, 2, 1, order[0]), tool(1, 2, 1, order[1]), agent(1, 1))
				assert.Equal(t, 2-c.stay, dropDuplicates(td))
				assert.Equal(t, c.stay+1, td.SpanCount())
				if c.stay == 1 {
					assert.NotZero(t, td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).EndTimestamp())
				}
			}
		})
	}
}

func TestTheSameSpanOfTwoServicesStaysTwice(t *testing.T) {
	td := traces(tool(1, 2, 1))
	other := traces(tool(1, 2, 1))
	other.ResourceSpans().At(0).Resource().Attributes().PutStr("service.name", "other")
	other.ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
	assert.Zero(t, dropDuplicates(td))
	assert.Equal(t, 2, td.SpanCount())
}

// Ids are the senders': all spans of a run may have one, and differ.
func TestManySpansWithOneIDTakeNoTime(t *testing.T) {
	td := ptrace.NewTraces()
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for i := range 50_000 {
		s := spans.AppendEmpty()
		s.SetSpanID(pcommon.SpanID{1})
		s.SetName(fmt.Sprint(i))
	}
	began := time.Now()
	assert.Zero(t, dropDuplicates(td))
	assert.Less(t, time.Since(began), 5*time.Second)
}
