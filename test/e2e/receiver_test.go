package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/harness"
)

// spansOf are the spans with what is above them, by id, as JSON. The policy that
// redacted them is not sent along.
func spansOf(td ptrace.Traces) map[string]string {
	for _, rs := range td.ResourceSpans().All() {
		rs.Resource().Attributes().Remove(attr.Redaction)
		rs.Resource().Attributes().Remove(attr.RedactionRules)
	}
	out := map[string]string{}
	for span, one := range harness.Alone(td) {
		text, err := (&ptrace.JSONMarshaler{}).MarshalTraces(one)
		if err != nil {
			text = []byte(err.Error())
		}
		out[span.SpanID().String()] = string(text)
	}
	return out
}

// storedFailure has the example agent fail and gives the id of the run and its spans as
// they are stored.
func storedFailure(t *testing.T, c *harness.Collector) (id string, spans map[string]string) {
	t.Helper()
	id, code := runAgent(t, c, "-run", "3", "-report", filepath.Join(t.TempDir(), "report.md"))
	require.Equal(t, 1, code)
	awaitStatus(t, c, id, http.StatusOK, "")
	_, stored, err := harness.Get(context.Background(), c.API+"/v1/tapes/"+id+"/trace")
	require.NoError(t, err)
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(stored)
	require.NoError(t, err)
	spans = spansOf(td)
	require.NotEmpty(t, spans)
	return id, spans
}

// receivedSpans are those that a backend took, each of which it must have once.
func receivedSpans(t *testing.T, b *harness.Backend) map[string]string {
	t.Helper()
	received := b.Received()
	for _, n := range received {
		require.Equal(t, 1, n)
	}
	td, err := received.Traces()
	require.NoError(t, err)
	return spansOf(td)
}

// A failed run is looked at in a tracing backend: what arrives is what is stored.
func TestAStoredRunArrivesInATracingBackend(t *testing.T) {
	c := start(t, "processors::tape::offload::threshold=200")
	id, want := storedFailure(t, c)

	b := &harness.Backend{}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	start(t,
		"extensions::tape_store::directory::path="+c.StoreDir(),
		"receivers::tape::trace_ids=["+id+"]",
		"receivers::tape::max_request_bytes=2000",
		"exporters::otlp_http::endpoint="+server.URL,
		"service::pipelines::traces/read::receivers=[tape]",
		"service::pipelines::traces/read::exporters=[otlp_http]")
	require.EventuallyWithT(t, func(c *assert.CollectT) { assert.Len(c, b.Received(), len(want)) }, 20*time.Second, 50*time.Millisecond)
	assert.Equal(t, want, receivedSpans(t, b))
}

// A failed run goes back into the tracing that is there, by the file for that.
func TestAFailedRunIsReadBack(t *testing.T) {
	c := start(t)
	_, want := storedFailure(t, c)

	e := startExisting(t)
	ports, err := harness.FreePorts(1)
	require.NoError(t, err)
	dir := t.TempDir()
	p, err := harness.Launch(context.Background(), filepath.Join(dir, "reader.log"), func(ctx context.Context) bool {
		_, _, err := harness.Get(ctx, "http://127.0.0.1:"+ports[0]+"/metrics")
		return err == nil
	}, []string{
		"TAPE_DIR=" + c.StoreDir(), "TAPE_CHECKPOINT=" + filepath.Join(dir, "checkpoint"),
		"BACKEND_OTLP=" + e.grpc, "METRICS_PORT=" + ports[0],
	}, filepath.Join(bin(t), "otelcol-tape"), "--config", beside+"read-back.yaml")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Stop()) })
	require.EventuallyWithT(t, func(c *assert.CollectT) { assert.Len(c, e.Received(), len(want)) }, 20*time.Second, 50*time.Millisecond)
	assert.Equal(t, want, receivedSpans(t, &e.Backend))
}

// An agent without OpenTelemetry joins the same line: what its recorder wrote comes
// back as it was, whichever way it was handed in.
func TestAPlainRecordersTapeComesBack(t *testing.T) {
	const run = `{"seq":1,"tool":"fetch","key":"fetch:dd32173adbb0","args":{"url":"http://a","n":3},"result":{"page":"{\"looks\":\"like JSON\"}"},"ms":12.5,"side_effect":false,"clock":"2026-01-02T03:04:05Z","run_id":"RUN"}
{"seq":2,"tool":"wait","key":"wait:44136fa355b3","args":{},"result":null,"ms":0,"side_effect":null,"clock":null,"run_id":"RUN"}
{"seq":3,"tool":"save","key":"save:02b528903d38","args":{"to":["x",1.5,null]},"result":"no","ms":1,"side_effect":true,"clock":null,"run_id":"RUN","error":"disk full"}
`
	ports, err := harness.FreePorts(1)
	require.NoError(t, err)
	dir := t.TempDir()
	c := start(t,
		"receivers::tape::mode=none",
		"receivers::tape::http::endpoint=127.0.0.1:"+ports[0],
		"receivers::tape::watch::directory="+dir,
		"receivers::tape::watch::poll_interval=100ms",
		"receivers::tape::watch::quiet=100ms",
		"service::pipelines::traces::receivers=[otlp,tape]")
	posted, watched := strings.Repeat("a1", 16), strings.Repeat("b2", 16)
	body := strings.ReplaceAll(run, "RUN", posted)
	resp, err := http.Post("http://127.0.0.1:"+ports[0]+"/v1/tapes", "application/x-ndjson", strings.NewReader(body))
	require.NoError(t, err)
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode, string(text))
	assert.Contains(t, string(text), posted)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "run.jsonl"), []byte(strings.ReplaceAll(run, "RUN", watched)), 0o600))

	for _, id := range []string{posted, watched} {
		awaitStatus(t, c, id, http.StatusOK, "")
		_, tape, err := harness.Get(context.Background(), c.API+"/v1/tapes/"+id+"?bare=1")
		require.NoError(t, err)
		assert.Equal(t, coreOf(t, []byte(run)), coreOf(t, tape))
	}
}

// coreOf has, of each record, the members that the simplest recorder writes.
func coreOf(t *testing.T, tape []byte) (out []map[string]string) {
	t.Helper()
	for line := range bytes.Lines(tape) {
		var record map[string]json.RawMessage
		require.NoError(t, json.Unmarshal(line, &record), "%s", line)
		core := map[string]string{}
		for _, member := range []string{"seq", "tool", "key", "args", "result", "ms", "side_effect", "clock"} {
			core[member] = string(record[member])
		}
		out = append(out, core)
	}
	return out
}
