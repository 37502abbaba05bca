package otlpfile

import (
	"errors"
	"strconv"
	"strings"
)

// Causes that callers may tell apart with [errors.Is].
var (
	// ErrEmpty is input without any document.
	ErrEmpty = errors.New("empty: there is no document in it")
	// ErrCut is input that ends inside a document.
	ErrCut = errors.New("ends in the middle of a document")
	// ErrFormat is input in a format that this package does not read.
	ErrFormat = errors.New("not a trace export")
	// ErrNoSpans is input whose documents hold neither a span nor a log record.
	ErrNoSpans = errors.New("neither a span nor a log record in it")
	// ErrTooLarge is a document over the bound.
	ErrTooLarge = errors.New("document too large")
)

// Error says what is wrong with an input and where, in one line.
type Error struct {
	// File is the name given to the reader.
	File string
	// Document is the 1-based number of the document, 0 for the input as a whole.
	Document int
	// Line is the 1-based line of the fault, 0 where the input has no lines.
	Line int
	// Member is the path of the faulty member, such as
	// "resourceSpans[0].scopeSpans[0].spans[3].traceId", or "".
	Member string
	Err    error
}

// Error renders "file:line: document n: member: cause".
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	if e.Line > 0 {
		b.WriteString(":" + strconv.Itoa(e.Line))
	}
	if e.Document > 0 {
		b.WriteString(": document " + strconv.Itoa(e.Document))
	}
	if e.Member != "" {
		b.WriteString(": " + e.Member)
	}
	b.WriteString(": " + oneLine(e.Err.Error()))
	return b.String()
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// fault is an error inside one document, before the reader adds where that is.
type fault struct {
	// offset is the byte in the document, -1 when unknown.
	offset int
	member string
	err    error
}

func (f *fault) Error() string {
	if f.member == "" {
		return f.err.Error()
	}
	return f.member + ": " + f.err.Error()
}

func (f *fault) Unwrap() error { return f.err }

// oneLine keeps messages of libraries, which may quote input, to one line.
func oneLine(s string) string {
	return strings.Join(strings.FieldsFunc(s, func(r rune) bool { return r == '\n' || r == '\r' }), " ")
}

// clip shortens quoted input in a message.
func clip(s string) string {
	const most = 40
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
