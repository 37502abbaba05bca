package recorder

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/tape"
)

func TestTheNextComponentRefuses(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1, failed), agent(1, 1, failed))
	f.failWith(errRetryable)
	f.pass(6 * time.Second)
	assert.Equal(t, 1, f.Status().OpenRuns, "a decision that is not taken is not lost")
	assert.True(t, f.Pending(pcommon.TraceID{15: 1}))
	f.add(tool(1, 3, 1))
	f.failWith(nil)
	f.pass(31 * time.Second)
	spans := f.out()
	assert.Len(t, spans, 3)
	assert.Equal(t, tape.TriggerRootEnded, only1(t, spans).Trigger, "the trigger is that of the decision")
	f.balanced()

	f.add(tool(2, 2, 1, failed), agent(2, 1, failed))
	f.failWith(errPermanent)
	f.pass(6 * time.Second)
	assert.Zero(t, f.Status().OpenRuns)
	assert.Equal(t, 2, f.counts.dropped[DropRefused])
	f.balanced()
}

func TestARunLargerThanARequestLeavesInSeveral(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.MaxRequestBytes = 2000 })
	f.add(agent(1, 1, failed))
	for i := range 40 {
		f.add(tool(1, byte(2+i), 1))
	}
	f.pass(6 * time.Second)
	require.Greater(t, len(f.emitted), 2)
	total := 0
	for i, td := range f.emitted {
		assert.LessOrEqual(t, sizer.TracesSize(td), 2000)
		total += td.SpanCount()
		forEachSpan(td, func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, s ptrace.Span) {
			if _, ok := attr.RowFrom(s.Attributes()); ok {
				assert.Equal(t, len(f.emitted)-1, i, "the row comes last")
			}
		})
	}
	assert.Equal(t, 41, total)
	only1(t, f.out())
}

func TestLargeBodiesLeaveForTheStore(t *testing.T) {
	big := strings.Repeat("a long text ", 10_000)
	body := func(s ptrace.Span) { s.Attributes().PutStr("gen_ai.tool.call.result", big) }
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1, body), agent(1, 1, failed))
	f.pass(6 * time.Second)
	for _, s := range f.out() {
		if v, ok := s.Attributes().Get("gen_ai.tool.call.result"); ok {
			assert.Less(t, len(v.Str()), 200)
			assert.True(t, strings.HasPrefix(v.Str(), "tape-blob:sha256:"))
		}
	}
	assert.Len(t, f.bodies, 1)
	assert.Equal(t, 1, f.counts.bodies)

	f.noBody = true
	f.add(tool(2, 2, 1, body), agent(2, 1, failed))
	f.pass(6 * time.Second)
	inline := false
	for _, s := range f.out() {
		if v, ok := s.Attributes().Get("gen_ai.tool.call.result"); ok {
			inline = v.Str() == big
		}
	}
	assert.True(t, inline, "a body the store does not take stays in the trace")
	assert.Equal(t, 1, f.counts.bodyFailures)
}

func TestCloseCountsWhatNobodyTakes(t *testing.T) {
	f := newFixture(t, nil)
	f.add(tool(1, 2, 1), tool(2, 2, 1))
	f.failWith(errRetryable)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, f.Close(ctx), context.DeadlineExceeded)
	assert.Equal(t, 2, f.counts.dropped[DropShutdown])
	require.NoError(t, f.Close(context.Background()), "a second time is fine")
	require.ErrorIs(t, f.Add(context.Background(), traces(tool(3, 2, 1))), ErrClosed)
	f.balanced()
}

// Whoever asks for a run while its store has it but has not answered is told to
// wait, not that there is no such run.
func TestARunIsPendingUntilItIsStored(t *testing.T) {
	for name, more := range map[string][]func(ptrace.Span){"kept": {failed}, "summarised": nil} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, nil)
			id := pcommon.TraceID{15: 1}
			handed, stored := make(chan struct{}), make(chan error)
			emit := f.deps.Emit
			f.deps.Emit = func(ctx context.Context, td ptrace.Traces) error {
				handed <- struct{}{}
				if err := <-stored; err != nil {
					return err
				}
				return emit(ctx, td)
			}
			f.add(tool(1, 2, 1, more...), agent(1, 1, more...))
			assert.True(t, f.Pending(id))
			var ticks sync.WaitGroup
			ticks.Go(func() { f.pass(6 * time.Second) })
			<-handed
			assert.True(t, f.Pending(id), "it is in nobody's store yet")
			stored <- errRetryable
			ticks.Wait()
			assert.True(t, f.Pending(id), "it is tried again")

			ticks.Go(func() { f.pass(31 * time.Second) })
			<-handed
			assert.True(t, f.Pending(id))
			stored <- nil
			ticks.Wait()
			assert.False(t, f.Pending(id))
			only1(t, f.out())
			f.balanced()
		})
	}
}
