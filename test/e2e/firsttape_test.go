package e2e

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/harness"
)

// From a collector that is there to the first tape by the README alone: its lines go into
// a file for that collector, and its commands are run as they stand, but for the ports.
func TestTheReadmeLeadsToAFirstTape(t *testing.T) {
	_, readme, found := strings.Cut(read(t, "../../README.md"), "\n### Beside a collector that you run\n")
	require.True(t, found)
	lines, readme := fenced(t, readme, "yaml")
	assert.LessOrEqual(t, strings.Count(lines, "\n"), 10)
	block, _ := fenced(t, readme, "sh")
	commands := strings.Split(strings.TrimSpace(block), "\n")
	require.Len(t, commands, 3)
	require.Equal(t, "make build", commands[0], "which make e2e has done")
	page, _ := fenced(t, read(t, "../../docs/beside.md"), "yaml")
	assert.Equal(t, lines, page, "the page has the same lines")

	checkout := t.TempDir()
	for name, target := range map[string]string{"bin": bin(t), "deploy": "../../deploy"} {
		target, err := filepath.Abs(target)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(target, filepath.Join(checkout, name)))
	}
	ports, err := harness.FreePorts(4)
	require.NoError(t, err)
	c := &harness.Collector{Dir: checkout, OTLP: "http://127.0.0.1:" + ports[1], API: "http://127.0.0.1:" + ports[3]}
	elsewhere := strings.NewReplacer("127.0.0.1:14317", "127.0.0.1:"+ports[0], "127.0.0.1:14318", "127.0.0.1:"+ports[1], "=18888", "="+ports[2])
	shell := func(command string) []string { return []string{"-c", "cd '" + checkout + "' && exec env " + command} }

	tapes := filepath.Join(checkout, "tapes.yaml")
	require.NoError(t, os.WriteFile(tapes, []byte(elsewhere.Replace(lines)), 0o600))
	e := startExisting(t, tapes)
	c.Process, err = harness.Launch(context.Background(), c.LogPath(), func(ctx context.Context) bool {
		_, err := c.SendJSON(ctx, []byte("{}"))
		return err == nil
	}, []string{"TAPE_API=127.0.0.1:" + ports[3]}, "sh", shell(elsewhere.Replace(commands[1]))...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, c.Stop()) })

	id, code := runAgent(t, &harness.Collector{OTLP: e.http}, "-run", "3", "-report", filepath.Join(checkout, "report.md"))
	require.Equal(t, 1, code)
	awaitStatus(t, c, id, http.StatusOK, "")
	_, stderr, code, err := harness.Run(context.Background(), "/bin", "sh", []string{"TAPE_SERVER=" + c.API},
		shell(strings.Replace(commands[2], "TRACE_ID", id, 1))...)
	require.NoError(t, err)
	require.Zero(t, code, stderr)
	assert.Contains(t, read(t, filepath.Join(checkout, "failed.jsonl")), id)
	assert.NotEmpty(t, e.Received())
}

// fenced is the first block of a language in a page, and what comes behind it.
func fenced(t *testing.T, page, language string) (block, rest string) {
	t.Helper()
	_, page, found := strings.Cut(page, "\n```"+language+"\n")
	require.True(t, found, language)
	block, rest, found = strings.Cut(page, "```\n")
	require.True(t, found, language)
	return block, rest
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}
