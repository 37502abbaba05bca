package tape

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
)

var (
	// ErrVersion is a manifest of a version this package does not read.
	ErrVersion = errors.New("unknown tape version")
	// ErrEmpty is a text with neither a manifest nor a record in it. Readers take
	// it for a tape, as one that is about to be recorded; who needs content says so.
	ErrEmpty = errors.New("empty: there is neither a manifest nor a record in it")
	// ErrTruncated is a last line that was cut in the middle.
	ErrTruncated = errors.New("the tape is cut in the middle of its last line")
	// ErrTooLong is a line over the reader's bound.
	ErrTooLong = errors.New("line too long")
	// ErrTooMany is a tape with more records than may be held in memory.
	ErrTooMany = errors.New("too many records")
)

// SyntaxError names the line of a tape that cannot be read, and why. Its cause
// is [ErrVersion], [ErrTruncated], [ErrTooLong], a [*JSONError], a
// [*MemberError] or something else that has no name.
type SyntaxError struct {
	// Line is the 1-based line of the file; blank lines count.
	Line int
	Err  error
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

func (e *SyntaxError) Unwrap() error { return e.Err }

const (
	// DefaultMaxLine is the longest line a reader accepts unless told otherwise,
	// in bytes.
	DefaultMaxLine = 1 << 30
	// DefaultMaxRecords is how many records [ReadAll] accepts unless told
	// otherwise. A record takes some 600 bytes of memory even if it takes only
	// three in the file.
	DefaultMaxRecords = 1 << 20
)

// ReaderOption changes how a tape is read.
type ReaderOption func(*Reader)

// MaxLine bounds a line, in bytes; zero or less leaves [DefaultMaxLine].
func MaxLine(bytes int) ReaderOption {
	return func(r *Reader) {
		if bytes > 0 {
			r.maxLine = bytes
		}
	}
}

// MaxRecords bounds the records that [ReadAll] and [ReadFile] hold; zero or less
// leaves [DefaultMaxRecords]. It does not bound [Reader.Next], which holds one.
func MaxRecords(records int) ReaderOption {
	return func(r *Reader) {
		if records > 0 {
			r.maxRecords = records
		}
	}
}

// Reader reads a tape line by line and holds one line at a time. It accepts a
// byte order mark, CRLF and blank lines. Memory is a small multiple of the
// longest line really read, whatever the text claims.
type Reader struct {
	in         *bufio.Reader
	maxLine    int
	maxRecords int
	// line counts the lines read, buf holds the current one.
	line int
	buf  []byte

	begun    bool
	manifest *Manifest
	// first is the first line where that is a record.
	first *Record
	err   error
}

// NewReader returns a reader of the tape in in.
func NewReader(in io.Reader, options ...ReaderOption) *Reader {
	r := &Reader{in: bufio.NewReaderSize(in, 64<<10), maxLine: DefaultMaxLine, maxRecords: DefaultMaxRecords}
	for _, option := range options {
		option(r)
	}
	return r
}

// Manifest returns the manifest, nil for a bare tape. It reads the first line
// if that has not been read yet.
func (r *Reader) Manifest() (*Manifest, error) {
	r.begin()
	if r.err != nil && !errors.Is(r.err, io.EOF) {
		return nil, r.err
	}
	return r.manifest, nil
}

// Next returns the next record, or io.EOF after the last. Any other error is a
// [*SyntaxError] or comes from the input; it is final.
func (r *Reader) Next() (*Record, error) {
	r.begin()
	if first := r.first; first != nil {
		r.first = nil
		return first, nil
	}
	if r.err != nil {
		return nil, r.err
	}
	manifest, record, err := r.read()
	if err == nil && manifest != nil {
		err = &SyntaxError{Line: r.line, Err: errors.New("a manifest that is not the first line")}
	}
	r.err = err
	return record, err
}

// Line is the 1-based line that was read last, 0 before the first.
func (r *Reader) Line() int { return r.line }

func (r *Reader) begin() {
	if !r.begun {
		r.begun = true
		r.manifest, r.first, r.err = r.read()
	}
}

// read parses the next line that is not blank.
func (r *Reader) read() (*Manifest, *Record, error) {
	text, whole, err := r.nextLine()
	if err != nil {
		return nil, nil, err
	}
	manifest, record, err := parseLine(text)
	if err == nil {
		return manifest, record, nil
	}
	var bad *JSONError
	if !whole && errors.As(err, &bad) && bad.AtEnd {
		err = fmt.Errorf("%w, at byte %d", ErrTruncated, bad.Offset)
	}
	return nil, nil, &SyntaxError{Line: r.line, Err: err}
}

// parseLine reads a line as a manifest or a record.
func parseLine(text []byte) (*Manifest, *Record, error) {
	isManifest := false
	record := &Record{}
	// A member of a manifest may have the wrong type for a record, so this
	// counts only once all members have been seen.
	var wrong error
	err := members(text, func(name string, value []byte) error {
		if name == "tape" {
			isManifest = true
			return checkVersion(value)
		}
		if wrong == nil {
			wrong = record.set(name, value)
		}
		return nil
	})
	switch {
	case err != nil:
		return nil, nil, err
	case !isManifest && wrong != nil:
		return nil, nil, wrong
	case !isManifest:
		return nil, record, nil
	}
	manifest := &Manifest{}
	if err := manifest.UnmarshalJSON(text); err != nil {
		return nil, nil, err
	}
	return manifest, nil, nil
}

func checkVersion(value []byte) error {
	if string(value) == `"`+Version+`"` {
		return nil
	}
	if string(value) == "null" {
		return fmt.Errorf("%w: null (this reader knows %q)", ErrVersion, Version)
	}
	if value[0] != '"' {
		return fmt.Errorf("%w: %s (this reader knows %q)", ErrVersion, looseText(value), Version)
	}
	return fmt.Errorf("%w: %q (this reader knows %q)", ErrVersion, unquote(value), Version)
}

var byteOrderMark = []byte("\ufeff")

// nextLine returns the next line that is not blank, good until the next call,
// and whether it ended in a line break.
func (r *Reader) nextLine() (text []byte, whole bool, err error) {
	for {
		r.buf = r.buf[:0]
		for {
			part, err := r.in.ReadSlice('\n')
			if len(r.buf)+len(part) > r.maxLine {
				return nil, false, &SyntaxError{Line: r.line + 1, Err: fmt.Errorf("%w: over %d bytes", ErrTooLong, r.maxLine)}
			}
			r.buf = append(r.buf, part...)
			if err == nil || errors.Is(err, io.EOF) || len(r.buf) == len(part) && r.isNoObject() {
				break
			}
			if !errors.Is(err, bufio.ErrBufferFull) {
				return nil, false, fmt.Errorf("line %d: %w", r.line+1, err)
			}
		}
		if len(r.buf) == 0 {
			return nil, false, io.EOF
		}
		r.line++
		text = r.buf
		if r.line == 1 {
			text = bytes.TrimPrefix(text, byteOrderMark)
		}
		whole = bytes.HasSuffix(text, []byte{'\n'})
		if text = bytes.TrimSpace(text); len(text) > 0 {
			return text, whole, nil
		}
	}
}

// isNoObject reports whether the line that has been begun is none of a tape by its
// first byte: then the rest, which may be gigabytes of something else, need not be
// read to refuse it.
func (r *Reader) isNoObject() bool {
	text := r.buf
	if r.line == 0 {
		text = bytes.TrimPrefix(text, byteOrderMark)
	}
	text = bytes.TrimSpace(text)
	return len(text) > 0 && text[0] != '{'
}

// ReadAll reads a whole tape into memory.
func ReadAll(in io.Reader, options ...ReaderOption) (*Tape, error) {
	r := NewReader(in, options...)
	manifest, err := r.Manifest()
	if err != nil {
		return nil, err
	}
	t := &Tape{Manifest: manifest}
	for {
		record, err := r.Next()
		switch {
		case errors.Is(err, io.EOF):
			return t, nil
		case err != nil:
			return nil, err
		case len(t.Records) == r.maxRecords:
			return nil, &SyntaxError{Line: r.line, Err: fmt.Errorf("%w: over %d", ErrTooMany, r.maxRecords)}
		}
		t.Records = append(t.Records, *record)
	}
}

// ReadFile reads the tape in a file. Errors name the file.
func ReadFile(path string, options ...ReaderOption) (*Tape, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	t, err := ReadAll(file, options...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return t, nil
}
