// Package e2e runs the real binaries over real sockets.
//
// TAPEDECK_BIN names the directory with otelcol-tape, tape and agent; `make e2e`
// builds them and sets it.
package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/harness"
)

const config = "../../deploy/local.yaml"

// quick makes decisions in moments where a user waits for seconds.
var quick = []string{"processors::tape::root_settle=200ms", "processors::tape::idle_timeout=3s"}

func bin(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("TAPEDECK_BIN")
	require.NotEmpty(t, dir, "TAPEDECK_BIN is not set: run make e2e")
	return dir
}

func start(t *testing.T, settings ...string) *harness.Collector {
	t.Helper()
	c, err := harness.Start(context.Background(), bin(t), config, t.TempDir(), append(quick, settings...)...)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, c.Stop())
		assertQuiet(t, c)
	})
	return c
}

// assertQuiet fails on what an operator would be alarmed by.
func assertQuiet(t *testing.T, c *harness.Collector) {
	t.Helper()
	log, err := os.ReadFile(c.LogPath())
	require.NoError(t, err)
	assert.NotContains(t, string(log), "panic")
}

// cli runs the tape command against a collector.
func cli(t *testing.T, c *harness.Collector, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	stdout, stderr, code, err := harness.Run(context.Background(), bin(t), "tape", []string{"TAPE_SERVER=" + c.API}, args...)
	require.NoError(t, err)
	return stdout, stderr, code
}

// runAgent runs the example agent with its spans going to the collector.
func runAgent(t *testing.T, c *harness.Collector, args ...string) (trace string, code int) {
	t.Helper()
	out, errOut, code, err := harness.Run(context.Background(), bin(t), "agent",
		[]string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.OTLP}, args...)
	require.NoError(t, err)
	m := regexp.MustCompile(`trace ([0-9a-f]{32})`).FindStringSubmatch(out)
	require.NotNil(t, m, "%s%s", out, errOut)
	return m[1], code
}

// awaitStatus waits until the API answers for the id with a status.
func awaitStatus(t *testing.T, c *harness.Collector, id string, want int, code string) {
	t.Helper()
	var last string
	err := harness.Eventually(context.Background(), 20*time.Second, func() (bool, error) {
		status, body, err := harness.Get(context.Background(), c.API+"/v1/tapes/"+id)
		last = fmt.Sprintf("%d %s", status, body)
		return err == nil && status == want && strings.Contains(string(body), code), err
	})
	require.NoError(t, err, "last answer: %s", last)
}

// A collector that is told how long answers stay true has replays warn of old ones.
func TestAnswersThatExpiredAreTold(t *testing.T) {
	c := start(t, `extensions::tape_store::translation::expires=[{tool: fetch_*, after: 1ms}]`)
	report := filepath.Join(t.TempDir(), "report.md")
	bad, code := runAgent(t, c, "-run", "3", "-report", report)
	require.Equal(t, 1, code)
	awaitStatus(t, c, bad, http.StatusOK, "")
	file := filepath.Join(t.TempDir(), "failed.jsonl")
	_, stderr, code := cli(t, c, "pull", bad, "-o", file)
	require.Zero(t, code, stderr)
	_, stderr, _ = cli(t, c, "run", file, "--", filepath.Join(bin(t), "agent"), "-run", "3", "-report", report)
	assert.Contains(t, stderr, "answers past their expiry: ")
}

func TestAFailedRunBecomesATapeAndTheTapeReplays(t *testing.T) {
	c := start(t)
	report := filepath.Join(t.TempDir(), "report.md")
	good, code := runAgent(t, c, "-run", "1", "-report", report)
	require.Zero(t, code)
	bad, code := runAgent(t, c, "-run", "3", "-report", report)
	require.Equal(t, 1, code)
	awaitStatus(t, c, bad, http.StatusOK, "")
	awaitStatus(t, c, good, http.StatusNotFound, "summarised")

	file := filepath.Join(t.TempDir(), "failed.jsonl")
	_, stderr, code := cli(t, c, "pull", bad, "-o", file)
	require.Zero(t, code, stderr)
	_, stderr, code = cli(t, c, "verify", file)
	require.Zero(t, code, stderr)
	shown, _, code := cli(t, c, "show", file)
	require.Zero(t, code)
	for _, s := range []string{"fetch_doc", "summarize", "write_report", "notify", "webhook answered 503"} {
		assert.Contains(t, shown, s)
	}

	require.NoError(t, os.Remove(report))
	agent := filepath.Join(bin(t), "agent")
	out, stderr, code := cli(t, c, "run", file, "--", agent, "-run", "1", "-report", report)
	assert.Equal(t, 1, code, "the recorded failure is the agent's own exit code")
	assert.Contains(t, out+stderr, "webhook answered 503", "the replay fails as the run did, though the webhook is up")
	assert.NoFileExists(t, report, "no side effect happens")

	jsonReport := filepath.Join(t.TempDir(), "report.json")
	_, stderr, code = cli(t, c, "run", file, "--report", jsonReport, "--", agent, "-max-words", "80", "-report", report)
	assert.Equal(t, 1, code)
	assert.Contains(t, stderr, "drift")
	assert.Contains(t, stderr, "max_words")
	text, err := os.ReadFile(jsonReport)
	require.NoError(t, err)
	var stats struct {
		Stats map[string]any `json:"stats"`
	}
	require.NoError(t, json.Unmarshal(text, &stats))
	assert.EqualValues(t, 0, stats.Stats["live_tool_calls"])
	assert.EqualValues(t, 0, stats.Stats["real_side_effects"])
	assert.EqualValues(t, 1, stats.Stats["drift_events"])
	assert.NoFileExists(t, report)
}

