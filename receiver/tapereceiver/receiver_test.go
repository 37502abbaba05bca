package tapereceiver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/extension/tapestore"
	"github.com/tapedeck/tapedeck/extension/tapestore/tapestoretest"
	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/offload"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/receiver/tapereceiver/internal/metadata"
	"github.com/tapedeck/tapedeck/receiver/tapereceiver/internal/metadatatest"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componenttest"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receivertest"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
	"go.uber.org/zap"
	"go.uber.org/zap/zaptest/observer"
)

var (
	noon = time.Date(2026, 1, 2, 12, 30, 0, 0, time.UTC)
	big  = `{"page":"` + strings.Repeat("long ", 1000) + `"}`
)

// newTestHost is named in metadata.yaml.
func newTestHost() component.Host { return tapestoretest.NewHost() }

func traceID(n int) string { return fmt.Sprintf("%032x", n+1) }

// put stores a run with a large body, as processor and exporter do.
func put(t testing.TB, h *tapestoretest.Host, row tape.Row) ptrace.Traces {
	t.Helper()
	td := storetest.AgentRun(t, row.TraceID, noon, storetest.Call{Tool: "fetch", Args: `{"url":"http://a"}`, Result: big})
	want := ptrace.NewTraces()
	td.CopyTo(want)
	_, err := offload.Traces(td, 1000, func(b offload.Body) error {
		return h.Store().PutBlob(t.Context(), "failures", noon, b.SHA256, b.Data)
	})
	require.NoError(t, err)
	td.ResourceSpans().At(0).Resource().Attributes().PutStr(attr.Redaction, "policy")
	_, err = h.Store().PutFragment(t.Context(), "failures", row.TraceID, td)
	require.NoError(t, err)
	row.Kept = true
	require.NoError(t, h.Store().AppendRows(t.Context(), []tape.Row{row}))
	return want
}

// sink keeps what it takes; answer decides about each attempt.
type sink struct {
	mu     sync.Mutex
	got    []ptrace.Traces
	answer func(n int, td ptrace.Traces) error
	n      int
}

func (s *sink) Capabilities() consumer.Capabilities { return consumer.Capabilities{MutatesData: true} }

func (s *sink) ConsumeTraces(_ context.Context, td ptrace.Traces) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.n++
	if s.answer != nil {
		if err := s.answer(s.n, td); err != nil {
			// A consumer may ruin what it was given.
			td.ResourceSpans().RemoveIf(func(ptrace.ResourceSpans) bool { return true })
			return err
		}
	}
	s.got = append(s.got, td)
	return nil
}

func (s *sink) all() []ptrace.Traces {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.got)
}

func (s *sink) ids() []string {
	ids := []string{}
	for _, td := range s.all() {
		ids = append(ids, td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).TraceID().String())
	}
	return ids
}

type fixture struct {
	receiver.Traces
	tel  *componenttest.Telemetry
	logs *observer.ObservedLogs
}

func quick(change func(*Config)) *Config {
	cfg := createDefaultConfig().(*Config)
	cfg.PollInterval = 5 * time.Millisecond
	cfg.RetryConfig.InitialInterval = time.Millisecond
	cfg.RetryConfig.MaxInterval = time.Millisecond
	if change != nil {
		change(cfg)
	}
	return cfg
}

func start(t *testing.T, h component.Host, next consumer.Traces, cfg *Config) *fixture {
	t.Helper()
	f := &fixture{tel: componenttest.NewTelemetry()}
	t.Cleanup(func() { require.NoError(t, f.tel.Shutdown(context.Background())) })
	core, logs := observer.New(zap.InfoLevel)
	f.logs = logs
	set := receivertest.NewNopSettings(metadata.Type)
	set.ID = component.NewID(metadata.Type)
	set.TelemetrySettings = f.tel.NewTelemetrySettings()
	set.Logger = zap.New(core)
	var err error
	f.Traces, err = NewFactory().CreateTraces(t.Context(), set, cfg, next)
	require.NoError(t, err)
	require.NoError(t, f.Start(t.Context(), h))
	t.Cleanup(func() { require.NoError(t, f.Shutdown(context.Background())) })
	return f
}

