// Package tiers runs the tiers of deploy/kubernetes without a cluster: a stock
// collector with the load-balancing exporter and two of Tapedeck, each on a loopback
// address that stands for that of its pod, with the very files that pods get, before an
// S3 server.
//
// `make check-kubernetes` builds the binaries and names them.
package tiers

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/tapedeck/tapedeck/internal/harness"
	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
)

const (
	deploy = "../../../deploy/kubernetes"
	token  = "token-of-the-test"
)

func TestSpansOfARunMeetInOneRecorder(t *testing.T) {
	bucket := s3test.Start(t)
	a, b := recorder(t, bucket, 2, t.TempDir()), recorder(t, bucket, 3, t.TempDir())
	gate := gateway(t, a, b)

	const runs = 24
	for part := range 3 {
		for run := range runs {
			gate.send(t, spans(run, part, part == 2))
		}
	}
	for _, r := range []*pod{a, b} {
		assert.Eventually(t, func() bool { return r.sum(t, "otelcol_processor_tape_received_spans") > 0 },
			20*time.Second, 100*time.Millisecond, "both recorders have work")
	}
	for run := range runs {
		a.pull(t, id(run), 3)
		assert.Len(t, fragments(t, bucket, run), 1, "one recorder saw the whole run")
	}
	b.pull(t, id(0), 3) // any recorder answers for all
	status, _, err := harness.Get(t.Context(), "http://"+a.ip+":4380/v1/tapes")
	require.NoError(t, err)
	assert.Equal(t, http.StatusUnauthorized, status, "without the token")
}

// Runs go on elsewhere when their recorder is lost or is one too many. What the lost one
// had is on its volume, and whoever mounts it decides it, also where no gateway sends.
func TestHalvesOfARunAreMerged(t *testing.T) {
	bucket := s3test.Start(t)
	const failsEarly, failsLate = 0, 1
	lost := recorder(t, bucket, 2, t.TempDir())
	before := gateway(t, lost)
	for part := range 2 {
		before.send(t, spans(failsEarly, part, part == 1))
		before.send(t, spans(failsLate, part, false))
	}
	require.Eventually(t, func() bool { return lost.sum(t, "otelcol_processor_tape_received_spans") == 4 },
		20*time.Second, 100*time.Millisecond)
	lost.kill(t)
	before.stop(t)

	other := recorder(t, bucket, 3, t.TempDir())
	after := gateway(t, other)
	for _, run := range []int{failsEarly, failsLate} {
		after.send(t, spans(run, 2, true))
		other.pull(t, id(run), 1)
	}

	drained := recorder(t, bucket, 4, lost.dir)
	assert.Equal(t, 2.0, drained.sum(t, "otelcol_processor_tape_open_runs"))
	merged := other.pull(t, id(failsEarly), 3)
	assert.NotContains(t, merged, "decided on its own")
	assert.Len(t, fragments(t, bucket, failsEarly), 2)
	assert.Eventually(t, func() bool { return drained.sum(t, "otelcol_processor_tape_open_runs") == 0 },
		20*time.Second, 100*time.Millisecond, "by this it is seen that a volume is drained")
	// A half that saw no failure is a good run to whoever decides it: a row, no spans.
	assert.Eventually(t, func() bool {
		return strings.Contains(other.pull(t, id(failsLate), 1), "decided on its own")
	}, 20*time.Second, 100*time.Millisecond, "the tape says what it lacks")

	after.stop(t)
	single := recorder(t, s3test.Start(t), 5, t.TempDir())
	gate := gateway(t, single)
	for part := range 3 {
		gate.send(t, spans(failsEarly, part, part > 0))
	}
	// The halves were decided for a reason each, of which the tape has one.
	trigger := regexp.MustCompile(`"trigger":"(root_ended|idle)",`)
	whole := single.pull(t, id(failsEarly), 3)
	assert.Equal(t, trigger.ReplaceAllString(whole, ""), trigger.ReplaceAllString(merged, ""),
		"a recorder that sees it all makes the same tape")
}

// pod is a collector on an address of its own.
type pod struct {
	ip, dir string
	cmd     *exec.Cmd
	done    chan error
}

// recorder starts otelcol-tape as a pod of the overlay s3-server would. Its volume is a
// directory.
func recorder(t *testing.T, bucket *s3test.Server, number int, volume string) *pod {
	t.Helper()
	secret := filepath.Join(t.TempDir(), "token")
	require.NoError(t, os.WriteFile(secret, []byte(token), 0o600))
	args := []string{
		"--config=" + deploy + "/base/config/recorder.yaml",
		"--config=" + deploy + "/components/api/api.yaml",
		"--set=extensions::bearertokenauth::filename=" + secret,
		"--set=extensions::tape_store::index::directory=" + filepath.Join(volume, "index"),
		"--set=extensions::tape_store::index::flush_interval=1s",
		"--set=processors::tape::spool::directory=" + filepath.Join(volume, "spool"),
		"--set=processors::tape::root_settle=2s",
		"--set=processors::tape::idle_timeout=6s",
	}
	return start(t, "OTELCOL_TAPE", number, volume, args,
		"TAPE_BUCKET="+s3test.Bucket, "TAPE_ENDPOINT="+bucket.URL(), "TAPE_PATH_STYLE=true", "SPOOL_BYTES=67108864",
		"AWS_ACCESS_KEY_ID="+s3test.AccessKey, "AWS_SECRET_ACCESS_KEY="+s3test.SecretKey)
}

