package dir_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/dir"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
)

func open(t *testing.T) store.Backend {
	t.Helper()
	b, err := dir.Open(t.TempDir())
	require.NoError(t, err)
	return b
}

func TestConformance(t *testing.T) {
	storetest.Backend(t, open)
}

func TestFilesAreForTheirOwnerAlone(t *testing.T) {
	root := filepath.Join(t.TempDir(), "new", "store")
	b, err := dir.Open(root)
	require.NoError(t, err)
	require.NoError(t, b.Put(t.Context(), "tapes/failures/a/1.zst", []byte("x")))
	require.NoError(t, b.Append(t.Context(), "index/date=2026-01-02/hour=03/w-1.jsonl", []byte("x")))
	require.NoError(t, filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := d.Info()
		require.NoError(t, err)
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		assert.Equal(t, want, info.Mode().Perm(), p)
		return nil
	}))
}

func TestADirectoryThatCannotBeWrittenIsNamedInOneLine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	for _, root := range []string{file, filepath.Join(file, "below")} {
		_, err := dir.Open(root)
		require.Error(t, err)
		assert.Contains(t, err.Error(), root)
		assert.NotContains(t, err.Error(), "\n")
	}
	sealed := filepath.Join(t.TempDir(), "sealed")
	require.NoError(t, os.Mkdir(sealed, 0o500))
	if f, err := os.Create(filepath.Join(sealed, "probe")); err == nil {
		require.NoError(t, f.Close())
		t.Skip("this user may write everywhere")
	}
	_, err := dir.Open(sealed)
	require.ErrorIs(t, err, fs.ErrPermission)
}

func TestOpenExistingMakesNothing(t *testing.T) {
	root := filepath.Join(t.TempDir(), "absent")
	_, err := dir.OpenExisting(root)
	require.ErrorIs(t, err, fs.ErrNotExist)
	assert.Contains(t, err.Error(), root)
	assert.NoDirExists(t, root)

	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = dir.OpenExisting(file)
	require.ErrorContains(t, err, "not a directory")

	root = t.TempDir()
	b, err := dir.OpenExisting(root)
	require.NoError(t, err)
	assert.Empty(t, storetest.List(t, b, "tapes/"))
	entries, err := os.ReadDir(root)
	require.NoError(t, err)
	assert.Empty(t, entries)
}

func TestACrashBeforeTheRenameShowsNothing(t *testing.T) {
	root := t.TempDir()
	b, err := dir.Open(root)
	require.NoError(t, err)
	require.NoError(t, b.Put(t.Context(), "tapes/failures/a/1.zst", []byte("whole")))
	left := filepath.Join(root, ".tmp", "put-1")
	require.NoError(t, os.WriteFile(left, []byte("ha"), 0o600))
	inPlace := filepath.Join(root, "tapes", "failures", "a", ".1.zst.part")
	require.NoError(t, os.WriteFile(inPlace, []byte("ha"), 0o600))

	assert.Len(t, storetest.List(t, b, "tapes/"), 1)
	folders, err := b.Folders(t.Context(), "tapes/")
	require.NoError(t, err)
	assert.Equal(t, []string{"failures"}, folders)

	// A young temporary file may belong to another process.
	_, err = dir.Open(root)
	require.NoError(t, err)
	assert.FileExists(t, left)
	old := time.Now().Add(-2 * time.Hour)
	require.NoError(t, os.Chtimes(left, old, old))
	_, err = dir.Open(root)
	require.NoError(t, err)
	assert.NoFileExists(t, left)
}

func TestAFailedPutLeavesNothing(t *testing.T) {
	root := t.TempDir()
	b, err := dir.Open(root)
	require.NoError(t, err)
	// A folder of the target's name makes the rename fail.
	require.NoError(t, os.MkdirAll(filepath.Join(root, "tapes", "c", "1.zst", "x"), 0o700))
	err = b.Put(t.Context(), "tapes/c/1.zst", []byte("data"))
	require.Error(t, err)
	assert.Contains(t, err.Error(), "1.zst")
	temps, err := os.ReadDir(filepath.Join(root, ".tmp"))
	require.NoError(t, err)
	assert.Empty(t, temps)
}

func TestAnEmptiedStoreIsFilledAgain(t *testing.T) {
	root := filepath.Join(t.TempDir(), "store")
	b, err := dir.Open(root)
	require.NoError(t, err)
	require.NoError(t, os.RemoveAll(root))
	require.NoError(t, b.Put(t.Context(), "tapes/c/1.zst", []byte("data")))
	assert.Equal(t, "data", storetest.Read(t, b, "tapes/c/1.zst"))
}

func TestAFileThatWasCutIsWrittenAgain(t *testing.T) {
	root := t.TempDir()
	b, err := dir.Open(root)
	require.NoError(t, err)
	const name = "blobs/c/2026-W01/1.zst"
	require.NoError(t, b.Put(t.Context(), name, []byte("whole")))
	require.NoError(t, os.Truncate(filepath.Join(root, filepath.FromSlash(name)), 2))
	require.NoError(t, b.Put(t.Context(), name, []byte("whole")))
	assert.Equal(t, "whole", storetest.Read(t, b, name))
}

// Files of the index take one another's place. A list that shows neither would hide
// rows that were there all the time.
func TestAListShowsAFileOrWhatTookItsPlace(t *testing.T) {
	b := open(t)
	name := func(n int) string { return fmt.Sprintf("index/date=2026-01-02/hour=03/%06d.parquet", n) }
	require.NoError(t, b.Put(t.Context(), name(0), []byte("x")))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for n := range 300 {
			if !assert.NoError(t, b.Put(t.Context(), name(n+1), []byte("x"))) ||
				!assert.NoError(t, b.Delete(t.Context(), name(n))) {
				return
			}
		}
	}()
	for {
		select {
		case <-done:
			return
		default:
			require.NotEmpty(t, storetest.List(t, b, "index/"))
		}
	}
}
