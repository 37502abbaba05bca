package beside

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/compose-spec/compose-go/v2/cli"
	"github.com/compose-spec/compose-go/v2/types"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/harness"
	"github.com/tapedeck/tapedeck/internal/store/s3/s3test"
)

const composeDir = "../../deploy/compose/"

// compose reads the file as Compose does: unknown keys are errors.
func compose(t *testing.T) *types.Project {
	t.Helper()
	options, err := cli.NewProjectOptions([]string{composeDir + "compose.yaml"}, cli.WithWorkingDirectory(composeDir))
	require.NoError(t, err)
	project, err := options.LoadProject(t.Context())
	require.NoError(t, err)
	return project
}

func TestComposePublishesOnLoopbackAlone(t *testing.T) {
	project := compose(t)
	for name, service := range project.Services {
		for _, port := range service.Ports {
			assert.Equal(t, "127.0.0.1", port.HostIP, "%s: %s", name, port.Published)
		}
		if service.Build == nil {
			assert.Regexp(t, `:v?\d+\.\d+\.\d+$`, service.Image, "%s has a release", name)
			continue
		}
		text, err := os.ReadFile(filepath.Join(service.Build.Context, service.Build.Dockerfile))
		require.NoError(t, err)
		assert.Regexp(t, `(?m)^FROM \S+ AS `+service.Build.Target+`$`, string(text))
		_, stage, _ := strings.Cut(string(text), " AS "+service.Build.Target+"\n")
		assert.Regexp(t, `(?m)^USER [1-9]\d*:`, stage, "%s is not root", name)
	}
	for _, v := range project.Services["tapedeck"].Volumes {
		if v.Type == types.VolumeTypeBind {
			assert.FileExists(t, v.Source)
		}
	}
}

// The collector with its file and its environment from compose.yaml, where only the
// names of hosts are others: a failed run is a tape in the bucket, and is in Jaeger.
func TestComposeRecordsTheFailedRunOfItsAgent(t *testing.T) {
	project := compose(t)
	bucket := s3test.Start(t)
	var jaeger atomic.Int64
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if n, _ := io.Copy(io.Discard, r.Body); n > 0 && r.URL.Path == "/v1/traces" {
			jaeger.Add(1)
		}
	}))
	t.Cleanup(sink.Close)
	ports, err := harness.FreePorts(5)
	require.NoError(t, err)
	at := map[string]string{ // what is where
		"s3:7070": strings.TrimPrefix(bucket.URL(), "http://"), "jaeger:4318": strings.TrimPrefix(sink.URL, "http://"),
		"0.0.0.0:4317": "127.0.0.1:" + ports[0], "0.0.0.0:4318": "127.0.0.1:" + ports[1], "0.0.0.0:4380": "127.0.0.1:" + ports[2],
		"tapedeck:4318": "127.0.0.1:" + ports[1],
	}
	dir := t.TempDir()
	env := append(environment(t, project.Services["tapedeck"], at),
		"TAPE_STATE="+dir, "TAPE_HEALTH=127.0.0.1:"+ports[3], "TAPE_METRICS_HOST=127.0.0.1", "TAPE_METRICS_PORT="+ports[4],
		"AWS_ACCESS_KEY_ID="+s3test.AccessKey, "AWS_SECRET_ACCESS_KEY="+s3test.SecretKey)
	api := "http://127.0.0.1:" + ports[2]
	collector, err := harness.Launch(context.Background(), filepath.Join(dir, "collector.log"), func(ctx context.Context) bool {
		status, _, err := harness.Get(ctx, "http://127.0.0.1:"+ports[3])
		return err == nil && status == http.StatusOK
	}, env, filepath.Join(binaries(t), "otelcol-tape"), "--config", composeDir+"tapedeck.yaml", "--set", "processors::tape::root_settle=200ms")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, collector.Stop()) })

	agent := project.Services["agent"]
	out, stderr, code, err := harness.Run(t.Context(), binaries(t), "agent", environment(t, agent, at),
		append(agent.Command, "-report", filepath.Join(dir, "report.md"))...)
	require.NoError(t, err)
	require.Equal(t, 1, code, stderr)
	id := regexp.MustCompile(`trace ([0-9a-f]{32})`).FindStringSubmatch(out)
	require.NotNil(t, id, out)
	err = harness.Eventually(t.Context(), 60*time.Second, func() (bool, error) {
		status, _, err := harness.Get(t.Context(), api+"/v1/tapes/"+id[1])
		return err == nil && status == http.StatusOK, err
	})
	require.NoError(t, err)
	assert.Positive(t, jaeger.Load())

	check := project.Services["tapedeck"].HealthCheck.Test
	require.Equal(t, []string{"CMD", "/usr/bin/tape"}, []string(check[:2]))
	_, stderr, code, err = harness.Run(t.Context(), binaries(t), "tape", []string{"TAPE_SERVER=" + api}, check[2:]...)
	require.NoError(t, err)
	assert.Zero(t, code, stderr)
}

// environment is that of a service, with hosts and ports replaced.
func environment(t *testing.T, service types.ServiceConfig, at map[string]string) (env []string) {
	t.Helper()
	for name, value := range service.Environment {
		require.NotNil(t, value, name)
		v := *value
		if u, err := url.Parse(v); err == nil && u.Host != "" {
			require.Contains(t, at, u.Host, name)
			u.Host = at[u.Host]
			v = u.String()
		} else if _, _, err := net.SplitHostPort(v); err == nil {
			require.Contains(t, at, v, name)
			v = at[v]
		}
		env = append(env, name+"="+v)
	}
	return env
}
