package api_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

func TestTheBundleOfAKeptRun(t *testing.T) {
	f := newFixture(t)
	w := f.get("/v1/tapes/" + kept + "/bundle")
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	assert.Equal(t, "application/gzip", w.Header().Get("Content-Type"))
	assert.Equal(t, `attachment; filename="`+kept+`.tar.gz"`, w.Header().Get("Content-Disposition"))
	unzip, err := gzip.NewReader(w.Body)
	require.NoError(t, err)
	archive := tar.NewReader(unzip)
	var names []string
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		names = append(names, h.Name)
		if h.Name == kept+"/tape.jsonl" {
			tp, err := tape.ReadAll(archive)
			require.NoError(t, err)
			assert.JSONEq(t, big, string(tp.Records[0].Result), "bodies are inside")
		}
	}
	assert.Equal(t, []string{
		kept + "/README.md", kept + "/bundle.json", kept + "/tape.jsonl",
		kept + "/tape.py", kept + "/tape.mjs", kept + "/tape.d.mts",
	}, names)
	assert.Equal(t, []string{"read_bundle " + kept + " by alice"}, f.audits())
	assert.Equal(t, []string{"bundle OK"}, f.seen)
}

func TestNoBundleWithoutATape(t *testing.T) {
	f := newFixture(t)
	for id, code := range map[string]string{unknown: "not_found", summarised: "summarised", pending: "pending", "x": "bad_trace_id"} {
		assert.Equal(t, code, failureOf(t, f.get("/v1/tapes/"+id+"/bundle")).Error.Code)
	}
}
