package tapereceiver

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/tapedeck/tapedeck/extension/tapestore/tapestoretest"
	"github.com/tapedeck/tapedeck/receiver/tapereceiver/internal/metadata"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pipeline"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
)

func TestConsumeContractOfStoredRuns(t *testing.T) {
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

// What plain recorders send has the checker's mark in a member of its own, which is
// an attribute of another name, and a run without an end has no span but its calls.
const markedTape = `{"tape":"1","outcome":"incomplete","trace_id":"%032x"}
{"seq":1,"tool":"t","args":{},"result":1,"ms":1,"test_id":"%d"}
`

func marked(n int) string { return fmt.Sprintf(markedTape, n, n) }

// unmarked gives the checker its mark under the name that it has for it.
type unmarked struct{ consumer.Traces }

func (u unmarked) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				if v, ok := span.Attributes().Get("tape.member.test_id"); ok {
					span.Attributes().PutStr(receivertest.UniqueIDAttrName, strings.Trim(v.Str(), `"`))
				}
			}
		}
	}
	return u.Traces.ConsumeTraces(ctx, td)
}

// checkIngest runs the checker against a receiver that takes in what send sends.
func checkIngest(t *testing.T, cfg *Config, before func(), started func(receiver.Traces), send func(n int, text string)) {
	inner := NewFactory()
	factory := receiver.NewFactory(metadata.Type, inner.CreateDefaultConfig,
		receiver.WithTraces(func(ctx context.Context, set receiver.Settings, cfg component.Config, next consumer.Traces) (receiver.Traces, error) {
			r, err := inner.CreateTraces(ctx, set, cfg, unmarked{next})
			return &announced{Traces: r, before: before, started: started}, err
		}, component.StabilityLevelDevelopment))
	receivertest.CheckConsumeContract(receivertest.CheckConsumeContractParams{
		T:             t,
		Factory:       factory,
		Signal:        pipeline.SignalTraces,
		Config:        cfg,
		Generator:     &sender{send: send},
		GenerateCount: 40,
	})
}

type announced struct {
	receiver.Traces
	before  func()
	started func(receiver.Traces)
}

func (a *announced) Start(ctx context.Context, host component.Host) error {
	a.before()
	err := a.Traces.Start(ctx, host)
	a.started(a.Traces)
	return err
}

type sender struct {
	n    atomic.Int64
	send func(n int, text string)
}

func (*sender) Start() {}
func (*sender) Stop()  {}

func (s *sender) Generate() []receivertest.UniqueIDAttrVal {
	n := int(s.n.Add(1))
	s.send(n, marked(n))
	return []receivertest.UniqueIDAttrVal{receivertest.UniqueIDAttrVal(strconv.Itoa(n))}
}

func TestConsumeContractOfPostedTapes(t *testing.T) {
	var url atomic.Value
	checkIngest(t, serving(t), func() {},
		func(r receiver.Traces) { url.Store("http://" + r.(*tapeReceiver).server.addr.String() + tapesPath) },
		func(_ int, text string) {
			// As senders do: what is not taken now is sent again.
			for {
				status, _, _ := post(t, url.Load().(string), []byte(text))
				if status != http.StatusServiceUnavailable {
					return
				}
			}
		})
}

func TestConsumeContractOfWatchedFiles(t *testing.T) {
	dir := t.TempDir()
	checkIngest(t, watching(dir, func(c *Config) {
		c.Watch.Get().MoveTo = filepath.Join(dir, "done")
		c.RetryConfig.MaxElapsedTime = time.Minute
	}), func() {
		// What was refused for good stays, and is not of the next scenario.
		left, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
		assert.NoError(t, err)
		for _, file := range left {
			assert.NoError(t, os.Remove(file))
		}
	}, func(receiver.Traces) {}, func(n int, text string) {
		name := strconv.Itoa(n) + ".jsonl"
		hidden := write(t, dir, "."+name, text)
		assert.NoError(t, os.Rename(hidden, filepath.Join(dir, name)))
	})
}
