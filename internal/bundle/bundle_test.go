package bundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/bundle"
	"github.com/tapedeck/tapedeck/tape"
)

const id = "0102030405060708090a0b0c0d0e0f10"

func hashOf(data string) string {
	sum := sha256.Sum256([]byte(data))
	return hex.EncodeToString(sum[:])
}

func content(m *tape.Manifest, records ...tape.Record) bundle.Content {
	return bundle.Content{Manifest: m, Records: slices.Values(records)}
}

func record(bodies ...tape.Body) tape.Record {
	return tape.Record{Seq: 1, Tool: "fetch", Args: []byte(`{"a":1}`), Bodies: bodies}
}

func untar(t *testing.T, packed []byte) map[string]string {
	t.Helper()
	unzip, err := gzip.NewReader(bytes.NewReader(packed))
	require.NoError(t, err)
	archive := tar.NewReader(unzip)
	files := map[string]string{}
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		require.NoError(t, err)
		assert.Equal(t, int64(0o600), h.Mode, h.Name)
		data, err := io.ReadAll(archive)
		require.NoError(t, err)
		files[h.Name] = string(data)
	}
}

func pack(t *testing.T, c bundle.Content) []byte {
	t.Helper()
	b, err := bundle.New(c)
	require.NoError(t, err)
	var out bytes.Buffer
	require.NoError(t, b.WriteTar(&out))
	return out.Bytes()
}

func TestABundleHasTheTapeAndSaysHowToRunIt(t *testing.T) {
	m := &tape.Manifest{Tape: tape.Version, TraceID: id, Ended: "2026-08-20T10:00:00.5Z", Complete: true, Agent: "<script>x</script>"}
	packed := pack(t, content(m, record()))
	files := untar(t, packed)
	require.Len(t, files, 6)
	tp, err := tape.ReadAll(bytes.NewBufferString(files[id+"/tape.jsonl"]))
	require.NoError(t, err)
	assert.Len(t, tp.Records, 1)
	assert.Contains(t, files[id+"/README.md"], "\n    python3 tape.py tape.jsonl\n")
	assert.Contains(t, files[id+"/README.md"], "tape run tape.jsonl -- CMD")
	assert.NotContains(t, files[id+"/README.md"], "script")
	assert.NotContains(t, files[id+"/README.md"], "gaps")
	var index struct {
		Bundle   string
		TraceID  string `json:"trace_id"`
		Records  int
		Files    []struct{ Name, SHA256 string }
		Manifest tape.Manifest
	}
	require.NoError(t, json.Unmarshal([]byte(files[id+"/bundle.json"]), &index))
	assert.Equal(t, "1", index.Bundle)
	assert.Equal(t, id, index.TraceID)
	assert.Equal(t, 1, index.Records)
	assert.Equal(t, id, index.Manifest.TraceID)
	require.Len(t, index.Files, 4)
	for _, f := range index.Files {
		assert.Equal(t, hashOf(files[id+"/"+f.Name]), f.SHA256, f.Name)
	}
	assert.Equal(t, packed, pack(t, content(m, record())), "the same tape makes the same bytes")
}

func TestBodiesByReferenceComeAlong(t *testing.T) {
	there, wrong, gone := hashOf("body"), hashOf("another"), hashOf("gone")
	c := content(nil, record(tape.Body{SHA256: there}, tape.Body{SHA256: wrong}), record(tape.Body{SHA256: gone}), record(tape.Body{SHA256: "../../etc/passwd"}))
	c.Body = func(hash string) ([]byte, error) {
		if hash == gone {
			return nil, errors.New("gone")
		}
		return []byte("body"), nil
	}
	files := untar(t, pack(t, c))
	assert.Equal(t, "body", files["tape/bodies/"+there])
	assert.Len(t, files, 7, "and no other body")
	assert.Contains(t, files["tape/README.md"], "| bodies/ |")
	var index struct {
		Missing []string `json:"missing_bodies"`
	}
	require.NoError(t, json.Unmarshal([]byte(files["tape/bundle.json"]), &index))
	assert.ElementsMatch(t, []string{wrong, gone, "../../etc/passwd"}, index.Missing)
}

func TestNamesOfFilesDoNotComeFromTheTape(t *testing.T) {
	files := untar(t, pack(t, content(&tape.Manifest{Tape: tape.Version, TraceID: "../../etc"}, record())))
	for name := range files {
		assert.Equal(t, "tape", filepath.Dir(name))
	}
}

func TestAnIncompleteTapeSaysSo(t *testing.T) {
	files := untar(t, pack(t, content(&tape.Manifest{Tape: tape.Version, TraceID: id}, record())))
	assert.Contains(t, files[id+"/README.md"], "tape doctor tape.jsonl")
}

func TestNothingIsNoBundle(t *testing.T) {
	_, err := bundle.New(content(nil))
	assert.ErrorIs(t, err, tape.ErrEmpty)
}

// The commands of the README run as they are.
func TestTheBundleRuns(t *testing.T) {
	large := `{"page":"` + strings.Repeat("x", 1000) + `"}`
	m := &tape.Manifest{Tape: tape.Version, TraceID: id, Complete: true, Redaction: &tape.Redaction{Policy: "v1"}}
	failed := tape.Record{Seq: 2, Tool: "send", Args: []byte(`{"token":"[REDACTED:token]"}`), Redacted: []string{"args.token"}, Error: &tape.Error{Message: "down"}}
	c := content(m, record(tape.Body{SHA256: hashOf(large), MediaType: "application/json"}), failed)
	c.Body = func(string) ([]byte, error) { return []byte(large), nil }
	b, err := bundle.New(c)
	require.NoError(t, err)
	folder := filepath.Join(t.TempDir(), "bundle")
	require.NoError(t, b.WriteDir(folder))
	for _, argv := range [][]string{{"python3", "tape.py", "tape.jsonl"}, {"node", "tape.mjs", "tape.jsonl"}} {
		program, err := exec.LookPath(argv[0])
		if err != nil {
			t.Logf("no %s here", argv[0])
			continue
		}
		cmd := exec.Command(program, argv[1:]...)
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), "PYTHONDONTWRITEBYTECODE=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		assert.Contains(t, string(out), `"tape_hits":2`)
		assert.Contains(t, string(out), `a failure: "down"`)
	}
}

func TestADirectory(t *testing.T) {
	b, err := bundle.New(content(nil, record()))
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "a", "b")
	require.NoError(t, b.WriteDir(path))
	for _, f := range b.Files {
		data, err := os.ReadFile(filepath.Join(path, f.Name))
		require.NoError(t, err)
		assert.Equal(t, f.Data, data)
	}
	assert.ErrorContains(t, b.WriteDir(path), "is not empty")
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("disk full") }

func TestAFullDiskIsAnError(t *testing.T) {
	b, err := bundle.New(content(nil, record()))
	require.NoError(t, err)
	assert.ErrorContains(t, b.WriteTar(full{}), "disk full")
}
