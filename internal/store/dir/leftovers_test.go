package dir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store"
)

func TestLeftoversAreTemporaryFiles(t *testing.T) {
	root := t.TempDir()
	b, err := Open(root)
	require.NoError(t, err)
	require.NoError(t, b.Put(t.Context(), "tapes/a/b", []byte("kept")))
	require.NoError(t, os.WriteFile(filepath.Join(root, ".tmp", "put-1"), []byte("torn"), 0o600))
	var names []string
	for o, err := range b.Leftovers(t.Context()) {
		require.NoError(t, err)
		assert.EqualValues(t, 4, o.Size)
		assert.False(t, o.Modified.IsZero())
		names = append(names, o.Name)
	}
	assert.Equal(t, []string{".tmp/put-1"}, names)
	for range 2 {
		require.NoError(t, b.RemoveLeftover(t.Context(), ".tmp/put-1"))
	}
	assert.NoFileExists(t, filepath.Join(root, ".tmp", "put-1"))
	for _, name := range []string{"tapes/a/b", ".tmp/../tapes/a/b", ".tmp/..", "put-1"} {
		require.ErrorIs(t, b.RemoveLeftover(t.Context(), name), store.ErrBadName, name)
	}
	assert.FileExists(t, filepath.Join(root, "tapes", "a", "b"))
}
