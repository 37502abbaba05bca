package cli

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOutputAppearsWholeOrNotAtAll(t *testing.T) {
	failing := func(w io.Writer) error {
		_, _ = io.WriteString(w, "half")
		return errors.New("broken")
	}
	whole := func(w io.Writer) error {
		_, err := io.WriteString(w, "whole")
		return err
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	require.Error(t, writeFile(path, failing))
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)

	require.NoError(t, writeFile(path, whole))
	require.Error(t, writeFile(path, failing))
	assert.Equal(t, "whole", read(t, path), "what was there stays")

	require.ErrorContains(t, writeFile(dir, whole), "is a directory")
	require.Error(t, writeFile(filepath.Join(dir, "none", "out"), whole))
	require.NoError(t, writeFile(os.DevNull, whole), "a device is written in place")
}

func TestOutputBehindALink(t *testing.T) {
	whole := func(w io.Writer) error {
		_, err := io.WriteString(w, "whole")
		return err
	}
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "sub", "link")
	require.NoError(t, os.WriteFile(real, []byte("old"), 0o600))
	require.NoError(t, os.Mkdir(filepath.Dir(link), 0o700))
	if err := os.Symlink("../real", link); err != nil {
		t.Skip("no symbolic links here:", err)
	}
	require.NoError(t, writeFile(link, whole))
	assert.Equal(t, "whole", read(t, real))
	target, err := os.Readlink(link)
	require.NoError(t, err, "the link is a link still")
	assert.Equal(t, "../real", target)

	// A path that means a stream which is a file, as /dev/stdout does after a
	// shell's >: a file put in its place would not be what the shell opened.
	out, err := os.OpenFile(real, os.O_WRONLY|os.O_TRUNC, 0)
	require.NoError(t, err)
	defer func() { _ = out.Close() }()
	a := &app{Streams: Streams{Out: out, Err: io.Discard}}
	require.NoError(t, a.output(link, whole))
	require.NoError(t, a.output("-", whole))
	assert.Equal(t, "wholewhole", read(t, real))
}

func TestOutputNamesThePathThatWasAskedFor(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none", "out")
	for _, err := range []error{
		writeFile(path, func(io.Writer) error { return nil }),
		(&app{}).checkOutput(path),
	} {
		require.Error(t, err)
		assert.Equal(t, path+": no such file or directory", err.Error())
	}
	require.ErrorContains(t, writeFile("", nil), "the name of the file to write is empty")
}

func TestCheckOutputLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, (&app{}).checkOutput(filepath.Join(dir, "out")))
	require.NoError(t, (&app{}).checkOutput(os.DevNull))
	require.ErrorContains(t, (&app{}).checkOutput(dir), "is a directory")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}
