package tapeexporter

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/tapedeck/tapedeck/exporter/tapeexporter/internal/metadata"
	"github.com/tapedeck/tapedeck/extension/tapestore/tapestoretest"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/receiver"
)

// The checker wants a receiver at the other end. Here that is a backend which
// hands every fragment to the checker's consumer and answers with its error.
func TestConsumeContract(t *testing.T) {
	backend := &judged{Memory: storetest.NewMemory()}
	inner := NewFactory()
	var ids atomic.Uint64
	exporters := exporter.NewFactory(metadata.Type, inner.CreateDefaultConfig,
		exporter.WithTraces(func(ctx context.Context, set exporter.Settings, cfg component.Config) (exporter.Traces, error) {
			e, err := inner.CreateTraces(ctx, set, cfg)
			return &hosted{Traces: e, ids: &ids, host: &tapestoretest.Host{Extension: tapestoretest.New(backend)}}, err
		}, component.StabilityLevelDevelopment))
	receivers := receiver.NewFactory(metadata.Type, func() component.Config { return nil },
		receiver.WithTraces(func(_ context.Context, _ receiver.Settings, _ component.Config, next consumer.Traces) (receiver.Traces, error) {
			backend.next = next
			return nopReceiver{}, nil
		}, component.StabilityLevelDevelopment))

	// The checker looks at once, so there must be no queue.
	cfg := plain()
	cfg.RetryConfig.MaxElapsedTime = time.Minute
	cfg.HTTP = configoptional.None[confighttp.ServerConfig]()
	exportertest.CheckConsumeContract(exportertest.CheckConsumeContractParams{
		T:                    t,
		NumberOfTestElements: 30,
		Signal:               pipeline.SignalTraces,
		ExporterFactory:      exporters,
		ExporterConfig:       cfg,
		ReceiverFactory:      receivers,
	})
}

// hosted starts with a host that has a store, and gives each span of the checker
// the trace id it lacks.
type hosted struct {
	exporter.Traces
	ids  *atomic.Uint64
	host component.Host
}

func (h *hosted) Start(ctx context.Context, _ component.Host) error {
	return h.Traces.Start(ctx, h.host)
}

func (h *hosted) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	n := h.ids.Add(1)
	td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).SetTraceID(pcommon.TraceID{1, byte(n >> 8), byte(n)})
	return h.Traces.ConsumeTraces(ctx, td)
}

// judged asks the consumer about every fragment before it keeps it.
type judged struct {
	*storetest.Memory
	next consumer.Traces
}

var _ store.Backend = (*judged)(nil)

func (j *judged) Put(ctx context.Context, name string, data []byte) error {
	if strings.HasPrefix(name, "tapes/") {
		dec, err := zstd.NewReader(nil)
		if err != nil {
			return err
		}
		defer dec.Close()
		plain, err := dec.DecodeAll(data, nil)
		if err != nil {
			return err
		}
		td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(plain)
		if err != nil {
			return err
		}
		if err := j.next.ConsumeTraces(ctx, td); err != nil {
			return err
		}
	}
	return j.Memory.Put(ctx, name, data)
}

type nopReceiver struct{}

func (nopReceiver) Start(context.Context, component.Host) error { return nil }
func (nopReceiver) Shutdown(context.Context) error              { return nil }
