package e2e

import (
	"bytes"
	"context"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/harness"
	"github.com/tapedeck/tapedeck/internal/walk/walktest"
)

// A secret in every string and bytes field a trace can hold is nowhere to be
// found afterwards: not in the store, the index, the log, the metrics or any
// answer.
func TestASecretInEveryFieldIsNowhere(t *testing.T) {
	for name, settings := range map[string][]string{
		"kept":          nil,
		"summarised":    {"processors::tape::keep::outcomes=[succeeded]"},
		"bodies moved":  {"processors::tape::offload::threshold=8"},
		"many requests": {"processors::tape::max_request_bytes=2000"},
	} {
		t.Run(name, func(t *testing.T) {
			c := start(t, append(settings, "service::telemetry::logs::level=debug")...)
			td, planted := walktest.Traces()
			require.NotEmpty(t, planted)
			body, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
			require.NoError(t, err)
			require.NotEmpty(t, walktest.Leaks(body, planted), "the canaries are in what is sent")
			status, err := c.SendProto(context.Background(), body)
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, status)
			id := walktest.TraceID.String()
			if name == "summarised" {
				awaitStatus(t, c, id, http.StatusNotFound, "summarised")
			} else {
				awaitStatus(t, c, id, http.StatusOK, "")
			}
			// A late span takes another way through the processor.
			status, err = c.SendProto(context.Background(), body)
			require.NoError(t, err)
			require.Equal(t, http.StatusOK, status)

			seen := 0
			look := func(place string, content []byte) {
				seen++
				for _, leak := range walktest.Leaks(content, planted) {
					assert.Fail(t, "leak", "%s: %s", place, leak.Place)
				}
				assert.NotContains(t, strings.ToLower(string(content)), strings.ToLower(walktest.Mark), place)
			}
			answers(t, c, id, look)
			storeFiles(t, c.StoreDir(), look)
			log, err := os.ReadFile(c.LogPath())
			require.NoError(t, err)
			look("log", log)
			for _, args := range [][]string{{"ls", "--json"}, {"pull", id}} {
				stdout, stderr, _ := cli(t, c, args...)
				look("tape "+args[0], []byte(stdout+stderr))
			}
			assert.Greater(t, seen, 8)
		})
	}
}

// answers looks at everything the collector says over HTTP.
func answers(t *testing.T, c *harness.Collector, id string, look func(string, []byte)) {
	t.Helper()
	for _, path := range []string{
		"/v1/tapes", "/v1/tapes/" + id, "/v1/tapes/" + id + "?bodies=ref", "/v1/tapes/" + id + "?bare=1", "/v1/tapes/" + id + "/trace",
	} {
		_, body, err := harness.Get(context.Background(), c.API+path)
		require.NoError(t, err)
		look(path, body)
	}
	req, err := http.NewRequest(http.MethodGet, c.API+"/v1/tapes/"+id+"/trace", nil)
	require.NoError(t, err)
	req.Header.Set("Accept", "application/x-protobuf")
	resp, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	look("trace as protobuf", body)
	_, body, err = harness.Get(context.Background(), c.Metrics)
	require.NoError(t, err)
	look("metrics", body)
}

// storeFiles looks at every file of the store, by name and by content, packed and
// unpacked.
func storeFiles(t *testing.T, dir string, look func(string, []byte)) {
	t.Helper()
	require.NoError(t, filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		look("file name", []byte(path))
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		look(path, content)
		if strings.HasSuffix(path, ".zst") {
			r, err := zstd.NewReader(bytes.NewReader(content))
			if err != nil {
				return err
			}
			defer r.Close()
			if content, err = io.ReadAll(r); err != nil {
				return err
			}
			look(path+" unpacked", content)
		}
		return nil
	}))
}
