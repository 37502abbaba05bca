package store

import (
	"context"
	"errors"
	"io"
	"iter"
	"time"
)

// Errors that callers branch on.
var (
	// ErrNotFound: there is no object, row or run of that name.
	ErrNotFound = errors.New("not found")
	// ErrBadTraceID: not 32 hex digits, or all of them zero.
	ErrBadTraceID = errors.New("bad trace id")
	// ErrBadName: a class, hash or object name that the layout does not allow.
	ErrBadName = errors.New("bad name")
	// ErrBadCursor: a cursor that this store did not hand out.
	ErrBadCursor = errors.New("bad cursor")
	// ErrTooLarge: an object larger than the store agrees to hold in memory.
	ErrTooLarge = errors.New("too large")
	// ErrRefused: the backend will not take the object, however often it is asked.
	ErrRefused = errors.New("refused")
	// ErrDamaged: bytes that are not what their name or format says.
	ErrDamaged = errors.New("damaged")
)

// Object is one stored object as a listing shows it.
type Object struct {
	// Name is slash separated and relative to the store.
	Name string
	// Size is the stored length in bytes.
	Size int64
	// Modified is when it was stored.
	Modified time.Time
}

// Reader is the reading half of a backend.
type Reader interface {
	// Get opens the object. The error is ErrNotFound when there is none.
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	// GetRange reads length bytes of the object from offset on, fewer only where
	// it ends before. The error is ErrNotFound when there is no such object.
	GetRange(ctx context.Context, name string, offset, length int64) ([]byte, error)
	// List yields all objects below the folder, at any depth, by name. The
	// folder ends in a slash. A folder that does not exist yields nothing.
	List(ctx context.Context, folder string) iter.Seq2[Object, error]
	// Folders gives the names, without slashes and sorted, of the folders
	// directly below the folder.
	Folders(ctx context.Context, folder string) ([]string, error)
}

// Writer is the writing half of a backend.
type Writer interface {
	// Put stores the object whole or not at all, durably when it returns nil.
	// A name stands for one content: when the object is there already, Put may
	// leave it as it is. Put does not keep data.
	Put(ctx context.Context, name string, data []byte) error
	// Delete removes the object. Deleting what is not there is no error.
	Delete(ctx context.Context, name string) error
}

// Backend is where a store keeps its objects: a directory or a bucket.
// Implementations are safe for concurrent use, by several processes too.
// Package storetest has the tests that each must pass.
type Backend interface {
	Reader
	Writer
}

// Appender is a backend that can add to the end of an object, durably when it
// returns nil. A failed or interrupted append may leave a part of data behind.
type Appender interface {
	Append(ctx context.Context, name string, data []byte) error
}
