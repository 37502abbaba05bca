package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/harness"
	"github.com/tapedeck/tapedeck/internal/walk/walktest"
)

const beside = "../../deploy/beside/"

// existing is the tracing that is there already: a collector, and the backend behind it.
type existing struct {
	// grpc is an address, http an URL.
	grpc, http string

	harness.Backend
}

// startExisting starts a collector that knows nothing of Tapedeck, with more
// configuration if that is given.
func startExisting(t *testing.T, configs ...string) *existing {
	t.Helper()
	e := &existing{}
	sink := httptest.NewServer(&e.Backend)
	t.Cleanup(sink.Close)
	ports, err := harness.FreePorts(2)
	require.NoError(t, err)
	e.grpc, e.http = "127.0.0.1:"+ports[0], "http://127.0.0.1:"+ports[1]
	args := []string{"--config", "testdata/beside/existing.yaml"}
	for _, c := range configs {
		args = append(args, "--config", c)
	}
	p, err := harness.Launch(context.Background(), filepath.Join(t.TempDir(), "existing.log"), e.answers,
		[]string{"OTLP_GRPC=" + e.grpc, "OTLP_HTTP=127.0.0.1:" + ports[1], "SINK=" + sink.URL},
		filepath.Join(bin(t), "otelcol-tape"), args...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop()) })
	return e
}

func (e *existing) answers(ctx context.Context) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.http+"/v1/traces", bytes.NewReader([]byte("{}")))
	if err != nil {
		return false
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return false
	}
	return resp.Body.Close() == nil
}

// everySpan sends a trace with something in every field, and real ones, and counts
// what was sent.
func everySpan(t *testing.T, post func(context.Context, []byte) (int, error)) harness.Spans {
	t.Helper()
	sent := harness.Spans{}
	td, _ := walktest.Traces()
	for _, td := range append(realTraces(t), td) {
		send(t, sent, td, post)
	}
	return sent
}

// send counts the spans of one request, which must be taken at once.
func send(t *testing.T, sent harness.Spans, td ptrace.Traces, post func(context.Context, []byte) (int, error)) {
	t.Helper()
	require.NoError(t, sent.Add(td))
	body, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
	require.NoError(t, err)
	status, err := post(context.Background(), body)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
}

func realTraces(t *testing.T) (out []ptrace.Traces) {
	t.Helper()
	f, err := os.Open("testdata/tau-bench/otlp_stream.jsonl.gz")
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	text, err := io.ReadAll(z)
	require.NoError(t, err)
	for line := range bytes.Lines(text) {
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
		require.NoError(t, err)
		out = append(out, td)
	}
	require.NotEmpty(t, out)
	return out
}

// What the existing tracing receives is what was sent, unredacted and each span once,
// while the same spans become tapes.
func TestTheExistingTracingIsUnchangedByTheFanOut(t *testing.T) {
	e := startExisting(t)
	c, err := harness.StartBinary(context.Background(), filepath.Join(bin(t), "otelcol-tape"), beside+"fan-out.yaml", t.TempDir(),
		[]string{"EXISTING_OTLP=" + e.http}, quick...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Stop()) })
	sent := everySpan(t, c.SendProto)
	assertReceives(t, e, sent)

	awaitStatus(t, c, walktest.TraceID.String(), http.StatusOK, "")
	id, code := runAgent(t, c, "-run", "3", "-report", filepath.Join(t.TempDir(), "report.md"))
	require.Equal(t, 1, code)
	awaitStatus(t, c, id, http.StatusOK, "")
}

