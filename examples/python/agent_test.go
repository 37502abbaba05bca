// Package python tests the example beside it, where there is a Python.
package python

import (
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/serve"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// recorded is what the collector makes of a run of the agent.
const recorded = `{"seq":1,"tool":"search","args":{"query":"record and replay","limit":3},"result":["one two","three four"]}
{"seq":2,"tool":"shorten","args":{"text":"one two; three four","max_words":6},"result":"one two; three"}
{"seq":3,"tool":"publish","args":{"body":"one two; three","token":"[REDACTED:token]"},"error":{"message":"503 Service Unavailable","type":"ToolError"}}
`

func TestTheAgentReplays(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 here")
	}
	run := func(arguments ...string) (*replay.Session, string) {
		read, err := tape.ReadAll(strings.NewReader(recorded))
		require.NoError(t, err)
		session, err := replay.New(read)
		require.NoError(t, err)
		server := httptest.NewServer(serve.New(session))
		defer server.Close()
		cmd := exec.Command(python, append([]string{"agent.py"}, arguments...)...)
		cmd.Env = append(os.Environ(), "TAPE_URL="+server.URL, "http_proxy=http://127.0.0.1:1", "PYTHONDONTWRITEBYTECODE=1")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		require.ErrorAs(t, err, &exit)
		assert.Equal(t, 1, exit.ExitCode())
		return session, string(out)
	}
	session, out := run()
	assert.Equal(t, "agent: 503 Service Unavailable\n", out, "it fails as it failed")
	require.NoError(t, session.Close())

	session, out = run("3")
	assert.Contains(t, out, "shorten: drift at step 2: ")
	assert.Contains(t, out, "max_words 6 -> 3")
	require.ErrorIs(t, session.Close(), replay.ErrDrift)
}
