package tapeprocessor

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"

	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/internal/recorder"
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

// fate counts spans in their own metric, log records in one by fate.
func (t telemetry) fate(c metric.Int64Counter, fate string, n recorder.Amount, attrs ...attribute.KeyValue) {
	add(c, n.Spans, attrs...)
	add(t.b.ProcessorTapeLogRecords, n.Records, append(attrs, attribute.String("fate", fate))...)
}

func (t telemetry) Received(n recorder.Amount) {
	add(t.b.ProcessorTapeReceivedSpans, n.Spans)
	add(t.b.ProcessorTapeReceivedLogRecords, n.Records)
}

func (t telemetry) Kept(n recorder.Amount)  { t.fate(t.b.ProcessorTapeKeptSpans, "kept", n) }
func (t telemetry) LetGo(n recorder.Amount) { t.fate(t.b.ProcessorTapeLetGoSpans, "let_go", n) }

func (t telemetry) Summarised(n recorder.Amount) {
	t.fate(t.b.ProcessorTapeSummarisedSpans, "summarised", n)
}

func (t telemetry) Dropped(reason string, n recorder.Amount) {
	t.fate(t.b.ProcessorTapeDroppedSpans, "dropped", n, attribute.String("reason", reason))
}

func (t telemetry) Passed(n recorder.Amount)   { add(t.b.ProcessorTapePassedSpans, n.Spans) }
func (t telemetry) Upgraded(n recorder.Amount) { add(t.b.ProcessorTapeUpgradedSpans, n.Spans) }
func (t telemetry) Late(n recorder.Amount)     { add(t.b.ProcessorTapeLateSpans, n.Spans) }
func (t telemetry) Retried()                   { add(t.b.ProcessorTapeRetriedDecisions, 1) }

func (t telemetry) Decided(outcome tape.Outcome, trigger tape.Trigger, kept bool) {
	if outcome == "" {
		outcome = "none"
	}
	add(t.b.ProcessorTapeDecidedRuns, 1,
		attribute.String("outcome", string(outcome)),
		attribute.String("trigger", string(trigger)),
		attribute.Bool("kept", kept))
}

func (t telemetry) Examined(r doctor.Report) {
	add(t.b.ProcessorTapeExaminedRuns, 1, attribute.Bool("replays", r.Replays))
	for _, k := range r.Kinds {
		for grade, n := range k.Grades {
			add(t.b.ProcessorTapeExaminedRecords, n, attribute.String("kind", string(k.Kind)), attribute.String("fidelity", string(grade)))
		}
	}
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
