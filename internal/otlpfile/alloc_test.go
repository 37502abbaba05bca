//go:build !race

// The race detector makes pools forget, and forgetting allocates.

package otlpfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// Reading a file allocates at most a quarter more than pdata does for the spans that
// are in it: cutting and checking hold nothing of a document.
func TestReadingAllocatesLittleBesideTheSpans(t *testing.T) {
	in, err := os.ReadFile("testdata/any-agent/otlp.jsonl")
	require.NoError(t, err)
	var proto []byte
	var decoded []ptrace.Traces
	for line := range bytes.Lines(in) {
		proto = append(proto, framed(tracesProto(t, string(line)))...)
		td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
		require.NoError(t, err)
		decoded = append(decoded, td)
	}
	bare := map[string]float64{
		"JSON": testing.AllocsPerRun(10, func() {
			for line := range bytes.Lines(in) {
				_, _ = (&ptrace.JSONUnmarshaler{}).UnmarshalTraces(line)
			}
		}),
		"protobuf": protoAllocs(t, decoded),
	}
	for name, text := range map[string][]byte{"JSON": in, "protobuf": proto} {
		got := testing.AllocsPerRun(10, func() {
			r := NewReader("in", bytes.NewReader(text))
			for {
				if _, err := r.Next(); err != nil {
					require.True(t, errors.Is(err, io.EOF), "%v", err)
					break
				}
			}
		})
		assert.LessOrEqual(t, got, 1.25*bare[name], "%s: %.0f without reading a file", name, bare[name])
	}
}

func protoAllocs(t *testing.T, documents []ptrace.Traces) float64 {
	var encoded [][]byte
	for _, td := range documents {
		b, err := (&ptrace.ProtoMarshaler{}).MarshalTraces(td)
		require.NoError(t, err)
		encoded = append(encoded, b)
	}
	return testing.AllocsPerRun(10, func() {
		for _, b := range encoded {
			_, _ = (&ptrace.ProtoUnmarshaler{}).UnmarshalTraces(b)
		}
	})
}