// A spool that is full refuses spans; the existing tracing has each of them once.
func TestTheExistingTracingDoesNotFeelAFullSpool(t *testing.T) {
	e := startExisting(t)
	away, err := harness.FreePorts(1)
	require.NoError(t, err)
	c, err := harness.StartBinary(context.Background(), filepath.Join(bin(t), "otelcol-tape"), beside+"fan-out.yaml", t.TempDir(),
		[]string{"EXISTING_OTLP=" + e.http},
		"processors::tape::spool::max_bytes=1048576", "processors::tape::spool::segment_bytes=65536", "processors::tape::spool::max_run_bytes=524288",
		"exporters::tape::sending_queue::queue_size=1048576", "exporters::tape::sending_queue::storage=",
		"extensions::tape_store::directory::path=",
		"extensions::tape_store={s3: {endpoint: 'http://127.0.0.1:"+away[0]+"', bucket: tapes, region: r}}",
		"extensions::tape_store::index::directory="+t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Kill()) })
	refused := regexp.MustCompile(`(?m)^otelcol_processor_tape_refused_spans\S* [1-9]`)
	sent := harness.Spans{}
	for round := range byte(50) {
		for _, td := range realTraces(t) {
			otherRun(td, round)
			send(t, sent, td, c.SendProto)
		}
		_, scraped, err := harness.Get(context.Background(), c.Metrics)
		require.NoError(t, err)
		if refused.Match(scraped) {
			assertReceives(t, e, sent)
			return
		}
	}
	require.Fail(t, "the spool did not fill")
}

// otherRun gives the spans of a trace to another one.
func otherRun(td ptrace.Traces, mark byte) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				id := span.TraceID()
				id[0] = mark
				span.SetTraceID(id)
			}
		}
	}
}

// A collector that sends to both goes on when Tapedeck is gone or hangs: nothing fails
// for its clients, and the existing tracing has each span once and waits for nothing.
func TestTheExistingTracingDoesNotFeelADeadTapedeck(t *testing.T) {
	nobody, err := harness.FreePorts(1)
	require.NoError(t, err)
	hang := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hang }))
	t.Cleanup(func() { close(hang); silent.Close() })
	for name, tapedeck := range map[string]string{"gone": "http://127.0.0.1:" + nobody[0], "silent": silent.URL} {
		t.Run(name, func(t *testing.T) {
			e := startExisting(t)
			host := startHost(t, e, tapedeck,
				"exporters::otlp_http/tapedeck::sending_queue::queue_size=1", "processors::batch/tapes::timeout=1ms")
			began := time.Now()
			sent := everySpan(t, host.SendProto)
			assertReceives(t, e, sent)
			// Whoever waits for an answer of Tapedeck waits 30 seconds, the exporter's timeout.
			assert.Less(t, time.Since(began), 25*time.Second)
		})
	}
}

// startHost starts a collector of others that sends to Tapedeck too, by the file for that.
func startHost(t *testing.T, e *existing, tapedeck string, settings ...string) *harness.Collector {
	t.Helper()
	ports, err := harness.FreePorts(3)
	require.NoError(t, err)
	host := &harness.Collector{OTLP: "http://127.0.0.1:" + ports[1]}
	args := []string{"--config", beside + "second-exporter.yaml"}
	for _, s := range settings {
		args = append(args, "--set", s)
	}
	host.Process, err = harness.Launch(context.Background(), filepath.Join(t.TempDir(), "collector.log"), func(ctx context.Context) bool {
		_, err := host.SendJSON(ctx, []byte("{}"))
		return err == nil
	}, []string{
		"OTLP_GRPC=127.0.0.1:" + ports[0], "OTLP_HTTP=127.0.0.1:" + ports[1], "METRICS_PORT=" + ports[2],
		"EXISTING_OTLP=" + e.http, "TAPEDECK_OTLP=" + tapedeck,
	}, filepath.Join(bin(t), "otelcol-tape"), args...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, host.Kill()) }) // A stop would wait for Tapedeck.
	return host
}

func assertReceives(t *testing.T, e *existing, sent harness.Spans) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) { assert.Equal(c, len(sent), len(e.Received())) }, 30*time.Second, 50*time.Millisecond)
	received := e.Received()
	for span, n := range sent {
		if received[span] != n {
			assert.Fail(t, "changed", "sent %d times, received %d times: %.200q", n, received[span], span)
		}
	}
}
