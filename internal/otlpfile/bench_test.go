package otlpfile

import (
	"bytes"
	"errors"
	"io"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

func BenchmarkReadJSON(b *testing.B) {
	in, err := os.ReadFile("testdata/any-agent/otlp.jsonl")
	require.NoError(b, err)
	benchmarkRead(b, in)
}

func BenchmarkReadProto(b *testing.B) {
	in, err := os.ReadFile("testdata/any-agent/otlp.jsonl")
	require.NoError(b, err)
	var out []byte
	for line := range bytes.Lines(in) {
		out = append(out, framed(tracesProto(b, string(line)))...)
	}
	benchmarkRead(b, out)
}

func benchmarkRead(b *testing.B, in []byte) {
	b.SetBytes(int64(len(in)))
	b.ReportAllocs()
	for b.Loop() {
		r := NewReader("bench", bytes.NewReader(in))
		for {
			_, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			require.NoError(b, err)
		}
	}
}
