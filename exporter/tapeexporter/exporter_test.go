package tapeexporter

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/exporter/tapeexporter/internal/metadata"
	"github.com/tapedeck/tapedeck/exporter/tapeexporter/internal/metadatatest"
	"github.com/tapedeck/tapedeck/extension/tapestore"
	"github.com/tapedeck/tapedeck/extension/tapestore/tapestoretest"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/client"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/exporter"
	"go.opentelemetry.io/collector/exporter/exporterhelper"
	"go.opentelemetry.io/collector/exporter/exportertest"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

const id = "0102030405060708090a0b0c0d0e0f10"

var (
	noon = time.Date(2026, 1, 2, 12, 30, 0, 0, time.UTC)
	good = storetest.Call{Tool: "fetch", Args: `{"url":"http://a"}`, Result: `{"ok":1}`}
	bad  = storetest.Call{Tool: "pay", Args: `{"sum":3}`, Error: "declined"}
)

var (
	ignoreTime      = metricdatatest.IgnoreTimestamp()
	ignoreExemplars = metricdatatest.IgnoreExemplars()
)

// newTestHost is named in metadata.yaml.
func newTestHost() component.Host { return tapestoretest.NewHost() }

// plain has no queue, so that the result of a push is seen, and a free port.
func plain() *Config {
	cfg := createDefaultConfig().(*Config)
	cfg.QueueConfig = configoptional.None[exporterhelper.QueueBatchConfig]()
	cfg.RetryConfig.InitialInterval = time.Millisecond
	cfg.RetryConfig.MaxInterval = time.Millisecond
	cfg.HTTP.Get().NetAddr.Endpoint = "127.0.0.1:0"
	return cfg
}

type fixture struct {
	exporter.Traces
	host *tapestoretest.Host
	tel  *componenttest.Telemetry
	logs *observer.ObservedLogs
}

func start(t *testing.T, cfg *Config) *fixture {
	t.Helper()
	return startOn(t, cfg, func(h *tapestoretest.Host) component.Host { return h })
}

// startOn starts an exporter on a host that is more than that of the fixture.
func startOn(t *testing.T, cfg *Config, host func(*tapestoretest.Host) component.Host) *fixture {
	t.Helper()
	f := &fixture{host: tapestoretest.NewHost(), tel: componenttest.NewTelemetry()}
	t.Cleanup(func() { require.NoError(t, f.tel.Shutdown(context.Background())) })
	core, logs := observer.New(zap.InfoLevel)
	f.logs = logs
	set := exportertest.NewNopSettings(metadata.Type)
	set.TelemetrySettings = f.tel.NewTelemetrySettings()
	set.Logger = zap.New(core)
	var err error
	f.Traces, err = NewFactory().CreateTraces(t.Context(), set, cfg)
	require.NoError(t, err)
	require.NoError(t, f.Start(t.Context(), host(f.host)))
	t.Cleanup(func() { require.NoError(t, f.Shutdown(context.Background())) })
	return f
}

// url is where the API of the exporter listens, as its log says.
func (f *fixture) url(t *testing.T) string {
	t.Helper()
	lines := f.logs.FilterMessage("Serving stored tapes").All()
	require.Len(t, lines, 1)
	return "http://" + lines[0].ContextMap()["address"].(string)
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	c := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	resp, err := c.Do(r)
	require.NoError(t, err)
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	return resp.StatusCode, string(body)
}

