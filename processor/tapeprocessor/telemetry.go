package tapeprocessor

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/internal/recorder"
	"github.com/tapedeck/tapedeck/processor/tapeprocessor/internal/metadata"
	"github.com/tapedeck/tapedeck/tape"
)

// telemetry carries the recorder's counts into the collector's metrics.
type telemetry struct {
	b        *metadata.TelemetryBuilder
	services services
}

func add(c metric.Int64Counter, n int, attrs ...attribute.KeyValue) {
	if n == 0 {
		return
	}
	c.Add(context.Background(), int64(n), metric.WithAttributes(attrs...))
}

// fate counts spans in their own metric, log records in one by fate.
func (t *telemetry) fate(c metric.Int64Counter, fate string, n recorder.Amount, attrs ...attribute.KeyValue) {
	add(c, n.Spans, attrs...)
	add(t.b.ProcessorTapeLogRecords, n.Records, append(attrs, attribute.String("fate", fate))...)
}

func (t *telemetry) Received(n recorder.Amount) {
	add(t.b.ProcessorTapeReceivedSpans, n.Spans)
	add(t.b.ProcessorTapeReceivedLogRecords, n.Records)
}

func (t *telemetry) Recovered(n recorder.Amount) {
	add(t.b.ProcessorTapeRecoveredSpans, n.Spans)
}

func (t *telemetry) Kept(n recorder.Amount)  { t.fate(t.b.ProcessorTapeKeptSpans, "kept", n) }
func (t *telemetry) LetGo(n recorder.Amount) { t.fate(t.b.ProcessorTapeLetGoSpans, "let_go", n) }

func (t *telemetry) Summarised(n recorder.Amount) {
	t.fate(t.b.ProcessorTapeSummarisedSpans, "summarised", n)
}

func (t *telemetry) Dropped(reason string, n recorder.Amount) {
	t.fate(t.b.ProcessorTapeDroppedSpans, "dropped", n, attribute.String("reason", reason))
}

func (t *telemetry) Passed(n recorder.Amount)   { add(t.b.ProcessorTapePassedSpans, n.Spans) }
func (t *telemetry) Upgraded(n recorder.Amount) { add(t.b.ProcessorTapeUpgradedSpans, n.Spans) }
func (t *telemetry) Late(n recorder.Amount)     { add(t.b.ProcessorTapeLateSpans, n.Spans) }
func (t *telemetry) Retried()                   { add(t.b.ProcessorTapeRetriedDecisions, 1) }

func (t *telemetry) Decided(row tape.Row) {
	outcome := row.Outcome
	if outcome == "" {
		outcome = "none"
	}
	attrs := []attribute.KeyValue{
		attribute.String("outcome", string(outcome)),
		attribute.String("trigger", string(row.Trigger)),
		attribute.Bool("kept", row.Kept),
	}
	if row.KeptBecause != "" {
		attrs = append(attrs, attribute.String("reason", string(row.KeptBecause)))
	}
	add(t.b.ProcessorTapeDecidedRuns, 1, attrs...)
}

func (t *telemetry) Took(d time.Duration) {
	t.b.ProcessorTapeDecisionDuration.Record(context.Background(), d.Seconds())
}

func (t *telemetry) Examined(r doctor.Report) {
	add(t.b.ProcessorTapeExaminedRuns, 1,
		attribute.Bool("replays", r.Replays),
		attribute.String("service", t.services.label(r.Service)))
	for _, c := range r.Counts {
		add(t.b.ProcessorTapeExaminedRecords, c.Records,
			attribute.String("dialect", c.Dialect),
			attribute.String("kind", string(c.Kind)),
			attribute.String("fidelity", string(c.Fidelity)))
	}
}

func (t *telemetry) Saved(n int64) {
	if n > 0 {
		t.b.ProcessorTapeSavedBytes.Add(context.Background(), n)
	}
}

func (t *telemetry) Redacted(byType map[string]int) {
	for typ, n := range byType {
		add(t.b.ProcessorTapeRedactedValues, n, attribute.String("type", typ))
	}
}

func (t *telemetry) Offloaded(bodies int, bytes int64, failed int) {
	add(t.b.ProcessorTapeOffloadedBodies, bodies)
	if bytes > 0 {
		t.b.ProcessorTapeOffloadedBytes.Add(context.Background(), bytes)
	}
	add(t.b.ProcessorTapeOffloadFailures, failed)
}

var (
	live = metric.WithAttributeSet(attribute.NewSet(attribute.String("state", "live")))
	free = metric.WithAttributeSet(attribute.NewSet(attribute.String("state", "free")))
)

// observe registers what is looked at when metrics are collected.
func observe(b *metadata.TelemetryBuilder, rec *recorder.Recorder) error {
	number := func(of func(recorder.Status) int64) metric.Int64Callback {
		return func(_ context.Context, o metric.Int64Observer) error {
			o.Observe(of(rec.Status()))
			return nil
		}
	}
	return errors.Join(
		b.RegisterProcessorTapeOpenRunsCallback(number(func(s recorder.Status) int64 { return int64(s.OpenRuns) })),
		b.RegisterProcessorTapeHeldRunsCallback(number(func(s recorder.Status) int64 { return int64(s.HeldRuns) })),
		b.RegisterProcessorTapeTextBytesCallback(number(func(s recorder.Status) int64 { return s.TextBytes })),
		b.RegisterProcessorTapeSpoolSyncFailuresCallback(number(func(s recorder.Status) int64 { return s.Spool.SyncErrors })),
		b.RegisterProcessorTapeDamagedBytesCallback(number(func(s recorder.Status) int64 { return s.Spool.Damage.Bytes })),
		b.RegisterProcessorTapeDamagedSpansCallback(number(func(s recorder.Status) int64 {
			return s.Spool.Damage.Lost()
		})),
		b.RegisterProcessorTapeOldestRunAgeCallback(func(_ context.Context, o metric.Float64Observer) error {
			age := 0.0
			if first := rec.Status().OldestRun; first != 0 {
				age = time.Since(time.Unix(0, first)).Seconds()
			}
			o.Observe(age)
			return nil
		}),
		b.RegisterProcessorTapeSpoolBytesCallback(func(_ context.Context, o metric.Int64Observer) error {
			s := rec.Status().Spool
			o.Observe(s.LiveBytes, live)
			o.Observe(s.Bytes-s.LiveBytes, free)
			return nil
		}),
	)
}
