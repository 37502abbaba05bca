package spool

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"syscall"
)

// storage is a flat directory of files. The spool is written against it so that
// the same code runs on disk, in memory, and in tests on a disk that fails.
type storage interface {
	// create makes a new, empty file; it fails if the name is taken.
	create(name string) (file, error)
	open(name string) (file, error)
	list() ([]string, error)
	rename(from, to string) error
	remove(name string) error
	// sync makes creations, renames and removals survive a loss of power.
	sync() error
	// durable tells whether anybody can ever read the files again.
	durable() bool
	close() error
}

type file interface {
	io.ReaderAt
	io.WriterAt
	Truncate(size int64) error
	Sync() error
	Close() error
	size() (int64, error)
}

// windowsDiskFull is ERROR_DISK_FULL, which package syscall does not map.
const windowsDiskFull = syscall.Errno(112)

// noRoom turns the ways of a system to say that the disk is full into ErrFull.
func noRoom(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		runtime.GOOS == "windows" && errors.Is(err, windowsDiskFull) {
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}
