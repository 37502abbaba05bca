package tapereceiver

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/tapedeck/tapedeck/extension/tapestore/tapestoretest"
	"github.com/tapedeck/tapedeck/receiver/tapereceiver/internal/metadata"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

func TestConsumeContract(t *testing.T) {
	g := &generator{t: t}
	inner := NewFactory()
	factory := receiver.NewFactory(metadata.Type, inner.CreateDefaultConfig,
		receiver.WithTraces(func(ctx context.Context, set receiver.Settings, cfg component.Config, next consumer.Traces) (receiver.Traces, error) {
			r, err := inner.CreateTraces(ctx, set, cfg, next)
			// Each scenario has a store of its own.
			return &hosted{Traces: r, host: g.newHost()}, err
		}, component.StabilityLevelDevelopment))
	receivertest.CheckConsumeContract(receivertest.CheckConsumeContractParams{
		T:             t,
		Factory:       factory,
		Signal:        pipeline.SignalTraces,
		Config:        quick(func(c *Config) { c.Mode = ModeFollow; c.RetryConfig.MaxElapsedTime = time.Minute }),
		Generator:     g,
		GenerateCount: 40,
	})
}

type hosted struct {
	receiver.Traces
	host component.Host
}

func (h *hosted) Start(ctx context.Context, _ component.Host) error {
	return h.Traces.Start(ctx, h.host)
}

// generator stores runs of one span each.
type generator struct {
	t    *testing.T
	mu   sync.Mutex
	host *tapestoretest.Host
	n    int
}

func (g *generator) newHost() *tapestoretest.Host {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.host = tapestoretest.NewHost()
	return g.host
}

func (*generator) Start() {}
func (*generator) Stop()  {}

func (g *generator) Generate() []receivertest.UniqueIDAttrVal {
	g.mu.Lock()
	g.n++
	n, st := g.n, g.host.Store()
	g.mu.Unlock()
	unique := receivertest.UniqueIDAttrVal(strconv.Itoa(n))
	td := receivertest.CreateOneSpanWithID(unique)
	id := pcommon.TraceID{1, byte(n >> 8), byte(n)}
	td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).SetTraceID(id)
	_, err := st.PutFragment(g.t.Context(), "kept", id.String(), td)
	assert.NoError(g.t, err)
	assert.NoError(g.t, st.AppendRows(g.t.Context(), []tape.Row{{TraceID: id.String(), Kept: true}}))
	return []receivertest.UniqueIDAttrVal{unique}
}