func TestARunGoesInAndComesOutOverHTTP(t *testing.T) {
	f := start(t, plain())
	require.NoError(t, f.ConsumeTraces(t.Context(), storetest.AgentRun(t, id, noon, good, bad)))
	status, body := get(t, f.url(t)+"/v1/tapes/"+id)
	assert.Equal(t, http.StatusOK, status)
	tp, err := tape.ReadAll(strings.NewReader(body))
	require.NoError(t, err)
	assert.Len(t, tp.Records, 2)
	status, body = get(t, f.url(t)+"/v1/tapes?outcome=failed")
	assert.Equal(t, http.StatusOK, status)
	assert.Contains(t, body, id)

	const open = "ff02030405060708090a0b0c0d0e0f10"
	unregister := f.host.Extension.RegisterRuns(openRun(open))
	_, body = get(t, f.url(t)+"/v1/tapes/"+open)
	assert.Contains(t, body, `"pending"`)
	unregister()
	_, body = get(t, f.url(t)+"/v1/tapes/"+open)
	assert.Contains(t, body, `"not_found"`)

	run, err := f.host.Store().Trace(t.Context(), id)
	require.NoError(t, err)
	metadatatest.AssertEqualTapeExporterFragments(t, f.tel, []metricdata.DataPoint[int64]{{Value: 1}}, ignoreTime, ignoreExemplars)
	metadatatest.AssertEqualTapeExporterFragmentBytes(t, f.tel, []metricdata.DataPoint[int64]{{Value: run.Bytes}}, ignoreTime, ignoreExemplars)
	metadatatest.AssertEqualTapeExporterRows(t, f.tel, []metricdata.DataPoint[int64]{
		{Value: 1, Attributes: attribute.NewSet(attribute.Bool("kept", true))},
	}, ignoreTime, ignoreExemplars)
	requests := func(endpoint string, status int, n int64) metricdata.DataPoint[int64] {
		return metricdata.DataPoint[int64]{Value: n, Attributes: attribute.NewSet(attribute.String("endpoint", endpoint), attribute.Int("status", status))}
	}
	metadatatest.AssertEqualTapeExporterAPIRequests(t, f.tel, []metricdata.DataPoint[int64]{
		requests("tape", 200, 1), requests("list", 200, 1), requests("tape", 404, 2),
	}, ignoreTime, ignoreExemplars)
}

func TestAStoreThatFailsForAWhileLosesNothing(t *testing.T) {
	f := start(t, plain())
	var n atomic.Int64
	f.host.Backend.Fail = func(op, _ string) error {
		if op == "put" && n.Add(1) < 4 {
			return errors.New("disk full")
		}
		return nil
	}
	require.NoError(t, f.ConsumeTraces(t.Context(), storetest.AgentRun(t, id, noon, good)))
	_, err := f.host.Store().Row(t.Context(), id)
	require.NoError(t, err)
}

func TestWithoutRetryTheErrorCanBeTriedAgain(t *testing.T) {
	cfg := plain()
	cfg.RetryConfig.Enabled = false
	f := start(t, cfg)
	broken := errors.New("disk full")
	f.host.Backend.Fail = func(op, _ string) error {
		if op == "put" {
			return broken
		}
		return nil
	}
	err := f.ConsumeTraces(t.Context(), storetest.AgentRun(t, id, noon, good))
	require.ErrorIs(t, err, broken)
	assert.False(t, consumererror.IsPermanent(err))
	var partial consumererror.Traces
	require.ErrorAs(t, err, &partial)
	assert.Equal(t, 2, partial.Data().SpanCount())
}

func TestWhatCanNeverBeStoredIsCountedAndDropped(t *testing.T) {
	f := start(t, plain())
	lost := ptrace.NewTraces()
	lost.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	err := f.ConsumeTraces(t.Context(), lost)
	require.ErrorIs(t, err, store.ErrBadTraceID)
	assert.True(t, consumererror.IsPermanent(err))

	mixed := storetest.AgentRun(t, id, noon, good)
	mixed.ResourceSpans().At(0).ScopeSpans().At(0).Spans().AppendEmpty()
	require.NoError(t, f.ConsumeTraces(t.Context(), mixed))
	assert.Equal(t, 1, f.logs.FilterMessage("Dropped spans that can never be stored").Len())
	metadatatest.AssertEqualTapeExporterRefusedSpans(t, f.tel, []metricdata.DataPoint[int64]{
		{Value: 2, Attributes: attribute.NewSet(attribute.String("reason", "no_trace_id"))},
	}, ignoreTime, ignoreExemplars)
	assert.Equal(t, "too_large", reason(store.ErrTooLarge))
	assert.Equal(t, "refused", reason(errors.New("other")))
}

