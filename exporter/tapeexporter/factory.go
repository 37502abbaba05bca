package tapeexporter

import (
	"context"
	"sync"

	"github.com/tapedeck/tapedeck/exporter/tapeexporter/internal/metadata"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// NewFactory makes the factory of the exporter.
func NewFactory() exporter.Factory {
	return exporter.NewFactory(
		metadata.Type,
		createDefaultConfig,
		exporter.WithTraces(createTraces, metadata.TracesStability),
	)
}

func createTraces(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Traces, error) {
	c := cfg.(*Config)
	e, err := newExporter(set, c)
	if err != nil {
		return nil, err
	}
	traces, err := exporterhelper.NewTraces(ctx, set, cfg, e.push,
		exporterhelper.WithStart(e.start),
		exporterhelper.WithShutdown(e.shutdown),
		// Spans are taken apart by run, and redacted when nobody did it before.
		exporterhelper.WithCapabilities(consumer.Capabilities{MutatesData: true}),
		exporterhelper.WithTimeout(c.TimeoutConfig),
		exporterhelper.WithRetry(c.RetryConfig),
		exporterhelper.WithQueue(c.QueueConfig),
	)
	if err != nil {
		return nil, err
	}
	return &stoppable{Traces: traces, exporter: e}, nil
}

// stoppable can be shut down twice; what exporterhelper makes panics then. It notes
// what goes into the queue.
type stoppable struct {
	exporter.Traces
	exporter *tapeExporter

	once sync.Once
	err  error
}

// ConsumeTraces implements consumer.Traces.
func (s *stoppable) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	runs := s.exporter.runsOf(td)
	s.exporter.waiting.add(runs)
	err := s.Traces.ConsumeTraces(ctx, td)
	if err != nil {
		// Whoever sent it has it still.
		s.exporter.waiting.done(runs)
	}
	return err
}

// Shutdown implements component.Component.
func (s *stoppable) Shutdown(ctx context.Context) error {
	s.once.Do(func() { s.err = s.Traces.Shutdown(ctx) })
	return s.err
}
