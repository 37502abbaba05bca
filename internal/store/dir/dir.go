// Package dir is the backend of a store in a local directory.
//
// An object is a file of its name. It is written to a temporary file in the
// store's .tmp folder, synced, renamed to its place, and the folder is synced:
// after a crash at any step there is the whole object or none. What a crash
// leaves in .tmp is removed at the next start. Files are readable by their
// owner alone.
//
// Several processes may use one directory. All of it must be on one file
// system.
package dir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/internal/store"
)

const (
	tmpFolder = ".tmp"
	// staleAfter is the age from which a temporary file cannot belong to a
	// write that is still going on.
	staleAfter = time.Hour

	folderMode = 0o700
	fileMode   = 0o600
)

// Backend stores objects below a directory.
type Backend struct {
	root string
	tmp  string
}

var (
	_ store.Backend  = (*Backend)(nil)
	_ store.Appender = (*Backend)(nil)
)

// Open makes the directory if it is missing and proves that it can be written.
// The error is one line and names the path.
func Open(root string) (*Backend, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("store directory %s: %w", root, err)
	}
	b := &Backend{root: abs, tmp: filepath.Join(abs, tmpFolder)}
	if err := makeFolders(b.tmp); err != nil {
		return nil, fmt.Errorf("store directory %s cannot be written: %w", abs, err)
	}
	probe, err := b.writeTemp([]byte("probe"))
	if err != nil {
		return nil, fmt.Errorf("store directory %s cannot be written: %w", abs, err)
	}
	if err := os.Remove(probe); err != nil {
		return nil, fmt.Errorf("store directory %s cannot be written: %w", abs, err)
	}
	b.removeStale()
	return b, nil
}

// OpenExisting is Open for readers: it neither makes nor writes anything, and
// fails when the directory is not there.
func OpenExisting(root string) (*Backend, error) {
	abs, err := filepath.Abs(root)
	if err != nil {
		return nil, fmt.Errorf("store directory %s: %w", root, err)
	}
	info, err := os.Stat(abs)
	if err != nil {
		return nil, fmt.Errorf("store directory %s: %w", abs, err)
	}
	if !info.IsDir() {
		return nil, fmt.Errorf("store directory %s: not a directory", abs)
	}
	return &Backend{root: abs, tmp: filepath.Join(abs, tmpFolder)}, nil
}

// removeStale is best effort: a temporary file that stays costs only space.
func (b *Backend) removeStale() {
	entries, err := os.ReadDir(b.tmp)
	if err != nil {
		return
	}
	for _, e := range entries {
		if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > staleAfter {
			_ = os.Remove(filepath.Join(b.tmp, e.Name()))
		}
	}
}

// Put implements store.Writer.
func (b *Backend) Put(ctx context.Context, name string, data []byte) error {
	target, err := b.path(ctx, name)
	if err != nil {
		return err
	}
	// A length that differs is a file that was cut, or another compressor's: both
	// are replaced.
	if info, err := os.Lstat(target); err == nil && info.Mode().IsRegular() && info.Size() == int64(len(data)) {
		// The write that put it there may not have synced the folder yet. If it
		// was deleted meanwhile, it is written again.
		if err := syncFolder(filepath.Dir(target)); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	temp, err := b.writeTemp(data)
	if err != nil {
		return err
	}
	err = inFolder(filepath.Dir(target), func() error { return os.Rename(temp, target) })
	if err != nil {
		_ = os.Remove(temp)
	}
	return err
}

// inFolder makes the folder, runs fn, which adds an entry to it, and syncs the
// folder. It starts over when a concurrent delete takes the empty folder away.
func inFolder(folder string, fn func() error) error {
	const attempts = 100
	var err error
	for range attempts {
		if err = makeFolders(folder); err == nil {
			err = fn()
		}
		if err == nil {
			if err = syncFolder(folder); errors.Is(err, fs.ErrNotExist) {
				// Whoever took the folder away deleted the new entry first.
				return nil
			}
			return err
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// Append implements store.Appender.
func (b *Backend) Append(ctx context.Context, name string, data []byte) error {
	target, err := b.path(ctx, name)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(target, os.O_WRONLY|os.O_APPEND, fileMode)
	if errors.Is(err, fs.ErrNotExist) {
		err = inFolder(filepath.Dir(target), func() error {
			var err error
			f, err = os.OpenFile(target, os.O_WRONLY|os.O_CREATE|os.O_APPEND, fileMode)
			return err
		})
	}
	if err != nil {
		if f != nil {
			_ = f.Close()
		}
		return err
	}
	return writeSynced(f, data)
}

// Get implements store.Reader.
func (b *Backend) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	target, err := b.path(ctx, name)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(target)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", target, store.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// GetRange implements store.Reader.
func (b *Backend) GetRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	r, err := b.Get(ctx, name)
	if err != nil {
		return nil, err
	}
	data := make([]byte, length)
	n, err := r.(*os.File).ReadAt(data, offset)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	if closeErr := r.Close(); err == nil {
		err = closeErr
	}
	return data[:n], err
}

// Delete implements store.Writer. Folders that became empty go too, but not
// those at the top.
func (b *Backend) Delete(ctx context.Context, name string) error {
	target, err := b.path(ctx, name)
	if err != nil {
		return err
	}
	if err := os.Remove(target); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	folder := path.Dir(name)
	last := b.root
	for ; strings.Contains(folder, "/"); folder = path.Dir(folder) {
		last = filepath.Join(b.root, filepath.FromSlash(folder))
		// It fails, as it should, when the folder is not empty.
		if os.Remove(last) != nil {
			break
		}
		last = filepath.Dir(last)
	}
	if err := syncFolder(last); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func (b *Backend) path(ctx context.Context, name string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := store.CheckName(name); err != nil {
		return "", err
	}
	return filepath.Join(b.root, filepath.FromSlash(name)), nil
}

// writeTemp writes and syncs a temporary file and returns its path.
func (b *Backend) writeTemp(data []byte) (string, error) {
	// The folder is missing when the store was emptied while in use.
	if err := makeFolders(b.tmp); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(b.tmp, "put-*")
	if err != nil {
		return "", err
	}
	if err := writeSynced(f, data); err != nil {
		_ = os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

func writeSynced(f *os.File, data []byte) error {
	_, err := f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// makeFolders is os.MkdirAll with each new folder's entry synced.
func makeFolders(folder string) error {
	info, err := os.Stat(folder)
	if err == nil {
		if !info.IsDir() {
			return &fs.PathError{Op: "mkdir", Path: folder, Err: errors.New("not a directory")}
		}
		return nil
	}
	parent := filepath.Dir(folder)
	if parent == folder {
		return err
	}
	if err := makeFolders(parent); err != nil {
		return err
	}
	if err := os.Mkdir(folder, folderMode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return syncFolder(parent)
}
