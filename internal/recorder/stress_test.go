package recorder

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Everything at once: many senders, a small buffer, decisions by every trigger,
// late spans and late failures, a next component that refuses, fails and takes its
// time, and a shutdown in the middle of it.
func TestNoSpanIsUnaccountedForWhateverHappensAtOnce(t *testing.T) {
	for seed := range uint64(12) {
		f := newFixture(t, func(c *Config) {
			c.Spool.MaxBytes, c.MaxRunBytes, c.MaxRequestBytes, c.DecidedRuns = 64<<10, 6000, 600, 8
			c.Lookback = 20 * time.Second
			c.PassThrough = seed%2 == 0
		})
		var wg sync.WaitGroup
		random := rand.New(rand.NewPCG(seed, 0))
		var mu sync.Mutex
		f.deps.Emit = func(ctx context.Context, _ ptrace.Traces) error {
			mu.Lock()
			n := random.IntN(10)
			mu.Unlock()
			switch n {
			case 0:
				return errPermanent
			case 1, 2:
				return errRetryable
			case 3:
				time.Sleep(time.Millisecond)
			}
			return ctx.Err()
		}
		f.load(&wg, seed, 6)
		stop := make(chan struct{})
		var ticks sync.WaitGroup
		ticks.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					f.pass(3 * time.Second)
				}
			}
		})
		if seed%3 == 0 {
			_ = f.Close(context.Background())
		}
		wg.Wait()
		close(stop)
		ticks.Wait()
		_ = f.Close(context.Background())
		f.balanced()
		assert.Zero(t, f.Status().OpenRuns, "every run is decided or counted as dropped")
	}
}

// load sends random spans of few runs from some senders at a time.
func (f *fixture) load(wg *sync.WaitGroup, seed uint64, senders int) {
	kinds := []func(r *rand.Rand) func(ptrace.ResourceSpans, ptrace.Span){
		func(r *rand.Rand) func(ptrace.ResourceSpans, ptrace.Span) { return agent(byte(r.IntN(12)), 1) },
		func(r *rand.Rand) func(ptrace.ResourceSpans, ptrace.Span) {
			return tool(byte(r.IntN(12)), byte(2+r.IntN(9)), 1)
		},
		func(r *rand.Rand) func(ptrace.ResourceSpans, ptrace.Span) {
			return tool(byte(r.IntN(12)), byte(2+r.IntN(9)), 1, failed)
		},
		func(r *rand.Rand) func(ptrace.ResourceSpans, ptrace.Span) {
			return span(byte(r.IntN(12)), byte(20+r.IntN(9)), 1)
		},
	}
	for sender := range senders {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, 1+uint64(sender)))
			for range 150 {
				var spans []func(ptrace.ResourceSpans, ptrace.Span)
				for range 1 + r.IntN(5) {
					spans = append(spans, kinds[r.IntN(len(kinds))](r))
				}
				ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
				_ = f.Add(ctx, traces(spans...))
				if r.IntN(20) == 0 {
					_, _ = f.Keep(ctx, pcommon.TraceID{15: byte(r.IntN(12))})
				}
				cancel()
			}
		})
	}
}

// The same over several lives: what was open when one ended is what the next begins
// with, and all of it is decided in the end.
func TestNoSpanIsUnaccountedForOverKills(t *testing.T) {
	for seed := range uint64(4) {
		f := newFixture(t, onDisk(t, func(c *Config) {
			c.Spool.MaxBytes, c.MaxRunSpans, c.DecidedRuns = 128<<10, 100, 64
			c.Lookback = 20 * time.Second
			c.Keep.LastSuccessPer = []string{"agent"}
			c.Keep.SuccessRatio = 0.3
		}))
		for life := range uint64(4) {
			if life > 0 {
				f.kill()
			}
			var wg sync.WaitGroup
			f.load(&wg, seed*10+life, 4)
			stop := make(chan struct{})
			var ticks sync.WaitGroup
			ticks.Go(func() {
				for {
					select {
					case <-stop:
						return
					case <-time.After(time.Millisecond):
						f.pass(time.Second)
					}
				}
			})
			wg.Wait()
			close(stop)
			ticks.Wait()
			f.balanced()
		}
		f.pass(time.Hour)
		f.pass(time.Hour)
		f.balanced()
		f.atTheStart()
	}
}
