package tapeprocessor

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/extension"
	"go.opentelemetry.io/collector/extension/extensiontest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/tapedeck/tapedeck/extension/tapestore"
	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/processor/tapeprocessor/internal/metadata"
	"github.com/tapedeck/tapedeck/processor/tapeprocessor/internal/metadatatest"
	"github.com/tapedeck/tapedeck/tape"
)

func fastConfig() *Config {
	cfg := createDefaultConfig().(*Config)
	cfg.RootSettle = time.Millisecond
	return cfg
}

// failedRun is a run of one failed tool call with a body of the given size.
func failedRun(trace byte, body int) ptrace.Traces {
	td := ptrace.NewTraces()
	spans := td.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans()
	for i := range 2 {
		s := spans.AppendEmpty()
		s.SetTraceID(pcommon.TraceID{trace})
		s.SetSpanID(pcommon.SpanID{byte(i + 1)})
		s.SetStartTimestamp(pcommon.Timestamp(i + 1))
		s.SetEndTimestamp(pcommon.Timestamp(100 - i))
		s.Status().SetCode(ptrace.StatusCodeError)
	}
	s := spans.At(1)
	s.SetParentSpanID(pcommon.SpanID{1})
	s.Attributes().PutStr("gen_ai.operation.name", "execute_tool")
	s.Attributes().PutStr("gen_ai.tool.name", "t")
	text := make([]byte, body)
	for i := range text {
		text[i] = byte('a' + i%20)
	}
	s.Attributes().PutStr("gen_ai.tool.call.result", string(text))
	return td
}

func TestVerifyShutdown(t *testing.T) {
	cfg := fastConfig()
	// The verifier counts spans that are no calls: only then do they come out.
	cfg.PassThrough = true
	processortest.VerifyShutdown(t, NewFactory(), cfg)
}

func TestShutdownTwiceAndWithoutStart(t *testing.T) {
	p, err := NewFactory().CreateTraces(context.Background(), processortest.NewNopSettings(metadata.Type), fastConfig(), consumertest.NewNop())
	require.NoError(t, err)
	require.NoError(t, p.Shutdown(context.Background()))
	require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
	require.NoError(t, p.Shutdown(context.Background()))
	require.NoError(t, p.Shutdown(context.Background()))
}

func TestShutdownWithAnExpiredContextSaysSo(t *testing.T) {
	p, err := NewFactory().CreateTraces(context.Background(), processortest.NewNopSettings(metadata.Type), createDefaultConfig(), consumertest.NewNop())
	require.NoError(t, err)
	require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
	require.NoError(t, p.ConsumeTraces(context.Background(), failedRun(1, 10)))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	require.ErrorIs(t, p.Shutdown(ctx), context.Canceled)
}

func TestMetricsAddUp(t *testing.T) {
	tel := componenttest.NewTelemetry()
	defer func() { require.NoError(t, tel.Shutdown(context.Background())) }()
	set := processortest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = tel.NewTelemetrySettings()
	sink := new(consumertest.TracesSink)
	p, err := NewFactory().CreateTraces(context.Background(), set, fastConfig(), sink)
	require.NoError(t, err)
	require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
	require.NoError(t, p.ConsumeTraces(context.Background(), failedRun(1, 10)))
	require.Eventually(t, func() bool { return sink.SpanCount() == 2 }, 5*time.Second, 10*time.Millisecond)

	sum := func(name string) int64 {
		m, err := tel.GetMetric("otelcol_processor_tape_" + name)
		require.NoError(t, err)
		n := int64(0)
		switch d := m.Data.(type) {
		case metricdata.Sum[int64]:
			for _, p := range d.DataPoints {
				n += p.Value
			}
		case metricdata.Gauge[float64]:
			for _, p := range d.DataPoints {
				n += int64(p.Value)
			}
		case metricdata.Gauge[int64]:
			for _, p := range d.DataPoints {
				n += p.Value
			}
		}
		return n
	}
	assert.EqualValues(t, 2, sum("received_spans"))
	require.Eventually(t, func() bool {
		m, err := tel.GetMetric("otelcol_processor_tape_decision_duration")
		return err == nil && m.Data.(metricdata.Histogram[float64]).DataPoints[0].Count == 1
	}, 5*time.Second, 10*time.Millisecond)
	assert.EqualValues(t, 2, sum("kept_spans"))
	assert.EqualValues(t, 1, sum("decided_runs"))
	require.Eventually(t, func() bool { return sum("open_runs") == 0 }, 5*time.Second, 10*time.Millisecond)
	assert.Zero(t, sum("held_runs"), "a failure cannot get worse")
	assert.Zero(t, sum("oldest_run_age"))
	assert.Positive(t, sum("spool_bytes"))
	require.NoError(t, p.Shutdown(context.Background()))
}