func TestAnswersForIDsWithoutATape(t *testing.T) {
	c := start(t, "processors::tape::idle_timeout=10m")
	pending := strings.Repeat("a1", 16)
	status, err := c.SendJSON(context.Background(), []byte(fmt.Sprintf(`{"resourceSpans":[{"scopeSpans":[{"spans":[{
		"traceId":%q,"spanId":"00000000000000a2","parentSpanId":"00000000000000a1","name":"execute_tool t",
		"startTimeUnixNano":"1","endTimeUnixNano":"2",
		"attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},{"key":"gen_ai.tool.name","value":{"stringValue":"t"}}]}]}]}]}`, pending)))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	summarised, _ := runAgent(t, c, "-run", "1", "-report", filepath.Join(t.TempDir(), "r.md"))
	awaitStatus(t, c, summarised, http.StatusNotFound, "summarised")

	for name, want := range map[string]struct {
		id     string
		status int
		code   string
		exit   int
	}{
		"unknown":    {strings.Repeat("0f", 16), http.StatusNotFound, "not_found", 3},
		"pending":    {pending, http.StatusNotFound, "pending", 3},
		"summarised": {summarised, http.StatusNotFound, "summarised", 3},
		"malformed":  {"xyz", http.StatusBadRequest, "bad_trace_id", 2},
	} {
		t.Run(name, func(t *testing.T) {
			status, body, err := harness.Get(context.Background(), c.API+"/v1/tapes/"+want.id)
			require.NoError(t, err)
			assert.Equal(t, want.status, status)
			var answer struct {
				Error struct{ Code, Message string }
			}
			require.NoError(t, json.Unmarshal(body, &answer), "%s", body)
			assert.Equal(t, want.code, answer.Error.Code)
			assert.NotEmpty(t, answer.Error.Message)

			file := filepath.Join(t.TempDir(), "x.jsonl")
			stdout, stderr, exit := cli(t, c, "pull", want.id, "-o", file)
			assert.Equal(t, want.exit, exit, stderr)
			assert.Empty(t, stdout)
			assert.NotEmpty(t, stderr)
			assert.NoFileExists(t, file, "nothing half-written")
		})
	}
}

// A web page that got a name of its own to mean this machine reads nothing.
func TestAPageFromElsewhereReadsNothing(t *testing.T) {
	c := start(t)
	for header, value := range map[string]string{"Host": "evil.example", "Origin": "https://evil.example"} {
		req, err := http.NewRequest(http.MethodGet, c.API+"/v1/tapes", nil)
		require.NoError(t, err)
		req.Header.Set(header, value)
		if header == "Host" {
			req.Host = value
		}
		resp, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		assert.Equal(t, http.StatusForbidden, resp.StatusCode, header)
		require.NoError(t, resp.Body.Close())
	}
}

func TestBadInput(t *testing.T) {
	c := start(t)
	for name, body := range map[string]string{
		"not JSON":      `{"resourceSpans":[`,
		"a wrong type":  `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":5}]}]}]}`,
		"not an id":     `{"resourceSpans":[{"scopeSpans":[{"spans":[{"traceId":"zz"}]}]}]}`,
		"a bare string": `"hello"`,
	} {
		status, err := c.SendJSON(context.Background(), []byte(body))
		require.NoError(t, err)
		assert.Equal(t, http.StatusBadRequest, status, name)
	}
	for name, body := range map[string]string{
		"empty":          `{}`,
		"no spans":       `{"resourceSpans":[]}`,
		"empty resource": `{"resourceSpans":[{}]}`,
		"empty scope":    `{"resourceSpans":[{"scopeSpans":[{}]}]}`,
		"empty span":     `{"resourceSpans":[{"scopeSpans":[{"spans":[{}]}]}]}`,
	} {
		status, err := c.SendJSON(context.Background(), []byte(body))
		require.NoError(t, err)
		assert.Equal(t, http.StatusOK, status, name)
	}

	dir := t.TempDir()
	for name, content := range map[string]string{
		"truncated.jsonl": `{"tape":"1"}` + "\n" + `{"seq":1,"tool":"t","key":"t:44136`,
		"version.jsonl":   `{"tape":"99"}` + "\n",
		"garbage.jsonl":   "hello\n",
	} {
		file := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		for _, verb := range []string{"show", "verify", "serve"} {
			_, stderr, code := cli(t, c, verb, file)
			assert.Equal(t, 2, code, "%s %s: %s", verb, name, stderr)
			assert.Equal(t, 1, strings.Count(strings.TrimSpace(stderr), "\n")+1, "one line: %s", stderr)
			assert.Contains(t, stderr, name, "the error names the place")
		}
	}
}

