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
