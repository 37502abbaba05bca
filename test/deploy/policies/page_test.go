package policies

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

// Every file is JSON, and is told of in the page.
func TestEveryFileIsToldOf(t *testing.T) {
	page, err := os.ReadFile(dir + "README.md")
	require.NoError(t, err)
	for file, text := range files(t) {
		assert.True(t, json.Valid(text), file)
		assert.Contains(t, string(page), "`"+file+"`")
	}
}

// files are those that are handed to a bucket or to an account, by name.
func files(t *testing.T) map[string][]byte {
	t.Helper()
	paths, err := filepath.Glob(dir + "*.json")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	files := map[string][]byte{}
	for _, path := range paths {
		files[filepath.Base(path)], err = os.ReadFile(path)
		require.NoError(t, err)
	}
	return files
}

// aws stands for the command line of Amazon: it notes what it is asked and the file that
// it is given.
const aws = `#!/bin/sh
set -e
echo "aws $*" >>"$ASKED"
for arg; do case $arg in file://*) cat "${arg#file://}" >>"$ASKED" ;; esac; done
`

// The commands of the page give every file to the bucket that was named.
func TestTheCommandsOfThePage(t *testing.T) {
	page, err := os.ReadFile(dir + "README.md")
	require.NoError(t, err)
	_, script, ok := strings.Cut(string(page), "```sh\n")
	require.True(t, ok)
	script, _, _ = strings.Cut(script, "```")

	root := t.TempDir()
	require.NoError(t, os.CopyFS(filepath.Join(root, "deploy", "policies"), os.DirFS(dir)))
	require.NoError(t, os.Mkdir(filepath.Join(root, "bin"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(root, "bin", "aws"), []byte(aws), 0o700))
	asked := filepath.Join(root, "asked")
	cmd := exec.CommandContext(t.Context(), "sh", "-e", "-c", script)
	cmd.Dir = root
	cmd.Env = append(os.Environ(), "PATH="+filepath.Join(root, "bin")+":"+os.Getenv("PATH"), "ASKED="+asked)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))

	said, err := os.ReadFile(asked)
	require.NoError(t, err)
	assert.NotContains(t, string(said), "BUCKET")
	assert.Equal(t, 5, strings.Count(string(said), " --bucket your-tapes"))
	for file, text := range files(t) {
		assert.Contains(t, string(said), strings.ReplaceAll(string(text), "BUCKET", "your-tapes"), file)
	}
}
