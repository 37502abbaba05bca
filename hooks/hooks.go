// Package hooks holds what has the in-process tools of agent frameworks answered
// from a tape, with no change to the agent: a start-up hook for Python and one for
// Node, one file a framework.
//
// A hooked tool does not run, but for what a live replay or a fork lets run. Its call
// is made as POST /v1/call of package internal/serve; a recorded failure becomes a
// failing tool in the way of the framework, and a verdict other than hit ends the
// agent. Programs started by the agent are hooked too, as they inherit its
// environment. What no hook reaches runs live, and only the session can tell: see
// docs/hooks.md.
//
// The cost is some 40 KB of files in a directory, written once a run.
package hooks

import (
	"embed"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

//go:embed python/*.py python/tapedeck_hooks/*.py node/*.cjs node/*.mjs
var files embed.FS

// Write puts the hooks into an existing directory.
func Write(dir string) error {
	if err := os.CopyFS(dir, files); err != nil {
		return fmt.Errorf("write the hooks: %w", err)
	}
	return nil
}

// Environment is what has Python and Node load the hooks that were written to a
// directory, as NAME=VALUE, beside what getenv says is set already.
func Environment(dir string, getenv func(string) string) []string {
	path := filepath.Join(dir, "python")
	if others := getenv("PYTHONPATH"); others != "" {
		path += string(os.PathListSeparator) + others
	}
	// Ours comes first, so that it is in place when other preloads load a framework.
	options := "--require " + quote(filepath.Join(dir, "node", "preload.cjs"))
	if others := getenv("NODE_OPTIONS"); others != "" {
		options += " " + others
	}
	return []string{"PYTHONPATH=" + path, "NODE_OPTIONS=" + options}
}

// quote writes a path as NODE_OPTIONS has words with spaces.
func quote(path string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(path) + `"`
}