func (f *fixture) waitFor(t *testing.T, message string) {
	t.Helper()
	require.Eventually(t, func() bool { return f.logs.FilterMessageSnippet(message).Len() > 0 }, 5*time.Second, time.Millisecond)
}

const (
	allSent = "All stored runs that fit"
	noneFit = "No stored run was sent"
)

func (f *fixture) assertRuns(t *testing.T, want map[string]int64) {
	t.Helper()
	var points []metricdata.DataPoint[int64]
	for result, n := range want {
		points = append(points, metricdata.DataPoint[int64]{Value: n, Attributes: attribute.NewSet(attribute.String("result", result))})
	}
	metadatatest.AssertEqualTapeReceiverRuns(t, f.tel, points, metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
}

func TestARunComesBackAsItWentIn(t *testing.T) {
	h, s := tapestoretest.NewHost(), &sink{}
	want := put(t, h, tape.Row{TraceID: traceID(1), Outcome: "failed"})
	f := start(t, h, s, quick(func(c *Config) { c.TraceIDs = []string{strings.ToUpper(traceID(1))} }))
	f.waitFor(t, allSent)
	require.Len(t, s.all(), 1)
	wantBytes, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(want)
	require.NoError(t, err)
	gotBytes, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(s.all()[0])
	require.NoError(t, err)
	assert.Equal(t, wantBytes, gotBytes, "ids, times and bodies, and no mark of redaction")
	f.assertRuns(t, map[string]int64{"sent": 1})
}

func TestOnceReadsWhatFits(t *testing.T) {
	h := tapestoretest.NewHost()
	ago := func(d time.Duration) string { return time.Now().Add(-d).UTC().Format(time.RFC3339Nano) }
	put(t, h, tape.Row{TraceID: traceID(1), Outcome: "failed", Class: "failures", Service: "shop", Decided: ago(3 * time.Hour)})
	put(t, h, tape.Row{TraceID: traceID(2), Outcome: "succeeded", Class: "kept", Service: "bank", Tools: []string{"send"}, Decided: ago(time.Hour)})
	require.NoError(t, h.Store().AppendRows(t.Context(), []tape.Row{{TraceID: traceID(3), Outcome: "failed"}}))
	for name, test := range map[string]struct {
		change func(*Config)
		want   []string
	}{
		"all":     {nil, []string{traceID(2), traceID(1)}},
		"outcome": {func(c *Config) { c.Outcome = []tape.Outcome{"failed"} }, []string{traceID(1)}},
		"class":   {func(c *Config) { c.Class = []string{"kept"} }, []string{traceID(2)}},
		"tool":    {func(c *Config) { c.Tool = []string{"send"} }, []string{traceID(2)}},
		"service": {func(c *Config) { c.Service = []string{"shop"} }, []string{traceID(1)}},
		"since":   {func(c *Config) { c.Since = "2h" }, []string{traceID(2)}},
		"until":   {func(c *Config) { c.Until = "2h" }, []string{traceID(1)}},
	} {
		t.Run(name, func(t *testing.T) {
			s := &sink{}
			f := start(t, h, s, quick(test.change))
			f.waitFor(t, allSent)
			assert.Equal(t, test.want, s.ids())
		})
	}
}

func TestAReadThatReturnsNothingSaysSo(t *testing.T) {
	h, s := tapestoretest.NewHost(), &sink{}
	f := start(t, h, s, quick(nil))
	f.waitFor(t, noneFit)
	f = start(t, h, s, quick(func(c *Config) { c.TraceIDs = []string{traceID(1)} }))
	f.waitFor(t, noneFit)
	f.assertRuns(t, map[string]int64{"not_found": 1})
	assert.Empty(t, s.all())
}

func TestFollowGoesOn(t *testing.T) {
	h, s := tapestoretest.NewHost(), &sink{}
	now := time.Now()
	put(t, h, tape.Row{TraceID: traceID(1), Outcome: "failed", Decided: now.Add(-time.Hour).Format(time.RFC3339Nano)})
	start(t, h, s, quick(func(c *Config) { c.Mode = ModeFollow }))
	wait := func(want ...string) {
		t.Helper()
		require.EventuallyWithT(t, func(c *assert.CollectT) { assert.Equal(c, want, s.ids()) }, 5*time.Second, time.Millisecond)
	}
	put(t, h, tape.Row{TraceID: traceID(2), Outcome: "failed"})
	wait(traceID(2))
	put(t, h, tape.Row{TraceID: traceID(3), Outcome: "failed"})
	wait(traceID(2), traceID(3))
	// The late failure of a run sent before.
	put(t, h, tape.Row{TraceID: traceID(2), Outcome: "failed", Trigger: tape.TriggerLateFailure})
	wait(traceID(2), traceID(3), traceID(2))
	time.Sleep(30 * time.Millisecond)
	assert.Len(t, s.all(), 3, "nothing is sent twice")
}

func TestFollowSince(t *testing.T) {
	h, s := tapestoretest.NewHost(), &sink{}
	for n, d := range []time.Duration{3 * time.Hour, time.Hour} {
		put(t, h, tape.Row{TraceID: traceID(n), Outcome: "failed", Decided: time.Now().Add(-d).Format(time.RFC3339Nano)})
	}
	start(t, h, s, quick(func(c *Config) { c.Mode, c.Since = ModeFollow, "2h" }))
	require.Eventually(t, func() bool { return len(s.all()) == 1 }, 5*time.Second, time.Millisecond)
	assert.Equal(t, []string{traceID(1)}, s.ids())
}

func TestFollowOutlivesAStoreOutOfOrder(t *testing.T) {
	h, s := tapestoretest.NewHost(), &sink{}
	var mu sync.Mutex
	broken := true
	h.Backend.Fail = func(op, _ string) error {
		mu.Lock()
		defer mu.Unlock()
		if broken && op == "folders" {
			return errors.New("disk on fire")
		}
		return nil
	}
	f := start(t, h, s, quick(func(c *Config) { c.Mode, c.RetryConfig.Enabled = ModeFollow, false }))
	f.waitFor(t, "The store cannot be read")
	put(t, h, tape.Row{TraceID: traceID(1), Outcome: "failed"})
	mu.Lock()
	broken = false
	mu.Unlock()
	require.Eventually(t, func() bool { return len(s.all()) == 1 }, 5*time.Second, time.Millisecond)
}

func TestShutdownAtAnyTime(t *testing.T) {
	set := receivertest.NewNopSettings(metadata.Type)
	unstarted, err := NewFactory().CreateTraces(t.Context(), set, quick(nil), &sink{})
	require.NoError(t, err)
	require.NoError(t, unstarted.Shutdown(t.Context()))
	require.NoError(t, unstarted.Shutdown(t.Context()))
	require.ErrorIs(t, unstarted.Start(t.Context(), componenttest.NewNopHost()), tapestore.ErrNoStore)

	// While the next component refuses everything.
	h, s := tapestoretest.NewHost(), &sink{answer: func(int, ptrace.Traces) error { return errors.New("busy") }}
	put(t, h, tape.Row{TraceID: traceID(1), Outcome: "failed"})
	f := start(t, h, s, quick(func(c *Config) { c.RetryConfig.InitialInterval, c.RetryConfig.MaxInterval = time.Hour, time.Hour }))
	f.waitFor(t, "Trying again")
	require.NoError(t, f.Shutdown(t.Context()))
	require.NoError(t, f.Shutdown(t.Context()))
	expired, cancel := context.WithCancel(t.Context())
	cancel()
	if err := f.Shutdown(expired); err != nil {
		require.ErrorIs(t, err, context.Canceled)
	}
}

func nopSettings() receiver.Settings { return receivertest.NewNopSettings(metadata.Type) }

func TestTimesAreShiftedTogether(t *testing.T) {
	h, s := tapestoretest.NewHost(), &sink{}
	td := storetest.AgentRun(t, traceID(1), noon, storetest.Call{Tool: "fetch", Args: "{}"}, storetest.Call{Tool: "fetch", Args: "{}"})
	spans := td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	event := spans.At(1).Events().AppendEmpty()
	event.SetTimestamp(spans.At(1).StartTimestamp() + 5)
	spans.At(1).Events().AppendEmpty().SetName("without a time")
	spans.At(1).Links().AppendEmpty().SetTraceID(spans.At(0).TraceID())
	spans.At(2).SetEndTimestamp(0)
	_, err := h.Store().PutFragment(t.Context(), "failures", traceID(1), td)
	require.NoError(t, err)
	before := time.Now()
	f := start(t, h, s, quick(func(c *Config) { c.TraceIDs, c.Time = []string{traceID(1)}, TimeShift }))
	f.waitFor(t, allSent)
	got := s.all()[0].ResourceSpans().At(0).ScopeSpans().At(0).Spans()
	distance := got.At(0).StartTimestamp() - spans.At(0).StartTimestamp()
	assert.WithinRange(t, got.At(0).EndTimestamp().AsTime(), before, time.Now(), "the run ends now")
	for i := range got.Len() {
		assert.Equal(t, distance, got.At(i).StartTimestamp()-spans.At(i).StartTimestamp())
	}
	assert.Equal(t, distance, got.At(1).Events().At(0).Timestamp()-event.Timestamp())
	assert.Zero(t, got.At(1).Events().At(1).Timestamp(), "what is unknown stays so")
	assert.Zero(t, got.At(2).EndTimestamp())
	assert.Equal(t, 1, got.At(1).Links().Len())

	empty := ptrace.NewTraces()
	empty.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty().Spans().AppendEmpty()
	shift(empty, noon)
	assert.Zero(t, empty.ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(0).EndTimestamp())
}

func TestBodiesAreLeftByReferenceWhenAsked(t *testing.T) {
	h, s := tapestoretest.NewHost(), &sink{}
	put(t, h, tape.Row{TraceID: traceID(1), Outcome: "failed"})
	f := start(t, h, s, quick(func(c *Config) { c.Bodies = BodiesReference }))
	f.waitFor(t, allSent)
	v, _ := s.all()[0].ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(1).Attributes().Get("gen_ai.tool.call.result")
	assert.True(t, strings.HasPrefix(v.Str(), "tape-blob:sha256:"))
	assert.Zero(t, f.logs.FilterMessageSnippet("not in the store").Len(), "which is no trouble")
}

// A run of which a part is damaged is sent without it, and says so.
func TestDamagedPartsAreCountedAndNamed(t *testing.T) {
	h, s := tapestoretest.NewHost(), &sink{}
	put(t, h, tape.Row{TraceID: traceID(1), Outcome: "failed"})
	td := storetest.AgentRun(t, traceID(1), noon, storetest.Call{Tool: "late", Args: "{}"})
	part, err := h.Store().PutFragment(t.Context(), "failures", traceID(1), td)
	require.NoError(t, err)
	for _, o := range storetest.List(t, h.Backend, "tapes/failures/"+traceID(1)+"/") {
		if strings.Contains(o.Name, part.Name) {
			h.Backend.Damage(o.Name, func([]byte) []byte { return []byte("junk") })
		}
	}
	f := start(t, h, s, quick(nil))
	f.waitFor(t, allSent)
	assert.Len(t, s.all(), 1)
	entries := f.logs.FilterMessageSnippet("Parts of a stored run cannot be read").All()
	require.Len(t, entries, 1)
	assert.Equal(t, traceID(1), entries[0].ContextMap()["trace_id"])
	assert.Contains(t, fmt.Sprint(entries[0].ContextMap()["parts"]), part.Name)
	metadatatest.AssertEqualTapeReceiverDamagedParts(t, f.tel, []metricdata.DataPoint[int64]{{Value: 1}}, metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
}

// Two collectors that each hold a part of a run have one run.
func TestBothHalvesOfARunAreSent(t *testing.T) {
	h, s := tapestoretest.NewHost(), &sink{}
	whole := storetest.AgentRun(t, traceID(1), noon, storetest.Call{Tool: "a", Args: "{}"}, storetest.Call{Tool: "b", Args: "{}"})
	for half := range 2 {
		td := ptrace.NewTraces()
		whole.CopyTo(td)
		n := 0
		td.ResourceSpans().At(0).ScopeSpans().At(0).Spans().RemoveIf(func(ptrace.Span) bool { n++; return n%2 == half })
		_, err := h.Store().PutFragment(t.Context(), []string{"failures", "kept"}[half], traceID(1), td)
		require.NoError(t, err)
	}
	f := start(t, h, s, quick(func(c *Config) { c.TraceIDs = []string{traceID(1)} }))
	f.waitFor(t, allSent)
	require.Len(t, s.all(), 1)
	assert.Equal(t, 3, s.all()[0].SpanCount())
}
