package serve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// job is a request for an official SDK.
type job struct {
	Family string          `json:"family"`
	Base   string          `json:"base"`
	Body   json.RawMessage `json:"body"`
}

// sdks are the programs that ask by the official SDKs of a language. They are where
// make interop puts them, which says so in TAPEDECK_INTEROP.
func sdks(t *testing.T) map[string][]string {
	t.Helper()
	dir := os.Getenv("TAPEDECK_INTEROP")
	if dir == "" {
		t.Skip("TAPEDECK_INTEROP is not set: run make interop")
	}
	return map[string][]string{
		"python": {filepath.Join(dir, "venv", "bin", "python"), filepath.Join(dir, "sdk", "sdks.py")},
		"node":   {"node", filepath.Join(dir, "sdk", "sdks.mjs")},
	}
}

// askSDK lets a program do jobs and returns what it says of each.
func askSDK(t *testing.T, argv []string, jobs []job) []json.RawMessage {
	t.Helper()
	var input, errOut bytes.Buffer
	encoder := json.NewEncoder(&input)
	for _, j := range jobs {
		require.NoError(t, encoder.Encode(j))
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stdin, cmd.Stderr = &input, &errOut
	out, err := cmd.Output()
	require.NoError(t, err, errOut.String())
	var said []json.RawMessage
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 4<<20)
	for lines.Scan() {
		said = append(said, bytes.Clone(lines.Bytes()))
	}
	require.Len(t, said, len(jobs), errOut.String())
	return said
}

// base is the base URL of a cassette's client: SDKs add the rest of the path.
func (c *cassette) base() string {
	base := c.path()
	for _, rest := range []string{"/chat/completions", "/responses", "/v1/messages"} {
		if head, _, ok := strings.Cut(base, rest); ok {
			return head
		}
	}
	return base
}

// TestOfficialSDKsMakeTheSameOfOurAnswers: for every exchange with a real API, the
// SDK of the provider makes of an answer from a tape what it makes of the recorded
// bytes, but for what the table of losses names.
func TestOfficialSDKsMakeTheSameOfOurAnswers(t *testing.T) {
	programs := sdks(t)
	var list []cassette
	for _, c := range cassettes(t) {
		if c.streamError(t).IsNull() {
			list = append(list, c)
		}
	}
	for language, argv := range programs {
		t.Run(language, func(t *testing.T) {
			mux := http.NewServeMux()
			server := httptest.NewServer(mux)
			defer server.Close()
			var jobs []job
			sessions := make([]*replay.Session, len(list))
			for i := range list {
				c := &list[i]
				var h *Server
				h, sessions[i] = modelServer(t, []tape.Record{c.record(t)})
				bytesAt, tapeAt := fmt.Sprintf("/bytes/%d", i), fmt.Sprintf("/tape/%d", i)
				mux.HandleFunc(bytesAt+"/", c.serve)
				mux.Handle(tapeAt+"/", http.StripPrefix(tapeAt, h))
				for _, at := range []string{bytesAt, tapeAt} {
					jobs = append(jobs, job{c.Family, server.URL + at + c.base(), json.RawMessage(c.Request)})
				}
			}
			said, compared := askSDK(t, argv, jobs), 0
			for i := range list {
				c := &list[i]
				want, got := parsed(t, said[2*i]), parsed(t, said[2*i+1])
				if want.Has("message") && want.Has("error") || strings.Contains(string(said[2*i]), "[object Object]") {
					t.Logf("%d %s: not for this SDK: %s", i, c.Family, want.At("message").Str())
					continue
				}
				compared++
				assert.NoError(t, sessions[i].Close(), "%d %s", i, c.Source)
				differences, err := replay.Diff(parsedArguments(want).Append(nil), parsedArguments(got).Append(nil))
				require.NoError(t, err)
				for _, d := range differences {
					path := index.ReplaceAllString(d.Path, "[]")
					if !known(path, lossTable[c.Family]) && !c.harmless(path, d) {
						t.Errorf("%d %s: %s: %s (%s)", i, c.Family, path, d, c.Source)
					}
				}
			}
			t.Logf("%d of %d exchanges compared", compared, len(list))
			assert.Greater(t, compared, len(list)*9/10)
		})
	}
}

// serve answers with the recorded bytes.
func (c *cassette) serve(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[c.SSE])
	w.WriteHeader(c.Status)
	_, _ = w.Write([]byte(c.Response))
}

func parsed(t *testing.T, text []byte) value.Value {
	t.Helper()
	v, err := value.Parse(string(text))
	require.NoError(t, err)
	return v
}
