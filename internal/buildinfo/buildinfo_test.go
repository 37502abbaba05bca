package buildinfo

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestFrom(t *testing.T) {
	const commit = "60bb5ef12c34d56e78f90a1b2c3d4e5f60718293"
	revision := debug.BuildSetting{Key: "vcs.revision", Value: commit}
	for name, c := range map[string]struct {
		build debug.BuildInfo
		want  Info
	}{
		"built in a checkout": {
			debug.BuildInfo{Main: debug.Module{Version: "v0.0.0-20261130235837-60bb5ef12c34"},
				Settings: []debug.BuildSetting{revision, {Key: "vcs.modified", Value: "false"}}},
			Info{Version: Release + "+60bb5ef12c34", Commit: commit},
		},
		"built in a changed checkout": {
			debug.BuildInfo{Settings: []debug.BuildSetting{revision, {Key: "vcs.modified", Value: "true"}}},
			Info{Version: Release + "+60bb5ef12c34-dirty", Commit: commit},
		},
		"installed at a release": {
			debug.BuildInfo{Main: debug.Module{Version: "v0.1.3"}},
			Info{Version: "0.1.3"},
		},
		"installed at a commit": {
			debug.BuildInfo{Main: debug.Module{Version: "v0.1.4-0.20261130235837-60bb5ef12c34"}},
			Info{Version: "0.1.4-0.20261130235837-60bb5ef12c34"},
		},
		"built from an unpacked archive": {
			debug.BuildInfo{Main: debug.Module{Version: "(devel)"}},
			Info{Version: Release},
		},
	} {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, c.want, from(&c.build))
		})
	}
}
