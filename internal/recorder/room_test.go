package recorder

import (
	"context"
	"flag"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

func TestAFullBufferRefusesWithARetryableError(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.Spool.MaxBytes = 64 << 10 })
	f.failWith(errRetryable)
	var err error
	for i := range 1000 {
		if err = f.Add(context.Background(), traces(tool(byte(i%200+1), byte(2+i/200), 1))); err != nil {
			break
		}
	}
	require.ErrorIs(t, err, ErrBusy)
	assert.LessOrEqual(t, f.Status().Spool.Bytes, int64(64<<10))
	f.balanced()
	f.failWith(nil)
	f.pass(time.Minute)
	require.NoError(t, f.Add(context.Background(), traces(tool(200, 2, 1))))

	big := traces(tool(201, 2, 1, func(s ptrace.Span) { s.SetName(strings.Repeat("x", 70_000)) }))
	require.ErrorIs(t, f.Add(context.Background(), big), ErrTooLarge)
	f.balanced()
}

var manyRuns = flag.Int("many-runs", 10_000, "runs that TestManyRunsThroughASmallSpoolReturnToTheStart lets through")

func TestManyRunsThroughASmallSpoolReturnToTheStart(t *testing.T) {
	f := newFixture(t, onDisk(t, func(c *Config) {
		c.DecidedRuns, c.Spool.MaxBytes, c.Spool.SegmentBytes = 800, 1<<20, 1<<16
	}))
	through := func(from, to int) {
		for i := from; i < to; i++ {
			id := pcommon.TraceID{0: 1, 12: byte(i >> 24), 13: byte(i >> 16), 14: byte(i >> 8), 15: byte(i)}
			f.add(func(rs ptrace.ResourceSpans, s ptrace.Span) { tool(1, 2, 1)(rs, s); s.SetTraceID(id) })
			if i%100 == 0 {
				f.out()
			}
		}
		assert.LessOrEqual(t, f.Status().Spool.Bytes, int64(1<<20))
		f.pass(time.Hour)
		f.pass(2 * time.Hour)
		f.atTheStart()
		f.balanced()
		f.out()
		f.counts.rows = nil
	}
	// What it needs once is there after the first.
	through(0, 2000)
	before := heapBytes()
	through(2000, 2000+*manyRuns)
	assert.Less(t, int64(heapBytes())-int64(before), int64(1<<20))
}

// atTheStart checks that nothing is left but decisions.
func (f *fixture) atTheStart() {
	f.t.Helper()
	st := f.Status()
	assert.Zero(f.t, st.OpenRuns)
	assert.Zero(f.t, st.HeldRuns)
	assert.Zero(f.t, st.TextBytes)
	// Compaction may be at work.
	assert.Eventually(f.t, func() bool { return f.live() == 0 }, 5*time.Second, time.Millisecond)
	for _, s := range f.shards {
		assert.Empty(f.t, s.runs)
		assert.Empty(f.t, s.due)
		assert.LessOrEqual(f.t, len(s.gone), f.decidedPerShard())
	}
}

func TestCapacityOneWithASlowNextComponentFinishes(t *testing.T) {
	f := newFixture(t, func(c *Config) { c.Spool.MaxBytes, c.DecidedRuns = 64<<10, 1 })
	slow := f.deps.Emit
	f.deps.Emit = func(ctx context.Context, td ptrace.Traces) error {
		time.Sleep(100 * time.Microsecond)
		return slow(ctx, td)
	}
	stop := make(chan struct{})
	var ticker sync.WaitGroup
	ticker.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				f.pass(time.Second)
			}
		}
	})
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			for i := range 200 {
				more := []func(ptrace.Span){}
				if i%5 == 0 {
					more = append(more, failed)
				}
				err := f.Add(context.Background(), traces(tool(byte(1+(w*31+i)%11), byte(2+i), 1, more...), agent(byte(1+i%7), 1)))
				if err != nil {
					assert.ErrorIs(t, err, ErrBusy)
				}
			}
		})
	}
	wg.Wait()
	close(stop)
	ticker.Wait()
	require.NoError(t, f.Close(context.Background()))
	f.balanced()
}
