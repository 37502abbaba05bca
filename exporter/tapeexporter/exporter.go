package tapeexporter

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/tapedeck/tapedeck/exporter/tapeexporter/internal/metadata"
	"github.com/tapedeck/tapedeck/extension/tapestore"
	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/archive"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
)

type tapeExporter struct {
	cfg       *Config
	settings  component.TelemetrySettings
	telemetry *metadata.TelemetryBuilder
	archive   *archive.Archive
	server    *apiServer
	waiting   *waiting
	// translation tells the tenants apart, once the exporter has started.
	translation dialect.Options
}

func newExporter(set exporter.Settings, cfg *Config) (*tapeExporter, error) {
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	return &tapeExporter{
		cfg: cfg, settings: set.TelemetrySettings, telemetry: telemetry,
		waiting: newWaiting(giveUp(cfg), time.Now),
	}, nil
}

// giveUp is how long after its first failure a request may be tried again, 0 for ever.
func giveUp(cfg *Config) time.Duration {
	switch {
	case !cfg.RetryConfig.Enabled:
		return time.Nanosecond
	case cfg.RetryConfig.MaxElapsedTime <= 0:
		return 0
	default:
		return cfg.RetryConfig.MaxElapsedTime + cfg.TimeoutConfig.Timeout
	}
}

func (e *tapeExporter) start(ctx context.Context, host component.Host) error {
	ext, err := tapestore.FromHost(host, e.cfg.Storage)
	if err != nil {
		return err
	}
	e.translation = ext.Translation()
	e.archive = archive.New(ext.Store(), archive.Options{
		Class:       ext.Class,
		Translation: e.translation,
		Scrubber:    scrub.New(redact.Default()),
		Permanent:   consumererror.IsPermanent,
	})
	if !e.cfg.HTTP.HasValue() {
		return nil
	}
	e.server, err = serveAPI(ctx, host, e.settings, e.telemetry, e.cfg, ext, e.waiting.has)
	return err
}

func (e *tapeExporter) shutdown(ctx context.Context) error {
	var err error
	if e.server != nil {
		err = e.server.shutdown(ctx)
		e.server = nil
	}
	e.telemetry.Shutdown()
	return err
}

// push stores spans. What can be tried again is the error's data; what can never
// be stored is dropped, counted and logged, and is an error only when nothing
// else was in the request.
func (e *tapeExporter) push(ctx context.Context, td ptrace.Traces) error {
	total := td.SpanCount()
	// Write takes the request apart.
	runs := e.runsOf(td)
	result := e.archive.Write(ctx, td)
	if result.Err != nil {
		failed := e.runsOf(result.Failed)
		e.waiting.fail(failed)
		again := make(map[runKey]bool, len(failed))
		for _, run := range failed {
			again[run] = true
		}
		runs = slices.DeleteFunc(runs, func(run runKey) bool { return again[run] })
	}
	e.waiting.done(runs)
	e.count(ctx, &result)
	refused := result.RefusedSpans()
	if refused > 0 && refused == total {
		return consumererror.NewPermanent(result.RefusedErr())
	}
	if refused > 0 {
		e.settings.Logger.Warn("Dropped spans that can never be stored",
			zap.Int("spans", refused), zap.Error(result.RefusedErr()))
	}
	if result.Err != nil {
		return consumererror.NewTraces(result.Err, result.Failed)
	}
	return nil
}

func (e *tapeExporter) runsOf(td ptrace.Traces) []runKey { return runsOf(td, e.translation.Tenant) }

func (e *tapeExporter) count(ctx context.Context, result *archive.Result) {
	e.telemetry.TapeExporterFragments.Add(ctx, int64(result.Fragments))
	e.telemetry.TapeExporterFragmentBytes.Add(ctx, result.Bytes)
	e.telemetry.TapeExporterRedactedValues.Add(ctx, int64(result.Redacted))
	if result.Kept > 0 {
		e.telemetry.TapeExporterRows.Add(ctx, int64(result.Kept), metric.WithAttributes(attribute.Bool("kept", true)))
	}
	if result.Summarised > 0 {
		e.telemetry.TapeExporterRows.Add(ctx, int64(result.Summarised), metric.WithAttributes(attribute.Bool("kept", false)))
	}
	for _, refusal := range result.Refused {
		e.telemetry.TapeExporterRefusedSpans.Add(ctx, int64(refusal.Spans),
			metric.WithAttributes(attribute.String("reason", reason(refusal.Err))))
	}
}

func reason(err error) string {
	switch {
	case errors.Is(err, store.ErrBadTraceID):
		return "no_trace_id"
	case errors.Is(err, store.ErrTooLarge):
		return "too_large"
	default:
		return "refused"
	}
}
