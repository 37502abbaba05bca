package spool

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"
)

const lockName = "lock"

// directory is the storage on disk.
type directory struct {
	path string
	lock *flock.Flock
}

type diskFile struct{ *os.File }

func openDirectory(path string) (*directory, error) {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return nil, fmt.Errorf("spool: %w", err)
	}
	lock := flock.New(filepath.Join(path, lockName), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o600))
	got, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("spool: lock %s: %w", path, err)
	}
	if !got {
		return nil, fmt.Errorf("%w: %s", ErrLocked, path)
	}
	return &directory{path: path, lock: lock}, nil
}

func (d *directory) create(name string) (file, error) {
	return openFile(filepath.Join(d.path, name), os.O_RDWR|os.O_CREATE|os.O_EXCL)
}

func (d *directory) open(name string) (file, error) {
	return openFile(filepath.Join(d.path, name), os.O_RDWR)
}

func openFile(path string, flag int) (file, error) {
	f, err := os.OpenFile(path, flag, 0o600)
	if err != nil {
		return nil, err
	}
	return diskFile{f}, nil
}

func (d *directory) list() ([]string, error) {
	entries, err := os.ReadDir(d.path)
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		if e.Type().IsRegular() {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func (d *directory) rename(from, to string) error {
	return os.Rename(filepath.Join(d.path, from), filepath.Join(d.path, to))
}

func (d *directory) remove(name string) error {
	err := os.Remove(filepath.Join(d.path, name))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// sync does nothing on Windows, where a directory cannot be opened for it.
func (d *directory) sync() error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(d.path)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (d *directory) durable() bool { return true }

// close releases the lock; its file stays, as removing it would let two
// processes lock two files of one name.
func (d *directory) close() error { return d.lock.Unlock() }

func (f diskFile) size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
