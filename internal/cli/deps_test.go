package cli

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The command stays small: of the collector it links pdata alone, and the
// feature gates that pdata needs.
func TestNoCollectorServiceCodeIsLinked(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the go command")
	}
	out, err := exec.Command("go", "list", "-deps", "../../cmd/tape").Output()
	require.NoError(t, err)
	const collector = "go.opentelemetry.io/collector/"
	for pkg := range strings.FieldsSeq(string(out)) {
		if name, ok := strings.CutPrefix(pkg, collector); ok {
			assert.True(t, name == "featuregate" || strings.HasPrefix(name, "pdata/"), pkg)
		}
		assert.NotContains(t, pkg, "google.golang.org/grpc")
	}
}