// gateway starts the stock collector. The names of recorders are given to it, for
// there is no API server to ask.
func gateway(t *testing.T, recorders ...*pod) *pod {
	t.Helper()
	text, err := os.ReadFile(deploy + "/base/config/gateway.yaml")
	require.NoError(t, err)
	var config map[string]any
	require.NoError(t, yaml.Unmarshal(text, &config))
	var names []string
	for _, r := range recorders {
		names = append(names, r.ip+":4317")
	}
	balancer := config["exporters"].(map[string]any)["load_balancing"].(map[string]any)
	require.Contains(t, balancer["resolver"], "k8s")
	balancer["resolver"] = map[string]any{"static": map[string]any{"hostnames": names}}
	text, err = yaml.Marshal(config)
	require.NoError(t, err)
	dir := t.TempDir()
	file := filepath.Join(dir, "collector.yaml")
	require.NoError(t, os.WriteFile(file, text, 0o600))
	return start(t, "OTELCOL_GATEWAY", 1, dir, []string{"--config=" + file})
}

// start runs a collector until the test ends and waits until it is healthy.
func start(t *testing.T, variable string, number int, dir string, args []string, env ...string) *pod {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("other systems have no loopback addresses but one")
	}
	binary := os.Getenv(variable)
	require.NotEmpty(t, binary, "%s is not set: run make check-kubernetes", variable)
	p := &pod{ip: fmt.Sprintf("127.43.17.%d", number), dir: dir, done: make(chan error, 1)}
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	p.cmd = exec.Command(binary, args...)
	p.cmd.Env = append([]string{"POD_IP=" + p.ip}, env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	require.NoError(t, p.cmd.Start())
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(func() {
		p.kill(t)
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("%s %s:\n%s", variable, p.ip, text)
		}
		_ = log.Close()
	})
	require.NoError(t, harness.Eventually(t.Context(), 60*time.Second, func() (bool, error) {
		status, _, err := harness.Get(t.Context(), "http://"+p.ip+":13133/")
		return status == http.StatusOK, err
	}))
	return p
}

// stop ends a collector as Kubernetes does.
func (p *pod) stop(t *testing.T) {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(os.Interrupt))
	require.NoError(t, p.wait())
}

// kill ends it without a chance to do anything.
func (p *pod) kill(t *testing.T) {
	t.Helper()
	_ = p.cmd.Process.Kill()
	_ = p.wait()
}

func (p *pod) wait() error {
	err := <-p.done
	p.done <- err
	return err
}

func (p *pod) ends() *harness.Collector {
	return &harness.Collector{OTLP: "http://" + p.ip + ":4318", Metrics: "http://" + p.ip + ":8888/metrics"}
}

func (p *pod) send(t *testing.T, request string) {
	t.Helper()
	status, err := p.ends().SendJSON(t.Context(), []byte(request))
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
}

func (p *pod) sum(t *testing.T, metric string) float64 {
	t.Helper()
	sum, err := p.ends().Sum(t.Context(), metric)
	require.NoError(t, err)
	return sum
}

// pull waits until the API has a tape of a run with that many records, and
// returns it.
func (p *pod) pull(t *testing.T, run string, records int) (text string) {
	t.Helper()
	err := harness.Eventually(t.Context(), 60*time.Second, func() (bool, error) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.ip+":4380/v1/tapes/"+run, nil)
		if err != nil {
			return false, err
		}
		req.Header.Set("Authorization", "Bearer "+token)
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return false, err
		}
		defer func() { _ = resp.Body.Close() }()
		body, err := io.ReadAll(resp.Body)
		text = string(body)
		return resp.StatusCode == http.StatusOK && strings.Count(text, `"tool":"step`) == records, err
	})
	require.NoError(t, err, "%s", text)
	return text
}

func id(run int) string { return fmt.Sprintf("%032x", run+0xa11ce) }

// spans is a request with one of three calls of a run, failed or not. With the last
// comes the end of the run.
func spans(run, part int, failed bool) string {
	code := 0
	if failed {
		code = 2
	}
	call := fmt.Sprintf(`{"traceId":%q,"spanId":"%016x","parentSpanId":"00000000000000ff","name":"execute_tool step%d",
		"startTimeUnixNano":"17000000000000000%02d","endTimeUnixNano":"17000000000000001%02d","status":{"code":%d},
		"attributes":[{"key":"gen_ai.operation.name","value":{"stringValue":"execute_tool"}},
		{"key":"gen_ai.tool.name","value":{"stringValue":"step%d"}}]}`, id(run), part+1, part, part, part, code, part)
	if part == 2 {
		call += fmt.Sprintf(`,{"traceId":%q,"spanId":"00000000000000ff","name":"invoke_agent","status":{"code":2},
		"startTimeUnixNano":"1700000000000000000","endTimeUnixNano":"1700000000000000999"}`, id(run))
	}
	return `{"resourceSpans":[{"scopeSpans":[{"spans":[` + call + `]}]}]}`
}

// fragments are the objects that hold spans of a run.
func fragments(t *testing.T, bucket *s3test.Server, run int) (keys []string) {
	t.Helper()
	for object := range bucket.Client().ListObjects(t.Context(), s3test.Bucket, minio.ListObjectsOptions{Recursive: true}) {
		require.NoError(t, object.Err)
		if strings.HasPrefix(object.Key, "tapes/") && strings.Contains(object.Key, id(run)) {
			keys = append(keys, object.Key)
		}
	}
	return keys
}
