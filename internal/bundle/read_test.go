package bundle

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// A bundle is read as it was written.
func TestReadIsTheReverseOfWriteTar(t *testing.T) {
	const hash = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // of "hello"
	made, err := New(Content{
		Records: slices.Values([]tape.Record{{Seq: 1, Tool: "t", Bodies: []tape.Body{{SHA256: hash, Bytes: 5}}}}),
		Body:    func(string) ([]byte, error) { return []byte("hello"), nil },
	})
	require.NoError(t, err)
	var packed bytes.Buffer
	require.NoError(t, made.WriteTar(&packed))
	got, err := Read(&packed)
	require.NoError(t, err)
	assert.Equal(t, map[string][]byte{hash: []byte("hello")}, got.Bodies)
	read, err := tape.ReadAll(bytes.NewReader(got.Tape))
	require.NoError(t, err)
	assert.Equal(t, hash, read.Records[0].Bodies[0].SHA256)
}

// archive packs files, of which those whose names end in @ are links.
func archive(t *testing.T, files ...[2]string) *bytes.Buffer {
	t.Helper()
	var out bytes.Buffer
	packer := gzip.NewWriter(&out)
	w := tar.NewWriter(packer)
	for _, f := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f[0], Size: int64(len(f[1])), Mode: 0o600}
		if name, isLink := strings.CutSuffix(f[0], "@"); isLink {
			header = &tar.Header{Typeflag: tar.TypeSymlink, Name: name, Linkname: f[1]}
		}
		require.NoError(t, w.WriteHeader(header))
		if header.Size > 0 {
			_, err := w.Write([]byte(f[1]))
			require.NoError(t, err)
		}
	}
	require.NoError(t, w.Close())
	require.NoError(t, packer.Close())
	return &out
}

func TestReadPassesOverWhatIsNoPartOfABundle(t *testing.T) {
	got, err := Read(archive(t,
		[2]string{"x/bodies/../../etc/passwd", "a"}, [2]string{"x/bodies/short", "b"}, [2]string{"tape.jsonl", "outside"},
		[2]string{"x/bodies/" + strings.Repeat("a", 64) + "@", "/etc/passwd"}, [2]string{"x/tape.jsonl", "{}"},
	))
	require.NoError(t, err)
	assert.Equal(t, "{}", string(got.Tape))
	assert.Empty(t, got.Bodies)

	_, err = Read(archive(t, [2]string{"x/README.md", "hello"}))
	require.ErrorIs(t, err, ErrNoBundle)
	cut := archive(t, [2]string{"x/tape.jsonl", strings.Repeat("{}", 1000)})
	cut.Truncate(cut.Len() / 2)
	_, err = Read(cut)
	require.Error(t, err)
	_, err = Read(strings.NewReader("no archive"))
	require.Error(t, err)
}
