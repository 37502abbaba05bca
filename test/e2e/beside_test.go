package e2e

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"compress/gzip"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/pdata/ptrace/ptraceotlp"

	"github.com/tapedeck/tapedeck/internal/harness"
	"github.com/tapedeck/tapedeck/internal/walk/walktest"
)

const beside = "../../deploy/beside/"

// existing is the tracing that is there already: a collector, and the backend behind it.
type existing struct {
	// grpc is an address, http an URL.
	grpc, http string

	mu    sync.Mutex
	spans map[string]int
}

// startExisting starts a collector that knows nothing of Tapedeck, with more
// configuration if that is given.
func startExisting(t *testing.T, configs ...string) *existing {
	t.Helper()
	e := &existing{spans: map[string]int{}}
	sink := httptest.NewServer(e)
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

func (e *existing) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	req := ptraceotlp.NewExportRequest()
	if err != nil || req.UnmarshalProto(text) != nil {
		http.Error(w, "not OTLP", http.StatusBadRequest)
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	countSpans(e.spans, req.Traces())
}

func (e *existing) received() map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return maps.Clone(e.spans)
}

// countSpans counts the spans, each with its resource and scope, as they are: to the
// byte of each value, whatever requests they come in.
func countSpans(into map[string]int, td ptrace.Traces) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				one := ptrace.NewTraces()
				to := one.ResourceSpans().AppendEmpty()
				rs.Resource().CopyTo(to.Resource())
				to.SetSchemaUrl(rs.SchemaUrl())
				scope := to.ScopeSpans().AppendEmpty()
				ss.Scope().CopyTo(scope.Scope())
				scope.SetSchemaUrl(ss.SchemaUrl())
				span.CopyTo(scope.Spans().AppendEmpty())
				text, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(one)
				if err != nil {
					text = []byte(err.Error())
				}
				into[string(text)]++
			}
		}
	}
}

// everySpan sends a trace with something in every field, and real ones, and counts
// what was sent.
func everySpan(t *testing.T, post func(context.Context, []byte) (int, error)) map[string]int {
	t.Helper()
	sent := map[string]int{}
	td, _ := walktest.Traces()
	for _, td := range append(realTraces(t), td) {
		send(t, sent, td, post)
	}
	return sent
}

// send counts the spans of one request, which must be taken at once.
func send(t *testing.T, sent map[string]int, td ptrace.Traces, post func(context.Context, []byte) (int, error)) {
	t.Helper()
	countSpans(sent, td)
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
	sent := map[string]int{}
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

// A collector that sends to both goes on when Tapedeck is gone: nothing fails for its
// clients, and the existing tracing has each span once.
func TestTheExistingTracingDoesNotFeelADeadTapedeck(t *testing.T) {
	e := startExisting(t)
	nobody, err := harness.FreePorts(1)
	require.NoError(t, err)
	ports, err := harness.FreePorts(3)
	require.NoError(t, err)
	host := &harness.Collector{OTLP: "http://127.0.0.1:" + ports[1]}
	p, err := harness.Launch(context.Background(), filepath.Join(t.TempDir(), "collector.log"), func(ctx context.Context) bool {
		_, err := host.SendJSON(ctx, []byte("{}"))
		return err == nil
	}, []string{
		"OTLP_GRPC=127.0.0.1:" + ports[0], "OTLP_HTTP=127.0.0.1:" + ports[1], "METRICS_PORT=" + ports[2],
		"EXISTING_OTLP=" + e.http, "TAPEDECK_OTLP=http://127.0.0.1:" + nobody[0],
	}, filepath.Join(bin(t), "otelcol-tape"), "--config", beside+"second-exporter.yaml",
		"--set", "exporters::otlp_http/tapedeck::sending_queue::queue_size=1", "--set", "processors::batch/tapes::timeout=1ms")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Kill()) }) // A stop would wait for Tapedeck.
	sent := everySpan(t, host.SendProto)
	assertReceives(t, e, sent)
}

func assertReceives(t *testing.T, e *existing, sent map[string]int) {
	t.Helper()
	require.EventuallyWithT(t, func(c *assert.CollectT) { assert.Equal(c, len(sent), len(e.received())) }, 30*time.Second, 50*time.Millisecond)
	received := e.received()
	for span, n := range sent {
		if received[span] != n {
			assert.Fail(t, "changed", "sent %d times, received %d times: %.200q", n, received[span], span)
		}
	}
}

// Every configuration fits the distribution, but for those with components of others,
// which are run in a collector that has them (test/beside).
func TestEveryConfigurationIsValid(t *testing.T) {
	files, err := filepath.Glob(beside + "*.yaml")
	require.NoError(t, err)
	others := []string{"before-sampler.yaml", "builder-config.yaml", "kafka.yaml"}
	files = append(files, config)
	for _, file := range files {
		if slices.Contains(others, filepath.Base(file)) {
			continue
		}
		_, stderr, code, err := harness.Run(context.Background(), bin(t), "otelcol-tape", nil, "validate", "--config", file)
		require.NoError(t, err)
		assert.Zero(t, code, "%s: %s", file, stderr)
	}
}

// The lines of the page, merged with what a collector has, bring it a tape.
func TestTheLinesOfThePageMakeATape(t *testing.T) {
	page, err := os.ReadFile("../../docs/beside.md")
	require.NoError(t, err)
	_, rest, found := strings.Cut(string(page), "```yaml\n")
	require.True(t, found)
	lines, _, found := strings.Cut(rest, "```")
	require.True(t, found)
	assert.LessOrEqual(t, strings.Count(lines, "\n"), 10)
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	assert.Contains(t, string(readme), "   ```yaml\n   "+strings.ReplaceAll(strings.TrimSpace(lines), "\n", "\n   ")+"\n   ```\n", "the same lines stand in the README")
	c := start(t)
	require.Contains(t, lines, `"http://127.0.0.1:14318"`)
	tapes := filepath.Join(t.TempDir(), "tapes.yaml")
	require.NoError(t, os.WriteFile(tapes, []byte(strings.Replace(lines, "http://127.0.0.1:14318", c.OTLP, 1)), 0o600))

	e := startExisting(t, tapes)
	id, code := runAgent(t, &harness.Collector{OTLP: e.http}, "-run", "3", "-report", filepath.Join(t.TempDir(), "report.md"))
	require.Equal(t, 1, code)
	awaitStatus(t, c, id, http.StatusOK, "")
	listed, stderr, code := cli(t, c, "ls", "--outcome", "failed")
	require.Zero(t, code, stderr)
	assert.Contains(t, listed, id)
	assert.NotEmpty(t, e.received())
}

// A failed run goes back into the tracing that is there, by the file for that.
func TestAFailedRunIsReadBack(t *testing.T) {
	c := start(t)
	id, code := runAgent(t, c, "-run", "3", "-report", filepath.Join(t.TempDir(), "report.md"))
	require.Equal(t, 1, code)
	awaitStatus(t, c, id, http.StatusOK, "")
	_, stored, err := harness.Get(context.Background(), c.API+"/v1/tapes/"+id+"/trace")
	require.NoError(t, err)
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(stored)
	require.NoError(t, err)

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
	want := spansOf(td)
	require.EventuallyWithT(t, func(c *assert.CollectT) { assert.Len(c, e.received(), len(want)) }, 20*time.Second, 50*time.Millisecond)
	got := map[string]string{}
	for span := range e.received() {
		td, err := (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces([]byte(span))
		require.NoError(t, err)
		maps.Copy(got, spansOf(td))
	}
	assert.Equal(t, want, got)
}