func TestAStoreThatCannotBeWrittenStopsTheCollector(t *testing.T) {
	dir := t.TempDir()
	// A file in the way cannot be written below, not even by root.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "tapes"), nil, 0o600))
	c, err := harness.Start(context.Background(), bin(t), config, dir)
	require.Error(t, err)
	assert.Contains(t, err.Error(), filepath.Join(dir, "tapes"))
	assert.Contains(t, err.Error(), "exit status 1")
	_ = c
}

func TestASecondCollectorReadsWhatTheFirstWrote(t *testing.T) {
	dir := t.TempDir()
	c, err := harness.Start(context.Background(), bin(t), config, dir, quick...)
	require.NoError(t, err)
	id, _ := runAgent(t, c, "-run", "3", "-report", filepath.Join(t.TempDir(), "r.md"))
	awaitStatus(t, c, id, http.StatusOK, "")
	require.NoError(t, c.Kill())

	c, err = harness.Start(context.Background(), bin(t), config, dir, quick...)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Stop()) }()
	_, stderr, code := cli(t, c, "pull", id)
	assert.Zero(t, code, stderr)
	stdout, stderr, code := cli(t, c, "--store", c.StoreDir(), "pull", id)
	assert.Zero(t, code, stderr)
	assert.Contains(t, stdout, "notify", "the directory can be read without a server too")
	_, stderr, code = cli(t, c, "rm", id)
	assert.Zero(t, code, stderr)
	_, _, code = cli(t, c, "pull", id)
	assert.Equal(t, 3, code)
}

func TestShutdownDecidesWhatIsOpenInMemory(t *testing.T) {
	dir := t.TempDir()
	c, err := harness.Start(context.Background(), bin(t), config, dir, "processors::tape::spool::directory=")
	require.NoError(t, err)
	id, _ := runAgent(t, c, "-run", "3", "-report", filepath.Join(t.TempDir(), "r.md"))
	require.NoError(t, c.Stop())
	c, err = harness.Start(context.Background(), bin(t), config, dir)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Stop()) }()
	_, stderr, code := cli(t, c, "pull", id)
	assert.Zero(t, code, stderr)
}

// Nobody has decided the run when the collector ends, one way or the other. The next
// one goes on with it: it is whole, and was not cut short.
func TestAnOpenRunOutlivesTheCollector(t *testing.T) {
	for name, end := range map[string]func(*harness.Collector) error{
		"killed": (*harness.Collector).Kill, "stopped": (*harness.Collector).Stop,
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			c, err := harness.Start(context.Background(), bin(t), config, dir, "processors::tape::root_settle=1h")
			require.NoError(t, err)
			id, _ := runAgent(t, c, "-run", "3", "-report", filepath.Join(t.TempDir(), "r.md"))
			status, _, err := harness.Get(context.Background(), c.API+"/v1/tapes/"+id)
			require.NoError(t, err)
			assert.Equal(t, http.StatusNotFound, status)
			require.NoError(t, end(c))

			c, err = harness.Start(context.Background(), bin(t), config, dir, quick...)
			require.NoError(t, err)
			defer func() { require.NoError(t, c.Stop()) }()
			var row string
			require.NoError(t, harness.Eventually(context.Background(), 20*time.Second, func() (bool, error) {
				_, body, err := harness.Get(context.Background(), c.API+"/v1/tapes")
				row = string(body)
				return strings.Contains(row, id), err
			}))
			assert.Contains(t, row, `"trigger":"root_ended"`)
			_, stderr, code := cli(t, c, "pull", id)
			assert.Zero(t, code, stderr)
		})
	}
}

// A good run is only summarised, until somebody asks for it.
func TestARunThatSomebodyAsksForIsKept(t *testing.T) {
	c := start(t)
	id, _ := runAgent(t, c, "-run", "1", "-report", filepath.Join(t.TempDir(), "r.md"))
	require.NoError(t, harness.Eventually(context.Background(), 20*time.Second, func() (bool, error) {
		_, body, err := harness.Get(context.Background(), c.API+"/v1/tapes")
		return strings.Contains(string(body), id), err
	}))
	_, _, code := cli(t, c, "pull", id)
	require.Equal(t, 3, code, "it was not kept")
	res, err := http.Post(c.API+"/v1/tapes/"+id+"/keep", "", nil)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	assert.Equal(t, http.StatusOK, res.StatusCode)
	_, stderr, code := cli(t, c, "pull", id)
	assert.Zero(t, code, stderr)
}
