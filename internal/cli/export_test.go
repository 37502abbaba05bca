package cli

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

func spansOf(t *testing.T, text string) ptrace.SpanSlice {
	t.Helper()
	td, err := (&ptrace.JSONUnmarshaler{}).UnmarshalTraces([]byte(text))
	require.NoError(t, err)
	require.Equal(t, 1, td.ResourceSpans().Len())
	return td.ResourceSpans().At(0).ScopeSpans().At(0).Spans()
}

func TestExportOfAFileIsATrace(t *testing.T) {
	r := tapeCmd(t, "", "export", failedTape)
	require.Equal(t, exitOK, r.code, r.err)
	assert.Equal(t, keptID, spansOf(t, r.out).At(0).TraceID().String())
	again := filepath.Join(t.TempDir(), "trace.json")
	require.NoError(t, os.WriteFile(again, []byte(r.out), 0o600))
	back := tapeCmd(t, "", "import", again)
	require.Contains(t, []int{exitOK, exitNo}, back.code, back.err)
	assert.Contains(t, back.out, `"book_table"`, "what is exported can be imported")
}

func TestExportOfAnIDIsTheStoredTrace(t *testing.T) {
	st := newStore(t)
	r := tapeCmd(t, "", "--store", st, "export", strings.Repeat("a", 32))
	require.Equal(t, exitOK, r.code, r.err)
	assert.Equal(t, strings.Repeat("a", 32), spansOf(t, r.out).At(0).TraceID().String())
	r = tapeCmd(t, "", "--store", st, "export", strings.Repeat("b", 32))
	assert.Equal(t, exitMissing, r.code)
	assert.Contains(t, r.err, "was not kept, only its summary")
}

func TestExportOfABundle(t *testing.T) {
	dir := t.TempDir()
	packed := filepath.Join(dir, "run.tar.gz")
	r := tapeCmd(t, "", "export", failedTape, "--bundle", "-o", packed)
	require.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, r.err, "the tape is not complete")
	f, err := os.Open(packed)
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	unzip, err := gzip.NewReader(f)
	require.NoError(t, err)
	archive := tar.NewReader(unzip)
	var names []string
	for {
		h, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		names = append(names, strings.TrimPrefix(h.Name, keptID+"/"))
	}
	assert.Equal(t, []string{"README.md", "bundle.json", "tape.jsonl", "tape.py", "tape.mjs", "tape.d.mts"}, names)

	// The command of the README works on what was unpacked.
	folder := filepath.Join(dir, "unpacked") + "/"
	require.Equal(t, exitOK, tapeCmd(t, "", "export", failedTape, "--bundle", "-o", folder).code)
	assert.Contains(t, read(t, folder+"README.md"), "tape run tape.jsonl -- CMD")
	assert.Equal(t, tapeCmd(t, "", "show", failedTape).out, tapeCmd(t, "", "show", folder+"tape.jsonl").out)

	r = tapeCmd(t, "", "export", failedTape, "--bundle", "-o", folder)
	oneLineError(t, r)
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.err, "is not empty")
}

func TestExportOfAnUnpackedBundleKeepsItsBodies(t *testing.T) {
	const digest = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" // of "hello"
	dir := t.TempDir()
	file := filepath.Join(dir, "tape.jsonl")
	line := `{"seq":1,"tool":"t","args":{},"body":{"sha256":"` + digest + `","bytes":5}}`
	require.NoError(t, os.WriteFile(file, []byte(line+"\n"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "bodies"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bodies", digest), []byte("hello"), 0o600))
	folder := filepath.Join(dir, "again") + "/"
	r := tapeCmd(t, "", "export", file, "--bundle", "-o", folder)
	require.Equal(t, exitOK, r.code, r.err)
	assert.Equal(t, "hello", read(t, folder+"bodies/"+digest))

	packed := filepath.Join(dir, "again.tar.gz")
	require.Equal(t, exitOK, tapeCmd(t, "", "export", folder, "--bundle", "-o", packed).code)
	require.Equal(t, exitOK, tapeCmd(t, "", "export", packed, "--bundle", "-o", filepath.Join(dir, "third")+"/").code)
	assert.Equal(t, "hello", read(t, filepath.Join(dir, "third", "bodies", digest)))
}

func TestExportOfABundleByID(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "x") + "/"
	r := tapeCmd(t, "", "--store", newStore(t), "export", "--bundle", "-o", folder, strings.Repeat("a", 32))
	require.Equal(t, exitOK, r.code, r.err)
	assert.Contains(t, read(t, folder+"tape.jsonl"), "socks")
}

func TestExportOfWhatIsNoTape(t *testing.T) {
	for name, words := range map[string][]string{
		"neither":   {"export", "nothing.jsonl"},
		"bundle":    {"export", "nothing.jsonl", "--bundle"},
		"no tape":   {"export", write(t, "not a tape\n")},
		"empty":     {"export", write(t, "")},
		"two files": {"export", failedTape, failedTape},
	} {
		r := tapeCmd(t, "", words...)
		oneLineError(t, r)
		assert.Equal(t, exitUsage, r.code, name)
	}
	r := tapeCmd(t, "", "export", write(t, `{"tape":"1"}`+"\n"))
	assert.Equal(t, exitNo, r.code, "a run without calls")
}