// host has one extension.
type host map[component.ID]component.Component

func (h host) GetExtensions() map[component.ID]component.Component { return h }

func startStore(t *testing.T) (host, tapestore.Extension, component.ID) {
	t.Helper()
	factory := tapestore.NewFactory()
	cfg := factory.CreateDefaultConfig().(*tapestore.Config)
	cfg.Directory.Path = t.TempDir()
	var ext extension.Extension
	ext, err := factory.Create(context.Background(), extensiontest.NewNopSettings(factory.Type()), cfg)
	require.NoError(t, err)
	require.NoError(t, ext.Start(context.Background(), componenttest.NewNopHost()))
	t.Cleanup(func() { require.NoError(t, ext.Shutdown(context.Background())) })
	id := component.NewID(factory.Type())
	return host{id: ext}, ext.(tapestore.Extension), id
}

func TestBodiesGoToTheStoreAndOpenRunsAreKnown(t *testing.T) {
	h, ext, id := startStore(t)
	cfg := fastConfig()
	cfg.RootSettle = 500 * time.Millisecond
	cfg.Storage = &id
	sink := new(consumertest.TracesSink)
	p, err := NewFactory().CreateTraces(context.Background(), processortest.NewNopSettings(metadata.Type), cfg, sink)
	require.NoError(t, err)
	require.NoError(t, p.Start(context.Background(), h))
	require.NoError(t, p.ConsumeTraces(context.Background(), failedRun(7, 200_000)))
	trace := pcommon.TraceID{7}.String()
	assert.True(t, ext.Pending(context.Background(), "", trace))
	assert.False(t, ext.Pending(context.Background(), "", pcommon.TraceID{8}.String()))
	require.Eventually(t, func() bool { return sink.SpanCount() == 2 }, 5*time.Second, 10*time.Millisecond)
	assert.False(t, ext.Pending(context.Background(), "", trace))

	span := sink.AllTraces()[0].ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(1)
	ref, ok := span.Attributes().Get("gen_ai.tool.call.result")
	require.True(t, ok)
	assert.Less(t, len(ref.Str()), 200)
	assert.Equal(t, tape.OutcomeFailed, attr.OutcomeOf(span.Attributes()))
	require.NoError(t, p.Shutdown(context.Background()))
	assert.False(t, ext.Pending(context.Background(), "", trace))
}

func TestAMissingStoreStopsTheStart(t *testing.T) {
	id := component.MustNewID("tape_store")
	cfg := fastConfig()
	cfg.Storage = &id
	p, err := NewFactory().CreateTraces(context.Background(), processortest.NewNopSettings(metadata.Type), cfg, consumertest.NewNop())
	require.NoError(t, err)
	require.ErrorIs(t, p.Start(context.Background(), componenttest.NewNopHost()), tapestore.ErrNoStore)
	require.NoError(t, p.Shutdown(context.Background()))
}

func TestWhatCanNeverFitIsRefusedForGood(t *testing.T) {
	cfg := fastConfig()
	cfg.Spool.MaxBytes = 1 << 20
	_, tel := newTelemetry(t)
	set := processortest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = tel.NewTelemetrySettings()
	p, err := NewFactory().CreateTraces(context.Background(), set, cfg, consumertest.NewNop())
	require.NoError(t, err)
	require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
	td := failedRun(1, 2<<20)
	err = p.ConsumeTraces(context.Background(), td)
	assert.True(t, consumererror.IsPermanent(err))
	metadatatest.AssertEqualProcessorTapeRefusedSpans(t, tel, []metricdata.DataPoint[int64]{{Value: int64(td.SpanCount())}}, metricdatatest.IgnoreTimestamp())
	require.NoError(t, p.Shutdown(context.Background()))
}

func TestARunThatCannotBeHandedOnIsRetried(t *testing.T) {
	cfg := fastConfig()
	cfg.Spool.MaxBytes = 1 << 20
	next := consumertest.NewErr(errors.New("down"))
	p, err := NewFactory().CreateTraces(context.Background(), processortest.NewNopSettings(metadata.Type), cfg, next)
	require.NoError(t, err)
	require.NoError(t, p.Start(context.Background(), componenttest.NewNopHost()))
	for i := range 250 {
		if err = p.ConsumeTraces(context.Background(), failedRun(byte(i+1), 10_000)); err != nil {
			break
		}
	}
	require.Error(t, err)
	assert.False(t, consumererror.IsPermanent(err), "the sender shall try again")
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	require.Error(t, p.Shutdown(ctx))
}
