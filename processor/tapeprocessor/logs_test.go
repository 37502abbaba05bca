package tapeprocessor

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer/consumertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor/processortest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"

	"github.com/tapedeck/tapedeck/processor/tapeprocessor/internal/metadata"
	"github.com/tapedeck/tapedeck/processor/tapeprocessor/internal/metadatatest"
)

func oneRecord(trace byte, text string) plog.Logs {
	ld := plog.NewLogs()
	r := ld.ResourceLogs().AppendEmpty().ScopeLogs().AppendEmpty().LogRecords().AppendEmpty()
	r.SetTraceID(pcommon.TraceID{trace})
	r.SetSpanID(pcommon.SpanID{2})
	r.Body().SetStr(text)
	return ld
}

func TestLogRecordsLeaveWithTheirRun(t *testing.T) {
	cfg := fastConfig()
	cfg.RootSettle = 200 * time.Millisecond
	cfg.PassThrough = true
	set := processortest.NewNopSettings(metadata.Type)
	traces, logs := new(consumertest.TracesSink), new(consumertest.LogsSink)
	lp, err := NewFactory().CreateLogs(context.Background(), set, cfg, logs)
	require.NoError(t, err)
	tp, err := NewFactory().CreateTraces(context.Background(), set, cfg, traces)
	require.NoError(t, err)
	require.NoError(t, lp.Start(context.Background(), componenttest.NewNopHost()))
	require.ErrorIs(t, lp.ConsumeLogs(context.Background(), oneRecord(1, "x")), errNotStarted, "nothing orders the two pipelines")
	require.NoError(t, tp.Start(context.Background(), componenttest.NewNopHost()))

	in := oneRecord(1, "password=hunter2")
	in.MarkReadOnly()
	require.NoError(t, lp.ConsumeLogs(context.Background(), in))
	require.NoError(t, tp.ConsumeTraces(context.Background(), failedRun(1, 10)))
	require.Eventually(t, func() bool { return traces.SpanCount() == 2 }, 5*time.Second, 10*time.Millisecond)
	span := traces.AllTraces()[0].ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(1)
	require.Equal(t, 1, span.Events().Len(), "the record is an event of its span")
	require.Equal(t, 1, logs.LogRecordCount(), "with pass_through it goes on too")
	body := logs.AllLogs()[0].ResourceLogs().At(0).ScopeLogs().At(0).LogRecords().At(0).Body().Str()
	assert.Equal(t, "password=[REDACTED:password]", body)

	require.NoError(t, tp.Shutdown(context.Background()))
	require.NoError(t, lp.Shutdown(context.Background()))
	require.Error(t, lp.ConsumeLogs(context.Background(), oneRecord(1, "x")), "nothing is taken after the end")
}

func TestLogRecordsWithoutATracesPipelineAreCounted(t *testing.T) {
	tel := componenttest.NewTelemetry()
	defer func() { require.NoError(t, tel.Shutdown(context.Background())) }()
	set := processortest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = tel.NewTelemetrySettings()
	lp, err := NewFactory().CreateLogs(context.Background(), set, fastConfig(), consumertest.NewNop())
	require.NoError(t, err)
	require.NoError(t, lp.Start(context.Background(), componenttest.NewNopHost()))
	require.NoError(t, lp.ConsumeLogs(context.Background(), plog.NewLogs()))
	require.NoError(t, lp.ConsumeLogs(context.Background(), oneRecord(1, "x")))
	metadatatest.AssertEqualProcessorTapeLogRecords(t, tel, []metricdata.DataPoint[int64]{{
		Value: 1, Attributes: attribute.NewSet(attribute.String("fate", "dropped"), attribute.String("reason", dropNoTwin)),
	}}, metricdatatest.IgnoreTimestamp())
	require.NoError(t, lp.Shutdown(context.Background()))
}

func TestWhichTracesPipelineMustBeClear(t *testing.T) {
	cfg := fastConfig()
	set := processortest.NewNopSettings(metadata.Type)
	for range 2 {
		tp, err := NewFactory().CreateTraces(context.Background(), set, cfg, consumertest.NewNop())
		require.NoError(t, err)
		defer func() { require.NoError(t, tp.Shutdown(context.Background())) }()
	}
	lp, err := NewFactory().CreateLogs(context.Background(), set, cfg, consumertest.NewNop())
	require.NoError(t, err)
	require.ErrorIs(t, lp.Start(context.Background(), componenttest.NewNopHost()), errManyTwins)
}
