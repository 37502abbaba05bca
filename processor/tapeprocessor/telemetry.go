package tapeprocessor

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/tapedeck/tapedeck/processor/tapeprocessor/internal/metadata"
	"github.com/tapedeck/tapedeck/tape"
)

// telemetry carries the recorder's counts into the collector's metrics.
type telemetry struct{ b *metadata.TelemetryBuilder }

func add(c metric.Int64Counter, n int, attrs ...attribute.KeyValue) {
	if n == 0 {
		return
	}
	c.Add(context.Background(), int64(n), metric.WithAttributes(attrs...))
}

func (t telemetry) Received(n int)   { add(t.b.ProcessorTapeReceivedSpans, n) }
func (t telemetry) Upgraded(n int)   { add(t.b.ProcessorTapeUpgradedSpans, n) }
func (t telemetry) Kept(n int)       { add(t.b.ProcessorTapeKeptSpans, n) }
func (t telemetry) Summarised(n int) { add(t.b.ProcessorTapeSummarisedSpans, n) }
func (t telemetry) LetGo(n int)      { add(t.b.ProcessorTapeLetGoSpans, n) }
func (t telemetry) Passed(n int)     { add(t.b.ProcessorTapePassedSpans, n) }
func (t telemetry) Late(n int)       { add(t.b.ProcessorTapeLateSpans, n) }
func (t telemetry) Retried()         { add(t.b.ProcessorTapeRetriedDecisions, 1) }

func (t telemetry) Dropped(reason string, n int) {
	add(t.b.ProcessorTapeDroppedSpans, n, attribute.String("reason", reason))
}

func (t telemetry) Decided(outcome tape.Outcome, trigger tape.Trigger, kept bool) {
	if outcome == "" {
		outcome = "none"
	}
	add(t.b.ProcessorTapeDecidedRuns, 1,
		attribute.String("outcome", string(outcome)),
		attribute.String("trigger", string(trigger)),
		attribute.Bool("kept", kept))
}

func (t telemetry) Redacted(byType map[string]int) {
	for typ, n := range byType {
		add(t.b.ProcessorTapeRedactedValues, n, attribute.String("type", typ))
	}
}

func (t telemetry) Offloaded(bodies int, bytes int64, failed int) {
	add(t.b.ProcessorTapeOffloadedBodies, bodies)
	if bytes > 0 {
		t.b.ProcessorTapeOffloadedBytes.Add(context.Background(), bytes)
	}
	add(t.b.ProcessorTapeOffloadFailures, failed)
}
