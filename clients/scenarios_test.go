package clients_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

var update = flag.Bool("update", false, "write what package replay answers to testdata/scenarios.jsonl")

const scenariosFile = "testdata/scenarios.jsonl"

// scenario is a tape, calls and what comes of them. Package replay and both clients run
// the same ones. Values are JSON text, so that numbers stay as they are spelled.
type scenario struct {
	Name  string      `json:"name"`
	Mode  string      `json:"mode"`
	Kinds []tape.Kind `json:"kinds,omitempty"`
	Tape  []string    `json:"tape"`
	Calls []call      `json:"calls"`
	// Close is the message of the error that closing gives, "" for none.
	Close string          `json:"close"`
	Stats json.RawMessage `json:"stats"`
}

type call struct {
	Tool string    `json:"tool"`
	Args string    `json:"args"`
	Kind tape.Kind `json:"kind,omitempty"`
	// Live is what the tool returns where it runs; without it, it must not run.
	Live string `json:"live,omitempty"`
	Want want   `json:"want"`
}

type want struct {
	Result  string       `json:"result,omitempty"`
	Error   *failedCall  `json:"error,omitempty"`
	Verdict string       `json:"verdict,omitempty"`
	Message string       `json:"message,omitempty"`
	Places  []difference `json:"differences,omitempty"`
}

type failedCall struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Type    string `json:"type"`
}

type difference struct {
	Path     string `json:"path"`
	Recorded string `json:"recorded,omitempty"`
	Live     string `json:"live,omitempty"`
}

// TestScenarios holds package replay to the file that the clients are held to.
func TestScenarios(t *testing.T) {
	text, err := os.ReadFile(scenariosFile)
	require.NoError(t, err)
	var out bytes.Buffer
	for line := range strings.Lines(string(text)) {
		var s scenario
		require.NoError(t, json.Unmarshal([]byte(line), &s))
		t.Run(s.Name, func(t *testing.T) {
			got := run(t, s)
			written, err := json.Marshal(s)
			require.NoError(t, err)
			answered, err := json.Marshal(got)
			require.NoError(t, err)
			if !*update {
				assert.JSONEq(t, string(written), string(answered))
			}
			encoder := json.NewEncoder(&out)
			encoder.SetEscapeHTML(false)
			require.NoError(t, encoder.Encode(got))
		})
	}
	if *update {
		require.NoError(t, os.WriteFile(scenariosFile, out.Bytes(), 0o644))
	}
}

// run makes the calls of a scenario and returns it with what came of them.
func run(t *testing.T, s scenario) scenario {
	file := filepath.Join(t.TempDir(), "run.jsonl")
	require.NoError(t, os.WriteFile(file, []byte(strings.Join(s.Tape, "\n")+"\n"), 0o600))
	mode := replay.ModeStrict
	if s.Mode != "replay" {
		require.NoError(t, mode.UnmarshalText([]byte(s.Mode)))
	}
	session, err := replay.Open(file, replay.WithMode(mode), replay.WithKinds(s.Kinds...))
	require.NoError(t, err)
	calls := make([]call, len(s.Calls))
	for i, c := range s.Calls {
		request := replay.Request{Kind: c.Kind, Tool: c.Tool, Args: json.RawMessage(c.Args)}
		if c.Live != "" {
			request.Live = func(context.Context) (any, error) { return json.RawMessage(c.Live), nil }
		}
		answer, err := session.Ask(context.Background(), request)
		c.Want = wanted(t, answer, err)
		calls[i] = c
	}
	s.Calls, s.Close = calls, ""
	if err := session.Close(); err != nil {
		s.Close = err.Error()
	}
	s.Stats, err = json.Marshal(session.Stats())
	require.NoError(t, err)
	return s
}

func wanted(t *testing.T, answer replay.Answer, err error) want {
	if err != nil {
		event, ok := replay.EventOf(err)
		require.True(t, ok, err)
		w := want{Verdict: string(event.Verdict), Message: event.Message}
		for _, d := range event.Differences {
			w.Places = append(w.Places, difference{d.Path, string(d.Recorded), string(d.Live)})
		}
		return w
	}
	var w want
	compact := &bytes.Buffer{}
	if len(answer.Result) > 0 {
		require.NoError(t, json.Compact(compact, answer.Result))
	}
	w.Result = compact.String()
	if w.Result == "" {
		w.Result = "null"
	}
	if answer.Error != nil {
		w.Error = &failedCall{answer.Error.Code, answer.Error.Message, answer.Error.Type}
	}
	return w
}
