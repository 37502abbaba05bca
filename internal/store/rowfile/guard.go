package rowfile

import (
	"errors"
	"fmt"
	"io"
)

// source remembers what went wrong with reading, so that it is told apart from
// what is wrong with the file.
type source struct {
	r    io.ReaderAt
	size int64
}

// failedRead marks an error of the source.
type failedRead struct{ error }

func (f failedRead) Unwrap() error { return f.error }

func (s *source) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off > s.size {
		return 0, io.ErrUnexpectedEOF
	}
	n, err := s.r.ReadAt(p, off)
	if err != nil && !errors.Is(err, io.EOF) {
		err = failedRead{err}
	}
	return n, err
}

// explain makes ErrFormat of what the Parquet library says or panics about a file
// that it cannot make sense of, and leaves alone the errors of source and caller.
func explain(err *error) {
	if panicked := recover(); panicked != nil {
		*err = fmt.Errorf("%w: %v", ErrFormat, panicked)
		return
	}
	if *err == nil || errors.Is(*err, ErrFormat) {
		return
	}
	if s := (stop{}); errors.As(*err, &s) {
		*err = s.error
		return
	}
	if f := (failedRead{}); errors.As(*err, &f) {
		*err = f.error
		return
	}
	*err = fmt.Errorf("%w: %w", ErrFormat, *err)
}
