package otlpfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// FuzzReader: no input panics, hangs or yields a span without ids, and what was
// read survives being written as OTLP JSON and read again.
func FuzzReader(f *testing.F) {
	real, err := os.ReadFile("testdata/any-agent/otlp.jsonl")
	require.NoError(f, err)
	f.Add(real[:bytes.IndexByte(real, '\n')])
	for _, s := range []string{
		span(`,"attributes":[{"key":"a","value":{"kvlistValue":{"values":[{"key":"","value":{"doubleValue":1e5}}]}}}]`),
		logDoc, "[" + span("") + "]", "\n\n{}", `{"resourceSpans":null}`, `{"resourceSpans":[{"scopeSpans":[null]}]}`,
		"\x0a\x00", "\x00\x00\x00\x02\x0a\x00", string(gzipMagic), string(zstdMagic),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(fuzzReader)
}

func fuzzReader(t *testing.T, in []byte) {
	r := NewReader("fuzz", bytes.NewReader(in), WithMaxDocument(1<<20))
	defer func() { _ = r.Close() }()
	for {
		d, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			var e *Error
			require.ErrorAs(t, err, &e)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		checkIDs(t, d.Traces)
		again, err := (&ptrace.JSONMarshaler{}).MarshalTraces(d.Traces)
		require.NoError(t, err)
		if d.Traces.SpanCount() == 0 {
			continue
		}
		back, err := NewReader("again", bytes.NewReader(again)).Next()
		require.NoError(t, err)
		require.Equal(t, d.Traces.SpanCount(), back.Traces.SpanCount())
	}
}

func checkIDs(t *testing.T, td ptrace.Traces) {
	for _, rs := range td.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, s := range ss.Spans().All() {
				require.False(t, s.TraceID().IsEmpty())
				require.False(t, s.SpanID().IsEmpty())
			}
		}
	}
}
