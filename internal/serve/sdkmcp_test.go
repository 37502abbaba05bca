package serve

import (
	"encoding/json"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// TestOfficialSDKsOfMCP: the clients of the protocol's own SDKs list the tools of a
// tape and call them; what is not on it is thrown, not a result.
func TestOfficialSDKsOfMCP(t *testing.T) {
	records := []tape.Record{
		{Seq: 1, Tool: "weather", Args: json.RawMessage(`{"city":"Graz"}`), Result: json.RawMessage(`"4 °C"`)},
		{Seq: 2, Tool: "weather", Args: json.RawMessage(`{"city":"Linz"}`), Result: json.RawMessage(
			`{"content":[{"type":"text","text":"5 °C"}],"structuredContent":{"c":5},"isError":false}`)},
		{Seq: 3, Tool: "weather", Args: json.RawMessage(`{"city":"Rome"}`), Error: &tape.Error{Message: "no such city", Type: "ToolError"}},
	}
	for i := range records {
		records[i].Key, _ = tape.Key(records[i].Tool, records[i].Args)
	}
	for language, argv := range sdks(t) {
		t.Run(language, func(t *testing.T) {
			h, s := modelServer(t, records)
			server := httptest.NewServer(h)
			defer server.Close()
			defer func() { assert.NoError(t, h.mcp.Close()) }()
			program := filepath.Join(filepath.Dir(argv[1]), map[string]string{"python": "mcpclient.py", "node": "mcpclient.mjs"}[language])
			cmd := exec.Command(argv[0], program, server.URL+"/mcp", "weather", `{"city":"Graz"}`, "weather", `{"city":"Linz"}`,
				"weather", `{"city":"Rome"}`, "weather", `{"city":"Graz"}`)
			var errs strings.Builder
			cmd.Stderr = &errs
			out, err := cmd.Output()
			require.NoError(t, err, errs.String())
			said := strings.Split(strings.TrimSpace(string(out)), "\n")
			require.Len(t, said, 5)
			assert.JSONEq(t, `["weather"]`, said[0])
			assert.JSONEq(t, `{"failed":false,"text":["4 °C"],"structured":null}`, said[1])
			assert.JSONEq(t, `{"failed":false,"text":["5 °C"],"structured":{"c":5}}`, said[2])
			assert.JSONEq(t, `{"failed":true,"text":["no such city"],"structured":null}`, said[3])
			assert.Contains(t, said[4], `"thrown"`)
			assert.Contains(t, said[4], "exhausted")
			require.ErrorIs(t, s.Close(), replay.ErrExhausted)
			assert.Zero(t, s.Stats().Unconsumed)
		})
	}
}
