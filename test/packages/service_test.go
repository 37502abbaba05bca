package packages

import (
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"
)

const systemd = "../../deploy/systemd/"

func read(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(systemd + file)
	require.NoError(t, err)
	return string(text)
}

// The processor refuses before the garbage collector gives up, and that before the
// kernel kills.
func TestMemoryOfUnitAndConfigAgree(t *testing.T) {
	var config struct {
		Processors struct {
			Limiter struct {
				Limit int `yaml:"limit_mib"`
				Spike int `yaml:"spike_limit_mib"`
			} `yaml:"memory_limiter"`
		}
	}
	require.NoError(t, yaml.Unmarshal([]byte(read(t, "config.yaml")), &config))
	limiter := config.Processors.Limiter
	unit := read(t, "otelcol-tape.service")
	assert.Contains(t, unit, "\nEnvironment=GOMEMLIMIT="+strconv.Itoa(limiter.Limit-limiter.Spike)+"MiB\n")
	require.Contains(t, unit, "\nMemoryMax=1G\n")
	assert.LessOrEqual(t, limiter.Limit, 1024*8/10, "a fifth is left for what is not heap")
}

// variables are those of the configuration with their defaults.
func variables(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, m := range regexp.MustCompile(`\$\{env:(\w+):-([^}]*)\}`).FindAllStringSubmatch(read(t, "config.yaml"), -1) {
		found[m[1]] = m[2]
	}
	return found
}

func TestEnvironmentFileTellsTheVariablesOfTheConfig(t *testing.T) {
	want := variables(t)
	// The unit grants its state directory only.
	delete(want, "TAPE_DIR")
	delete(want, "TAPE_SPOOL")
	told := map[string]string{}
	for _, m := range regexp.MustCompile(`(?m)^#(\w+)=(.+)$`).FindAllStringSubmatch(read(t, "otelcol-tape.env"), -1) {
		told[m[1]] = m[2]
	}
	assert.Equal(t, want, told)
}

func TestServiceIsConfined(t *testing.T) {
	if os.Getenv("TAPEDECK_PACKAGES") == "" {
		t.Skip("TAPEDECK_PACKAGES is not set: run make check-package")
	}
	// 2.0 of 10; the network and the API of sockets cannot be taken from a collector.
	report := output(t, "systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20", systemd+"otelcol-tape.service")
	assert.True(t, strings.Contains(report, "Overall exposure level"), report)
}
