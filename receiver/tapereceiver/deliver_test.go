package tapereceiver

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/extension/tapestore/tapestoretest"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/receiver/tapereceiver/internal/metadatatest"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	"go.opentelemetry.io/otel/sdk/metric/metricdata/metricdatatest"
)

func TestErrorsOfTheNextComponent(t *testing.T) {
	again := errors.New("queue is full")
	for name, test := range map[string]struct {
		change func(*Config)
		answer func(n int, td ptrace.Traces) error
		result string
		spans  int
		tries  int
	}{
		"tried again until taken": {nil, func(n int, _ ptrace.Traces) error {
			if n < 4 {
				return again
			}
			return nil
		}, "sent", 2, 4},
		"permanent: left out": {nil, func(int, ptrace.Traces) error { return consumererror.NewPermanent(again) }, "dropped", 0, 1},
		"time is up":          {func(c *Config) { c.RetryConfig.MaxElapsedTime = 20 * time.Millisecond }, func(int, ptrace.Traces) error { return again }, "failed", 0, 0},
		"retry disabled":      {func(c *Config) { c.RetryConfig.Enabled = false }, func(int, ptrace.Traces) error { return again }, "failed", 0, 1},
		"only what was refused": {nil, func(n int, td ptrace.Traces) error {
			if n > 1 {
				return nil
			}
			rest := ptrace.NewTraces()
			td.CopyTo(rest)
			first := true
			rest.ResourceSpans().At(0).ScopeSpans().At(0).Spans().RemoveIf(func(ptrace.Span) bool { defer func() { first = false }(); return first })
			return consumererror.NewTraces(again, rest)
		}, "sent", 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			h, s := tapestoretest.NewHost(), &sink{answer: test.answer}
			put(t, h, tape.Row{TraceID: traceID(1), Outcome: "failed"})
			f := start(t, h, s, quick(test.change))
			if test.result == "sent" {
				f.waitFor(t, allSent)
			} else {
				f.waitFor(t, noneFit)
			}
			f.assertRuns(t, map[string]int64{test.result: 1})
			spans := 0
			for _, td := range s.all() {
				spans += td.SpanCount()
			}
			assert.Equal(t, test.spans, spans)
			if test.tries > 0 {
				assert.Equal(t, test.tries, s.n)
			}
		})
	}
}

func TestDamagedAndMissing(t *testing.T) {
	h, s := tapestoretest.NewHost(), &sink{}
	put(t, h, tape.Row{TraceID: traceID(1), Outcome: "failed"})
	put(t, h, tape.Row{TraceID: traceID(2), Outcome: "failed"})
	for _, o := range storetest.List(t, h.Backend, "tapes/failures/"+traceID(1)+"/") {
		h.Backend.Damage(o.Name, func([]byte) []byte { return []byte("junk") })
	}
	for _, o := range storetest.List(t, h.Backend, "blobs/") {
		require.NoError(t, h.Backend.Delete(t.Context(), o.Name))
	}
	f := start(t, h, s, quick(func(c *Config) { c.TraceIDs = []string{traceID(1), traceID(2), traceID(3)} }))
	f.waitFor(t, allSent)
	f.assertRuns(t, map[string]int64{"damaged": 1, "sent": 1, "not_found": 1})
	metadatatest.AssertEqualTapeReceiverMissingBodies(t, f.tel, []metricdata.DataPoint[int64]{{Value: 1}}, metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
	v, _ := s.all()[0].ResourceSpans().At(0).ScopeSpans().At(0).Spans().At(1).Attributes().Get("gen_ai.tool.call.result")
	assert.True(t, strings.HasPrefix(v.Str(), "tape-blob:"), "the reference stays")
}

func TestAStoreThatFailsForAWhile(t *testing.T) {
	h, s := tapestoretest.NewHost(), &sink{}
	put(t, h, tape.Row{TraceID: traceID(1), Outcome: "failed"})
	n := 0
	h.Backend.Fail = func(string, string) error {
		if n++; n < 4 {
			return errors.New("connection reset")
		}
		return nil
	}
	f := start(t, h, s, quick(nil))
	f.waitFor(t, allSent)
	metadatatest.AssertEqualTapeReceiverRetries(t, f.tel, []metricdata.DataPoint[int64]{{Value: 3}}, metricdatatest.IgnoreTimestamp(), metricdatatest.IgnoreExemplars())
}

func TestRequestsStayUnderTheLimit(t *testing.T) {
	h, s := tapestoretest.NewHost(), &sink{}
	var calls []storetest.Call
	for n := range 50 {
		calls = append(calls, storetest.Call{Tool: "fetch", Args: "{}", Result: strings.Repeat("x", 100*(n%7))})
	}
	calls[20].Result = strings.Repeat("y", 9000)
	td := storetest.AgentRun(t, traceID(1), noon, calls...)
	other := storetest.AgentRun(t, traceID(1), noon, calls[:3]...)
	other.ResourceSpans().At(0).Resource().Attributes().PutStr("service.name", "bank")
	other.ResourceSpans().MoveAndAppendTo(td.ResourceSpans())
	total := td.SpanCount()
	_, err := h.Store().PutFragment(t.Context(), "failures", traceID(1), td)
	require.NoError(t, err)
	f := start(t, h, s, quick(func(c *Config) { c.TraceIDs, c.MaxRequestBytes = []string{traceID(1)}, 4000 }))
	f.waitFor(t, allSent)
	spans, alone := 0, 0
	for _, part := range s.all() {
		spans += part.SpanCount()
		if size := (&ptrace.ProtoMarshaler{}).TracesSize(part); size > 4000 {
			assert.Equal(t, 1, part.SpanCount())
			alone++
		}
		name, _ := part.ResourceSpans().At(0).Resource().Attributes().Get("service.name")
		assert.NotEmpty(t, name.Str())
	}
	assert.Equal(t, total, spans)
	assert.Equal(t, 1, alone)
	assert.Greater(t, len(s.all()), 3)
	f.assertRuns(t, map[string]int64{"sent": 1})
}

func TestEmptyRunsAreNotSent(t *testing.T) {
	h, s := tapestoretest.NewHost(), &sink{}
	empty := ptrace.NewTraces()
	empty.ResourceSpans().AppendEmpty().ScopeSpans().AppendEmpty()
	_, err := h.Store().PutFragment(t.Context(), "kept", traceID(1), empty)
	require.NoError(t, err)
	f := start(t, h, s, quick(func(c *Config) { c.TraceIDs = []string{traceID(1)} }))
	f.waitFor(t, allSent)
	assert.Empty(t, s.all())
}
