package kubernetes

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// podIP stands for the address that a pod would have.
const podIP = "127.0.0.1"

// binary is one that `make check-kubernetes` builds and names.
func binary(t *testing.T, variable string) string {
	t.Helper()
	path := os.Getenv(variable)
	require.NotEmpty(t, path, "%s is not set: run make check-kubernetes", variable)
	return path
}

// files writes the configuration that a pod would see and returns the arguments of the
// collector, which name the files.
func (m manifests) files(t *testing.T, w workload) (args []string) {
	t.Helper()
	data := at(m.get(t, "ConfigMap", m.configMap(t, w)).Object, "data")
	dir := t.TempDir()
	for _, arg := range w.container().Args {
		file, ok := strings.CutPrefix(arg, "--config=/etc/otelcol/")
		require.True(t, ok, arg)
		path := filepath.Join(dir, file)
		require.NoError(t, os.WriteFile(path, []byte(data[file].(string)), 0o600))
		args = append(args, "--config="+path)
	}
	return args
}

func (m manifests) configMap(t *testing.T, w workload) string {
	t.Helper()
	for _, v := range w.template.Spec.Volumes {
		if v.ConfigMap != nil {
			return v.ConfigMap.Name
		}
	}
	require.Fail(t, "no configuration", w.name)
	return ""
}

// environ are the variables that a container would have, and no others.
func (m manifests) environ(t *testing.T, w workload) (environ []string) {
	t.Helper()
	for _, from := range w.container().EnvFrom {
		if from.ConfigMapRef == nil {
			continue
		}
		for name, value := range at(m.get(t, "ConfigMap", from.ConfigMapRef.Name).Object, "data") {
			environ = append(environ, name+"="+value.(string))
		}
	}
	for _, e := range w.container().Env {
		value := strings.ReplaceAll(e.Value, "$(POD_NAMESPACE)", namespace)
		if e.ValueFrom != nil {
			value = map[string]string{"status.podIP": podIP, "metadata.namespace": namespace}[e.ValueFrom.FieldRef.FieldPath]
		}
		environ = append(environ, e.Name+"="+value)
	}
	return environ
}

func TestCollectorsTakeTheirConfiguration(t *testing.T) {
	everyRender(t, func(t *testing.T, m manifests) {
		gateway, recorder := m.workloads(t)
		for w, variable := range map[*workload]string{&gateway: "OTELCOL_GATEWAY", &recorder: "OTELCOL_TAPE"} {
			cmd := exec.Command(binary(t, variable), append([]string{"validate"}, m.files(t, *w)...)...)
			cmd.Env = m.environ(t, *w)
			out, err := cmd.CombinedOutput()
			assert.NoError(t, err, "%s: %s", w.name, out)
		}
	})
}

func TestAMistakeInValuesIsSeenByTheCollector(t *testing.T) {
	m := helm(t, "recorder: {config: {processors: {tape: {idle_timeouts: 1m}}}}")
	_, recorder := m.workloads(t)
	cmd := exec.Command(binary(t, "OTELCOL_TAPE"), append([]string{"validate"}, m.files(t, recorder)...)...)
	cmd.Env = m.environ(t, recorder)
	out, err := cmd.CombinedOutput()
	assert.Error(t, err)
	assert.Contains(t, string(out), "idle_timeouts")
}

// settings is what of a configuration must fit the manifests.
type settings struct {
	Extensions struct {
		HealthCheck struct{ Endpoint string } `json:"health_check"`
		TapeStore   struct {
			Index struct{ Directory string }
		} `json:"tape_store"`
		Token struct{ Filename string } `json:"bearertokenauth"`
	}
	Receivers struct {
		OTLP struct {
			Protocols struct{ GRPC, HTTP struct{ Endpoint string } }
		}
	}
	Processors struct {
		Tape struct {
			Spool struct{ Directory string }
		}
	}
	Exporters struct {
		Tape struct {
			HTTP struct {
				Endpoint string
				Auth     struct{ Authenticator string }
			}
		}
	}
	Service struct {
		Telemetry struct {
			Metrics struct {
				Readers []struct {
					Pull struct {
						Exporter struct {
							Prometheus struct {
								Host string
								Port int32
							}
						}
					}
				}
			}
		}
	}
}

