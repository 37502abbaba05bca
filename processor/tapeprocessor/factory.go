package tapeprocessor

import (
	"context"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/processor"

	"github.com/tapedeck/tapedeck/processor/tapeprocessor/internal/metadata"
	"github.com/tapedeck/tapedeck/tape"
)

// NewFactory returns the factory of the processor.
func NewFactory() processor.Factory {
	return processor.NewFactory(
		metadata.Type,
		createDefaultConfig,
		processor.WithTraces(createTraces, metadata.TracesStability),
		processor.WithLogs(createLogs, metadata.LogsStability),
	)
}

// The defaults fit agents: runs last minutes to hours and go silent for minutes
// while a model thinks or a tool runs.
func createDefaultConfig() component.Config {
	return &Config{
		IdleTimeout: 10 * time.Minute,
		MaxAge:      24 * time.Hour,
		RootSettle:  5 * time.Second,
		Lookback:    time.Hour,
		Keep: KeepConfig{
			Outcomes:  []tape.Outcome{tape.OutcomeFailed, tape.OutcomeRecovered, tape.OutcomeIncomplete},
			ErrorMode: ottl.IgnoreError,
		},
		Spool: SpoolConfig{
			MaxBytes:     256 << 20,
			MaxRunBytes:  64 << 20,
			MaxRunSpans:  100_000,
			SegmentBytes: 32 << 20,
			SyncInterval: time.Second,
			CacheBytes:   16 << 20,
		},
		Offload:     OffloadConfig{Threshold: 128 << 10},
		DecidedRuns: 100_000,
	}
}

func createTraces(
	_ context.Context,
	set processor.Settings,
	cfg component.Config,
	next consumer.Traces,
) (processor.Traces, error) {
	return newProcessor(set, cfg.(*Config), next)
}

func createLogs(
	_ context.Context,
	set processor.Settings,
	cfg component.Config,
	next consumer.Logs,
) (processor.Logs, error) {
	return newLogsProcessor(set, cfg.(*Config), next)
}
