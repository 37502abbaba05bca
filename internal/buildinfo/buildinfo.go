// Package buildinfo says which source the running binary was built from.
//
// The answer is what the Go toolchain records by itself in every binary that is
// built in a checkout, so that make, goreleaser and a plain go build agree, and
// nothing has to be passed to the linker.
package buildinfo

import (
	"runtime/debug"
	"strings"
)

// Release is the release that this source is or becomes. It equals dist::version of
// builder-config.yaml.
const Release = "0.1.0"

// Info is what is known of a build.
type Info struct {
	// Version is the release and, after a plus sign, the commit:
	// 0.1.0+60bb5ef12c34, with -dirty behind it if files differed from the commit. A
	// binary that go install fetched has the version of the module.
	Version string
	// Commit is the whole hash of the commit, empty where it is not known.
	Commit string
}

// Read returns what is known of the running binary.
func Read() Info {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return Info{Version: Release}
	}
	return from(build)
}

func from(build *debug.BuildInfo) Info {
	const abbreviated = 12
	var commit, dirty string
	for _, s := range build.Settings {
		switch {
		case s.Key == "vcs.revision":
			commit = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "-dirty"
		}
	}
	if commit != "" {
		return Info{Version: Release + "+" + commit[:min(abbreviated, len(commit))] + dirty, Commit: commit}
	}
	if v := strings.TrimPrefix(build.Main.Version, "v"); v != "" && v != "(devel)" {
		return Info{Version: v}
	}
	return Info{Version: Release}
}
