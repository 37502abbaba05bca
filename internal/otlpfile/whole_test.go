package otlpfile

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// exports are one file of each format, in this package's words.
func exports(t *testing.T) map[string][]byte {
	t.Helper()
	files, err := filepath.Glob("testdata/foreign/*.*")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	out := map[string][]byte{}
	for _, file := range files {
		in, err := os.ReadFile(file)
		require.NoError(t, err)
		out[filepath.Base(file)] = bytes.TrimSpace(in)
	}
	otlp := tracesProto(t, string(out["otlp.json"]))
	out["OTLP protobuf, size-prefixed"] = framed(otlp)
	return out
}

func TestSeveralDocumentsOfEveryFormatAreAllRead(t *testing.T) {
	for name, in := range exports(t) {
		t.Run(name, func(t *testing.T) {
			one, err := readAllDocs(t, in)
			require.NoError(t, err)
			require.Positive(t, spanCount(one))
			sep := []byte("\n")
			if in[0] != '{' && in[0] != '[' {
				sep = nil
			}
			three, err := readAllDocs(t, bytes.Join([][]byte{in, in, in}, sep))
			require.NoError(t, err)
			assert.Len(t, three, 3*len(one))
			assert.Equal(t, 3*spanCount(one), spanCount(three))
			zipped, err := readAllDocs(t, gz(t, bytes.Join([][]byte{in, in}, sep)))
			require.NoError(t, err)
			assert.Equal(t, 2*spanCount(one), spanCount(zipped))
		})
	}
}

// A file that was cut is an error wherever the cut is, unless it is between two
// documents, which nothing in the file shows.
func TestACutFileOfEveryFormatIsAnError(t *testing.T) {
	for name, in := range exports(t) {
		t.Run(name, func(t *testing.T) {
			ends := map[int]bool{}
			whole, err := readAllDocs(t, in)
			require.NoError(t, err)
			if len(whole) > 1 && in[0] == '{' {
				for i := range in {
					ends[i] = in[i] == '\n' && i+1 < len(in) && in[i+1] == '{'
				}
			}
			step := max(1, len(in)/97)
			for cut := len(in) - 1; cut > 0; cut -= step {
				docs, err := readAllDocs(t, in[:cut])
				if ends[cut] || ends[cut-1] {
					continue
				}
				require.Error(t, err, "cut at byte %d of %d", cut, len(in))
				assert.Less(t, spanCount(docs), spanCount(whole))
			}
		})
	}
}