// settings reads the files of a workload, later ones over earlier ones.
func (m manifests) settings(t *testing.T, w workload) (s settings) {
	t.Helper()
	data := at(m.get(t, "ConfigMap", m.configMap(t, w)).Object, "data")
	for _, arg := range w.container().Args {
		require.NoError(t, yaml.Unmarshal([]byte(data[filepath.Base(arg)].(string)), &s))
	}
	return s
}

func TestPortsAreWhereCollectorsListen(t *testing.T) {
	everyRender(t, func(t *testing.T, m manifests) {
		m.eachWorkload(t, func(t *testing.T, w workload) {
			s := m.settings(t, w)
			prometheus := s.Service.Telemetry.Metrics.Readers[0].Pull.Exporter.Prometheus
			listening := map[string]string{
				"otlp-grpc": s.Receivers.OTLP.Protocols.GRPC.Endpoint,
				"otlp-http": s.Receivers.OTLP.Protocols.HTTP.Endpoint,
				"health":    s.Extensions.HealthCheck.Endpoint,
				"api":       s.Exporters.Tape.HTTP.Endpoint,
				"metrics":   prometheus.Host + ":" + text(prometheus.Port),
			}
			for _, port := range w.container().Ports {
				assert.Equal(t, "${env:POD_IP}:"+text(port.ContainerPort), listening[port.Name], port.Name)
				delete(listening, port.Name)
			}
			for name, endpoint := range listening {
				assert.NotContains(t, endpoint, "POD_IP", "%s can be reached, and is no port of the container", name)
			}
		})
	})
}

func TestStateIsOnTheVolume(t *testing.T) {
	everyRender(t, func(t *testing.T, m manifests) {
		_, recorder := m.workloads(t)
		s := m.settings(t, recorder)
		for _, dir := range []string{s.Processors.Tape.Spool.Directory, s.Extensions.TapeStore.Index.Directory} {
			assert.Equal(t, recorder.claims[0].Name, mounted(recorder, dir), dir)
		}
	})
}

// The API is either on loopback or asks for the token that is mounted.
func TestTheAPIIsNotOpen(t *testing.T) {
	everyRender(t, func(t *testing.T, m manifests) {
		_, recorder := m.workloads(t)
		s := m.settings(t, recorder)
		if s.Exporters.Tape.HTTP.Endpoint == "127.0.0.1:4380" {
			return
		}
		assert.Equal(t, "bearertokenauth", s.Exporters.Tape.HTTP.Auth.Authenticator)
		assert.Equal(t, "token", mounted(recorder, s.Extensions.Token.Filename))
		assert.Equal(t, "token", filepath.Base(s.Extensions.Token.Filename))
	})
}

// mounted is the volume that a path of a container is on.
func mounted(w workload, path string) (volume string) {
	var longest string
	for _, mount := range w.container().VolumeMounts {
		if strings.HasPrefix(path, mount.MountPath+"/") && len(mount.MountPath) > len(longest) {
			longest, volume = mount.MountPath, mount.Name
		}
	}
	return volume
}

func TestTheBucketIsWhatValuesSay(t *testing.T) {
	m := helm(t, readFile(t, "testdata/everything.yaml"))
	_, recorder := m.workloads(t)
	assert.Subset(t, m.environ(t, recorder), []string{
		"TAPE_BUCKET=agent-tapes", "TAPE_REGION=eu-central-1", "TAPE_ENDPOINT=https://s3.example:9000",
		"TAPE_PREFIX=team-a", "TAPE_PATH_STYLE=true",
	})
	assert.Contains(t, recorder.container().EnvFrom, corev1.EnvFromSource{
		SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "bucket-keys"}},
	})
}

func text(port int32) string { return strconv.FormatInt(int64(port), 10) }
