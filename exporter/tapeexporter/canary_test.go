package tapeexporter

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/internal/walk/walktest"
)

// A secret in any string a trace can hold is found nowhere behind the exporter,
// also when no processor stands in front of it.
func TestNoCanaryGetsThrough(t *testing.T) {
	f := start(t, plain())
	td, planted := walktest.Traces()
	require.NotEmpty(t, planted)
	require.NoError(t, f.ConsumeTraces(t.Context(), td))

	var out bytes.Buffer
	for _, name := range f.host.Backend.Names() {
		out.WriteString(name)
		raw := storetest.Read(t, f.host.Backend, name)
		out.WriteString(raw)
		if plain, err := zstd.NewReader(bytes.NewReader([]byte(raw))); err == nil {
			_, _ = io.Copy(&out, plain)
			plain.Close()
		}
	}
	id := walktest.TraceID.String()
	for _, path := range []string{"/v1/tapes", "/v1/tapes/" + id, "/v1/tapes/" + id + "/trace"} {
		status, body := get(t, f.url(t)+path)
		assert.Equal(t, 200, status, path)
		out.WriteString(body)
	}
	for _, entry := range f.logs.All() {
		out.WriteString(entry.Message)
		text, err := json.Marshal(entry.ContextMap())
		require.NoError(t, err)
		out.Write(text)
	}
	assert.Positive(t, out.Len())
	assert.Empty(t, walktest.Leaks(out.Bytes(), planted))
}
