package packages

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The container file is built on an empty base, which needs no registry: what it adds
// must do by itself.
func TestImageRecordsWithoutRoot(t *testing.T) {
	context := os.Getenv("TAPEDECK_IMAGE_CONTEXT")
	if context == "" {
		t.Skip("TAPEDECK_IMAGE_CONTEXT is not set: run make check-package")
	}
	if _, err := exec.LookPath("buildah"); err != nil {
		t.Skip("no buildah")
	}
	storage := memory(t)
	buildah := func(args ...string) string {
		return strings.TrimSpace(output(t, "buildah", append([]string{
			"--storage-driver", "vfs", "--root", filepath.Join(storage, "root"), "--runroot", filepath.Join(storage, "run"),
		}, args...)...))
	}
	buildah("build", "--isolation", "chroot", "--build-arg", "BASE=scratch", "--file", "../../deploy/container/Containerfile", "--tag", "tapedeck", context)

	var inspected struct {
		OCIv1 struct {
			Config struct {
				User            string
				Env             []string
				Entrypoint, Cmd []string
				Volumes         map[string]any
			}
		}
	}
	require.NoError(t, json.Unmarshal([]byte(buildah("inspect", "--type", "image", "tapedeck")), &inspected))
	image := inspected.OCIv1.Config
	assert.Equal(t, "65532:65532", image.User)
	assert.Equal(t, []string{"/usr/bin/otelcol-tape"}, image.Entrypoint)
	assert.Equal(t, []string{"--config=/etc/tapedeck/config.yaml"}, image.Cmd)
	assert.Contains(t, image.Volumes, "/var/lib/tapedeck")
	listens := variables(t)
	for _, e := range image.Env {
		name, value, _ := strings.Cut(e, "=")
		if name == "PATH" {
			continue
		}
		assert.Contains(t, listens, name)
		_, port, _ := strings.Cut(listens[name], ":")
		assert.Equal(t, strings.TrimSuffix("0.0.0.0:"+port, ":"), value, name)
		assert.NotEqual(t, "TAPE_API", name, "tapes are not for everybody")
	}

	buildah("from", "--pull-never", "--name", "tapedeck", "localhost/tapedeck")
	r := root(buildah("mount", "tapedeck"))
	r.furnish(t)
	r.recordsARun(t, image.User)
}
