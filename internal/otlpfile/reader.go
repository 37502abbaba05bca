package otlpfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// DefaultMaxDocument bounds one decompressed document, in bytes, or a part of one.
const DefaultMaxDocument = 512 << 20

// Document is one decoded document of an input.
type Document struct {
	// Number is 1-based; Line is where a JSON document starts, 0 for protobuf.
	Number, Line int
	// Part is set where this is more of the document before: one of OTLP JSON that
	// is larger than a few megabytes is given in parts, cut between its spans.
	Part bool
	// Format names what the document was, such as "OTLP JSON".
	Format string
	// Traces and Logs are never nil values; either may hold nothing. See [Document.Empty].
	Traces ptrace.Traces
	Logs   plog.Logs
}

// Empty reports a document without spans and log records, such as the request
// {"resourceSpans":[]}. It is valid beside others; an input of nothing else is
// an error.
func (d *Document) Empty() bool {
	return d.Traces.SpanCount() == 0 && d.Logs.LogRecordCount() == 0
}

// Reader reads the documents of one input in order. It is not safe for
// concurrent use.
type Reader struct {
	name     string
	close    func() error
	src      io.Reader
	max      int
	partSize int
	frames   framer
	done     func()
	number   int
	// part is set while the next document is more of the last.
	part bool
	err  error
	// holds is set once a document held something, empty is the error for the
	// case that none does.
	holds bool
	empty error
}

// framer cuts an input into documents.
type framer interface {
	// next gives the bytes of one document, valid until the next call, and the
	// line it starts at. io.EOF is the end after a whole document.
	next() (doc []byte, line int, err error)
	decode(doc []byte) (*Document, error)
}

// Option changes a Reader.
type Option func(*Reader)

// WithMaxDocument bounds one decompressed document to n bytes, n > 0. The
// default is [DefaultMaxDocument].
func WithMaxDocument(n int) Option { return func(r *Reader) { r.max = n } }

// WithPartSize changes the length from which a document of OTLP JSON is given in
// parts, n > 0; see [Document.Part]. The default is 4 MiB.
func WithPartSize(n int) Option { return func(r *Reader) { r.partSize = n } }

// NewReader reads documents from src; name stands for it in errors.
func NewReader(name string, src io.Reader, opts ...Option) *Reader {
	r := &Reader{name: name, src: src, max: DefaultMaxDocument, partSize: partSize}
	for _, o := range opts {
		o(r)
	}
	return r
}

// Open reads documents from a file. The caller closes the reader.
func Open(path string, opts ...Option) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	r := NewReader(path, f, opts...)
	r.close = f.Close
	return r, nil
}

// Close releases what the reader holds, and the file that Open opened.
func (r *Reader) Close() error {
	if r.done != nil {
		r.done()
		r.done = nil
	}
	if r.err == nil {
		r.err = os.ErrClosed
	}
	if r.close == nil {
		return nil
	}
	c := r.close
	r.close = nil
	return c()
}

// Next gives the next document, or io.EOF after the last; after documents that
// were all empty it is [ErrNoSpans] instead. Any other error is an [*Error]; it is
// final, since what follows a fault has no safe beginning.
func (r *Reader) Next() (*Document, error) {
	if r.err != nil {
		return nil, r.err
	}
	d, err := r.read()
	if err != nil {
		r.err = err
	}
	return d, err
}

func (r *Reader) read() (*Document, error) {
	if r.frames == nil {
		src, done, err := decompress(r.src)
		if err != nil {
			return nil, r.locate(nil, 0, 0, err)
		}
		r.done = done
		if r.frames, err = newFramer(src, r.max, r.partSize); err != nil {
			return nil, r.locate(nil, 0, 0, err)
		}
	}
	raw, line, err := r.frames.next()
	if errors.Is(err, io.EOF) {
		if r.number == 0 {
			return nil, r.locate(nil, 0, 0, ErrEmpty)
		}
		if !r.holds {
			return nil, r.empty
		}
		return nil, io.EOF
	}
	part := r.part
	if !part {
		r.number++
	}
	if err != nil {
		return nil, r.locate(nil, r.number, line, err)
	}
	if f, ok := r.frames.(*jsonFramer); ok {
		r.part = f.goesOn()
	}
	d, err := r.frames.decode(raw)
	if err != nil {
		return nil, r.locate(raw, r.number, line, err)
	}
	d.Number, d.Line, d.Part = r.number, line, part
	if !d.Empty() {
		r.holds = true
	} else if r.empty == nil && !part {
		r.empty = r.locate(nil, r.number, line, fmt.Errorf("%s with %w", d.Format, ErrNoSpans))
	}
	return d, nil
}

// locate turns an error inside a document into one that says where it is.
func (r *Reader) locate(doc []byte, number, line int, err error) error {
	e := &Error{File: r.name, Document: number, Line: line, Err: err}
	var f *fault
	if errors.As(err, &f) {
		e.Member, e.Err = f.member, f.err
		if line > 0 && f.offset > 0 && f.offset <= len(doc) {
			e.Line += bytes.Count(doc[:f.offset], []byte{'\n'})
		}
	}
	return e
}

// tooLarge is the error for a document over the bound.
func tooLarge(limit int) error {
	return fmt.Errorf("%w: over %d bytes", ErrTooLarge, limit)
}
