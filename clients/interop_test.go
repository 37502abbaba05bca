package clients_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/ingest"
	"github.com/tapedeck/tapedeck/internal/serve"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

const callsFile = "testdata/calls.jsonl"

// agent makes the calls in a file and returns what came of them, one line each. ran is
// a file that is there if a tool ran.
type agent func(t *testing.T, calls, ran string, env ...string) (output string, clean bool)

// agents are the same program in three languages. Each looks at TAPE_FILE and TAPE_MODE;
// those in other languages than Go also at TAPE_URL.
func agents(t *testing.T) map[string]agent {
	found := map[string]agent{"go": goAgent}
	for name, argv := range map[string][]string{"python": {"python3", "testdata/agent.py"}, "node": {"node", "testdata/agent.mjs"}} {
		if _, err := exec.LookPath(argv[0]); err != nil {
			t.Logf("no %s here", argv[0])
			continue
		}
		found[name] = func(t *testing.T, calls, ran string, env ...string) (string, bool) {
			cmd := exec.Command(argv[0], append(argv[1:], calls, ran)...)
			cmd.Env = append(os.Environ(), append(env, "PYTHONPATH=python", "PYTHONDONTWRITEBYTECODE=1")...)
			var stderr bytes.Buffer
			cmd.Stderr = &stderr
			out, err := cmd.Output()
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				assert.Equal(t, 1, exit.ExitCode(), stderr.String())
			} else {
				require.NoError(t, err)
			}
			return string(out), err == nil
		}
	}
	return found
}

// ToolError has the name that the other agents give their own.
type ToolError string

func (e ToolError) Error() string { return string(e) }

func goAgent(t *testing.T, calls, ran string, env ...string) (string, bool) {
	file, mode := "", replay.ModeStrict
	for _, set := range env {
		switch name, value, _ := strings.Cut(set, "="); name {
		case "TAPE_FILE":
			file = value
		case "TAPE_MODE":
			require.NoError(t, mode.UnmarshalText([]byte(value)))
		}
	}
	session, err := replay.Open(file, replay.WithMode(mode))
	require.NoError(t, err)
	text, err := os.ReadFile(calls)
	require.NoError(t, err)
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		var call struct {
			Tool         string
			Args, Result json.RawMessage
			Error        string
		}
		require.NoError(t, json.Unmarshal([]byte(line), &call))
		result, err := session.Call(context.Background(), call.Tool, call.Args, func(context.Context) (any, error) {
			require.NoError(t, os.WriteFile(ran, nil, 0o600))
			if call.Error != "" {
				return nil, ToolError(call.Error)
			}
			return call.Result, nil
		})
		came := map[string]any{"result": result}
		if err != nil {
			came = map[string]any{"failed": err.Error()}
			if event, isVerdict := replay.EventOf(err); isVerdict {
				came = map[string]any{"verdict": event.Verdict, "message": event.Message}
			}
		}
		encoder := json.NewEncoder(&out)
		encoder.SetEscapeHTML(false)
		require.NoError(t, encoder.Encode(came))
	}
	return out.String(), session.Close() == nil
}

// canonical makes outputs comparable, since each language spells JSON its way.
func canonical(t *testing.T, output string) string {
	var all []string
	for line := range strings.Lines(output) {
		form, err := tape.Canonical([]byte(line))
		require.NoError(t, err, line)
		all = append(all, string(form))
	}
	return strings.Join(all, "\n")
}

func TestTapesGoBackAndForth(t *testing.T) {
	every := agents(t)
	for recorder, record := range every {
		file, ran := filepath.Join(t.TempDir(), "run.jsonl"), filepath.Join(t.TempDir(), "ran")
		live, clean := record(t, callsFile, ran, "TAPE_FILE="+file, "TAPE_MODE=record")
		require.True(t, clean)
		require.FileExists(t, ran)
		recorded, err := tape.ReadFile(file)
		require.NoError(t, err)
		assert.Empty(t, tape.Verify(recorded), "a tape of %s is a right one", recorder)
		require.Len(t, recorded.Records, 7)
		assert.Equal(t, "503 Service Unavailable", recorded.Records[6].Error.Message)

		for player, play := range every {
			t.Run("from "+recorder+" to "+player, func(t *testing.T) {
				ran := filepath.Join(t.TempDir(), "ran")
				output, clean := play(t, callsFile, ran, "TAPE_FILE="+file)
				assert.Equal(t, canonical(t, live), canonical(t, output))
				assert.True(t, clean)
				assert.NoFileExists(t, ran, "nothing runs in a replay")
			})
			if player == "go" {
				continue
			}
			t.Run("from "+recorder+" over a server to "+player, func(t *testing.T) {
				session, err := replay.Open(file)
				require.NoError(t, err)
				server := httptest.NewServer(serve.New(session))
				defer server.Close()
				ran := filepath.Join(t.TempDir(), "ran")
				output, clean := play(t, callsFile, ran, "TAPE_URL="+server.URL, "http_proxy=http://127.0.0.1:1")
				assert.Equal(t, canonical(t, live), canonical(t, output))
				assert.True(t, clean)
				assert.NoFileExists(t, ran)
				assert.NoError(t, session.Close())
			})
		}
		t.Run("from "+recorder+" through the collector", func(t *testing.T) {
			runs := ingest.Traces(recorded, ingest.Options{Now: time.Unix(1, 0), Service: "agent"})
			require.Len(t, runs, 1)
			again := dialect.Translate(runs[0].Traces, dialect.Options{})
			require.Len(t, again, 1)
			back := filepath.Join(t.TempDir(), "back.jsonl")
			require.NoError(t, tape.WriteFile(back, again[0]))
			for player, play := range every {
				output, clean := play(t, callsFile, filepath.Join(t.TempDir(), "ran"), "TAPE_FILE="+back)
				assert.Equal(t, canonical(t, live), canonical(t, output), player)
				assert.True(t, clean, player)
			}
		})
	}
}

func TestEveryLanguageSaysTheSameOfADrift(t *testing.T) {
	text, err := os.ReadFile(callsFile)
	require.NoError(t, err)
	changed := filepath.Join(t.TempDir(), "calls.jsonl")
	altered := strings.Replace(strings.Replace(string(text), `"limit":3`, `"limit":4`, 1), `"tool":"poll"`, `"tool":"pull"`, 1)
	require.NoError(t, os.WriteFile(changed, []byte(altered), 0o600))
	file := filepath.Join(t.TempDir(), "run.jsonl")
	_, clean := goAgent(t, callsFile, filepath.Join(t.TempDir(), "ran"), "TAPE_FILE="+file, "TAPE_MODE=record")
	require.True(t, clean)
	want, clean := goAgent(t, changed, "", "TAPE_FILE="+file)
	require.False(t, clean)
	require.Contains(t, want, "limit 3 -> 4")
	require.Contains(t, want, `"verdict":"miss"`)
	for name, play := range agents(t) {
		output, clean := play(t, changed, filepath.Join(t.TempDir(), "ran"), "TAPE_FILE="+file)
		assert.Equal(t, canonical(t, want), canonical(t, output), name)
		assert.False(t, clean, name)
	}
}
