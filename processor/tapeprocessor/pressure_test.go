package tapeprocessor

import (
	"context"
	"errors"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/processor/memorylimiterprocessor"
	"go.opentelemetry.io/collector/processor/processortest"

	"github.com/tapedeck/tapedeck/processor/tapeprocessor/internal/metadata"
)

func onDisk(t *testing.T) *Config {
	cfg := fastConfig()
	cfg.Spool.Directory = t.TempDir()
	return cfg
}

// A memory limiter refuses while the heap is large. What open runs hold must not be
// what keeps it large: it would never accept again.
func TestAMemoryLimiterInFrontNeverLocksUp(t *testing.T) {
	const limit = 32
	// Only the limiter collects garbage: what it gets back is what nobody holds.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	cfg := onDisk(t)
	cfg.RootSettle = time.Hour
	p, err := NewFactory().CreateTraces(context.Background(), processortest.NewNopSettings(metadata.Type), cfg, consumertest.NewNop())
	require.NoError(t, err)
	require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
	factory := memorylimiterprocessor.NewFactory()
	limits := factory.CreateDefaultConfig().(*memorylimiterprocessor.Config)
	limits.CheckInterval = 5 * time.Millisecond
	limits.MemoryLimitMiB = limit
	limits.MemorySpikeLimitMiB = limit / 4
	limits.MinGCIntervalWhenSoftLimited, limits.MinGCIntervalWhenHardLimited = 5*time.Millisecond, 5*time.Millisecond
	limiter, err := factory.CreateTraces(context.Background(), processortest.NewNopSettings(factory.Type()), limits, p)
	require.NoError(t, err)
	require.NoError(t, limiter.Start(context.Background(), componenttest.NewNopHost()))

	// Four times what the limiter allows stays open. It refuses now and then, and
	// would do so for good if that were in memory.
	for i := range 4 * limit {
		send := func() bool {
			td := failedRun(1, 1<<20)
			spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
			for n := range spans.Len() {
				spans.At(n).SetTraceID(pcommon.TraceID{1, byte(i >> 8), byte(i)})
			}
			return limiter.ConsumeTraces(context.Background(), td) == nil
		}
		if !send() {
			require.Eventually(t, send, 10*time.Second, 5*time.Millisecond)
		}
	}
	require.NoError(t, limiter.Shutdown(context.Background()))
	require.NoError(t, p.Shutdown(context.Background()))
}

func TestVerifyShutdownOnDisk(t *testing.T) {
	// What is open when it ends stays there: two lives see all of it.
	cfg := onDisk(t)
	cfg.PassThrough = true
	sink := new(consumertest.TracesSink)
	for life := range byte(2) {
		p, err := NewFactory().CreateTraces(context.Background(), processortest.NewNopSettings(metadata.Type), cfg, sink)
		require.NoError(t, err)
		require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
		run := failedRun(1, 10)
		for i, span := range run.ResourceSpans().At(0).ScopeSpans().At(0).Spans().All() {
			span.SetSpanID(pcommon.SpanID{life + 1, byte(i)})
		}
		require.NoError(t, p.ConsumeTraces(context.Background(), run))
		require.NoError(t, p.Shutdown(context.Background()))
		require.NoError(t, p.Shutdown(context.Background()))
	}
	p, err := NewFactory().CreateTraces(context.Background(), processortest.NewNopSettings(metadata.Type), cfg, sink)
	require.NoError(t, err)
	require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
	require.Eventually(t, func() bool { return sink.SpanCount() >= 4 }, 5*time.Second, 10*time.Millisecond)
	require.NoError(t, p.Shutdown(context.Background()))
}

func TestAnExpiredContextParksWhatIsOpen(t *testing.T) {
	cfg := onDisk(t)
	p, err := NewFactory().CreateTraces(context.Background(), processortest.NewNopSettings(metadata.Type), cfg, consumertest.NewErr(errors.New("down")))
	require.NoError(t, err)
	require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
	require.NoError(t, p.ConsumeTraces(context.Background(), failedRun(1, 10)))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_ = p.Shutdown(ctx)

	sink := new(consumertest.TracesSink)
	p, err = NewFactory().CreateTraces(context.Background(), processortest.NewNopSettings(metadata.Type), cfg, sink)
	require.NoError(t, err)
	require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
	assert.Eventually(t, func() bool { return sink.SpanCount() == 2 }, 5*time.Second, 10*time.Millisecond)
	require.NoError(t, p.Shutdown(context.Background()))
}

func TestTwoProcessorsCannotShareADirectory(t *testing.T) {
	cfg := onDisk(t)
	first, err := NewFactory().CreateTraces(context.Background(), processortest.NewNopSettings(metadata.Type), cfg, consumertest.NewNop())
	require.NoError(t, err)
	require.NoError(t, first.Start(context.Background(), componenttest.NewNopHost()))
	second, err := NewFactory().CreateTraces(context.Background(), processortest.NewNopSettings(metadata.Type), cfg, consumertest.NewNop())
	require.NoError(t, err)
	require.ErrorContains(t, second.Start(context.Background(), componenttest.NewNopHost()), cfg.Spool.Directory)
	require.NoError(t, second.Shutdown(context.Background()))
	require.NoError(t, first.Shutdown(context.Background()))
}
