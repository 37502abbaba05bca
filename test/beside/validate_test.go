package beside

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const deploy = "../../deploy"

// others are configurations with components that our distribution lacks; the collector of
// builder-config.yaml has them.
var others = []string{"beside/before-sampler.yaml", "beside/kafka.yaml"}

// required are the variables that some configurations have no default for.
var required = []string{"TAPE_ENDPOINT=http://127.0.0.1:7070", "TAPE_BUCKET=tapes", "JAEGER_OTLP=http://127.0.0.1:4318"}

// Every configuration of a collector below deploy fits the collector that it is for. Those
// of deploy/kubernetes are templates, which its own tests render first.
func TestEveryConfigurationIsValid(t *testing.T) {
	files := collectorConfigurations(t)
	require.Subset(t, files, others)
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			binary := filepath.Join(binaries(t), "otelcol-tape")
			if slices.Contains(others, file) {
				binary = own(t)
			}
			cmd := exec.Command(binary, "validate", "--config", filepath.Join(deploy, file))
			cmd.Env = append(os.Environ(), required...)
			out, err := cmd.CombinedOutput()
			assert.NoError(t, err, "%s", out)
		})
	}
}

// A way to go in beside existing tracing that no page tells of is found by nobody.
func TestEveryFileBesideIsOnThePage(t *testing.T) {
	page, err := os.ReadFile("../../docs/beside.md")
	require.NoError(t, err)
	files, err := filepath.Glob(configs + "*")
	require.NoError(t, err)
	for _, file := range files {
		assert.Contains(t, string(page), "`"+filepath.Base(file)+"`")
	}
}

// collectorConfigurations are the YAML files below deploy that have pipelines, as paths
// from there.
func collectorConfigurations(t *testing.T) (files []string) {
	t.Helper()
	require.NoError(t, fs.WalkDir(os.DirFS(deploy), ".", func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case path == "kubernetes":
			return fs.SkipDir
		case entry.IsDir() || !strings.HasSuffix(path, ".yaml"):
			return nil
		}
		text, err := os.ReadFile(filepath.Join(deploy, path))
		if err != nil {
			return err
		}
		var config struct {
			Service struct{ Pipelines map[string]any }
		}
		if err := yaml.Unmarshal(text, &config); err != nil {
			return err
		}
		if len(config.Service.Pipelines) > 0 {
			files = append(files, path)
		}
		return nil
	}))
	return files
}