func TestUnredactedSpansAreRedactedAndCounted(t *testing.T) {
	f := start(t, plain())
	require.NoError(t, f.ConsumeTraces(t.Context(), storetest.AgentRun(t, id, noon, storetest.Call{Tool: "pay", Args: `{"password":"hunter2"}`})))
	_, body := get(t, f.url(t)+"/v1/tapes/"+id)
	assert.NotContains(t, body, "hunter2")
	metadatatest.AssertEqualTapeExporterRedactedValues(t, f.tel, []metricdata.DataPoint[int64]{{Value: 1}}, ignoreTime, ignoreExemplars)
	for _, entry := range f.logs.All() {
		assert.NotContains(t, entry.Message, "hunter2")
	}
}

func TestEmptyTraces(t *testing.T) {
	f := start(t, plain())
	td := ptrace.NewTraces()
	require.NoError(t, f.ConsumeTraces(t.Context(), td))
	td.ResourceSpans().AppendEmpty()
	require.NoError(t, f.ConsumeTraces(t.Context(), td))
	td.ResourceSpans().At(0).ScopeSpans().AppendEmpty()
	require.NoError(t, f.ConsumeTraces(t.Context(), td))
	assert.Empty(t, f.host.Backend.Names())
}

func TestStartFailsClearly(t *testing.T) {
	cfg := plain()
	cfg.Storage = component.MustNewIDWithName("tape_store", "missing")
	e, err := NewFactory().CreateTraces(t.Context(), exportertest.NewNopSettings(metadata.Type), cfg)
	require.NoError(t, err)
	require.ErrorIs(t, e.Start(t.Context(), tapestoretest.NewHost()), tapestore.ErrNoStore)
	require.NoError(t, e.Shutdown(t.Context()))

	busy := start(t, plain())
	cfg = plain()
	cfg.HTTP.Get().NetAddr.Endpoint = strings.TrimPrefix(busy.url(t), "http://")
	e, err = NewFactory().CreateTraces(t.Context(), exportertest.NewNopSettings(metadata.Type), cfg)
	require.NoError(t, err)
	require.ErrorContains(t, e.Start(t.Context(), tapestoretest.NewHost()), cfg.HTTP.Get().NetAddr.Endpoint)
	require.NoError(t, e.Shutdown(t.Context()))
}

func TestShutdownTwiceAndWithoutStart(t *testing.T) {
	e, err := NewFactory().CreateTraces(t.Context(), exportertest.NewNopSettings(metadata.Type), plain())
	require.NoError(t, err)
	require.NoError(t, e.Shutdown(t.Context()))
	require.NoError(t, e.Shutdown(t.Context()))

	f := start(t, plain())
	expired, cancel := context.WithCancel(t.Context())
	cancel()
	require.NoError(t, f.Shutdown(expired), "nothing is left to wait for")
	require.NoError(t, f.Shutdown(t.Context()))
}

type auth map[string]any

func (a auth) GetAttribute(name string) any { return a[name] }
func (a auth) GetAttributeNames() []string  { return nil }

func TestTheAuditNamesTheSubject(t *testing.T) {
	for want, info := range map[string]client.Info{
		"alice": {Auth: auth{"subject": "alice"}},
		"":      {Auth: auth{"subject": 3}},
	} {
		r, err := http.NewRequestWithContext(client.NewContext(t.Context(), info), http.MethodGet, "/", nil)
		require.NoError(t, err)
		assert.Equal(t, want, subject(r))
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	require.NoError(t, err)
	assert.Empty(t, subject(r))
}

// openRun is a source with one run that is open.
type openRun string

func (r openRun) Pending(_ context.Context, _, id string) bool { return id == string(r) }

func (r openRun) Keep(_ context.Context, _, id string) (tapestore.Kept, error) {
	if id == string(r) {
		return tapestore.KeptOnceDecided, nil
	}
	return tapestore.NotThere, nil
}
