package python

import (
	"errors"
	"io"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/serve"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// The agent runs what is live itself, whichever way its model decides.
func TestTheAgentForks(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 here")
	}
	read, err := tape.ReadFile("../../replay/testdata/gate.jsonl")
	require.NoError(t, err)
	live := replay.Live{Isolated: true, Kinds: []tape.Kind{tape.KindModel}, Tools: []string{"publish"}, SideEffects: true}
	session, err := replay.New(read, replay.WithFork(2, live), replay.WithAuditLog(slog.New(slog.NewTextHandler(io.Discard, nil))))
	require.NoError(t, err)
	server := httptest.NewServer(serve.New(session))
	defer server.Close()
	cmd := exec.Command(python, "fork.py")
	cmd.Env = append(os.Environ(), "TAPE_URL="+server.URL, "http_proxy=http://127.0.0.1:1", "PYTHONDONTWRITEBYTECODE=1")
	out, err := cmd.CombinedOutput()
	calls := 2
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		require.Equal(t, 3, exit.ExitCode(), string(out))
		calls = 1
	}
	require.NoError(t, session.Close())
	assert.Equal(t, calls, session.Stats().LiveToolCalls)
	assert.Equal(t, 1, session.Stats().TapeHits)
}
