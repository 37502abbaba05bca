//go:build unix

package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const mcpTape = `{"tape":"1","trace_id":"4bf92f3577b34da6a3ce929d0e0e4736","complete":true,"tools":[{"name":"mcp__git__log","description":"Show commits","schema":{"type":"object"}}]}
{"seq":1,"tool":"mcp__git__log","args":{"n":3},"result":"three commits"}
`

// mcpClient talks to a command as an MCP client does, and returns what the command
// wrote to standard error once it has ended.
func mcpClient(t *testing.T, env []string, words ...string) (*mcp.ClientSession, func() string) {
	cmd := exec.Command(os.Args[0], append([]string{"tape"}, words...)...)
	cmd.Env = append(append(os.Environ(), childEnv+"=1"), env...)
	// A file, since a buffer would be written while it is read.
	stderr, err := os.Create(filepath.Join(t.TempDir(), "stderr"))
	require.NoError(t, err)
	defer func() { _ = stderr.Close() }() // The command has its own.
	cmd.Stderr = stderr
	said := func() string {
		text, err := os.ReadFile(stderr.Name())
		require.NoError(t, err)
		return string(text)
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, said())
	}
	return session, func() string {
		_ = session.Close() // The exit code; the caller looks at the command's.
		return said()
	}
}

func mcpFile(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "t.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(mcpTape), 0o600))
	return file
}

func TestMCPOnStandardInputAndOutput(t *testing.T) {
	session, end := mcpClient(t, nil, "mcp", mcpFile(t), "--name", "git")
	listed, err := session.ListTools(t.Context(), nil)
	require.NoError(t, err)
	require.Len(t, listed.Tools, 1)
	assert.Equal(t, "log", listed.Tools[0].Name)
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: "log", Arguments: map[string]any{"n": 3}})
	require.NoError(t, err)
	assert.Equal(t, "three commits", result.Content[0].(*mcp.TextContent).Text)
	_, err = session.CallTool(t.Context(), &mcp.CallToolParams{Name: "log", Arguments: map[string]any{"n": 3}})
	require.ErrorContains(t, err, "tape_exhausted")
	stderr := end()
	assert.Contains(t, stderr, "steps 2, hits 1, misses 0, drift 0, exhausted 1")
}

// mcpChild is an agent with an MCP server on standard input and output.
func mcpChild(words []string) int {
	cmd := exec.Command(os.Args[0], append([]string{"tape"}, words...)...)
	cmd.Stderr = os.Stderr
	client := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil)
	ctx := context.Background()
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		fmt.Println(err)
		return 99
	}
	defer func() { _ = session.Close() }()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "log", Arguments: map[string]any{"n": 3}})
	if err != nil {
		fmt.Println(err)
		return 5
	}
	fmt.Println(result.Content[0].(*mcp.TextContent).Text)
	return 0
}

// TestMCPInsideOfARun: what an MCP client of the command asks for by standard input
// and output is answered by the session of the run, and counted there.
func TestMCPInsideOfARun(t *testing.T) {
	t.Setenv(childEnv, "1")
	r := tapeCmd(t, "", "run", mcpFile(t), "--", os.Args[0], "mcp", "mcp", "--name", "git")
	require.Equal(t, exitOK, r.code, r.err)
	assert.Equal(t, "three commits\n", r.out)
	assert.Contains(t, r.err, "steps 1, hits 1")
}

func TestMCPWithoutATape(t *testing.T) {
	var stderr bytes.Buffer
	code := Main([]string{"mcp"}, Streams{In: &bytes.Buffer{}, Out: &bytes.Buffer{}, Err: &stderr, Env: func(string) string { return "" }})
	assert.Equal(t, exitUsage, code)
	assert.Contains(t, stderr.String(), "outside of tape run there is none that runs")
	stderr.Reset()
	code = Main([]string{"mcp"}, Streams{In: &bytes.Buffer{}, Out: &bytes.Buffer{}, Err: &stderr, Env: func(name string) string {
		return map[string]string{urlEnv: "http://127.0.0.1:1"}[name]
	}})
	assert.Equal(t, exitMissing, code)
	assert.Contains(t, stderr.String(), "http://127.0.0.1:1/mcp/")
}
