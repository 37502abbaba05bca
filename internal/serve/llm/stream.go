package llm

import (
	"bufio"
	"io"
	"sync"
	"unicode/utf8"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

const (
	// chunkBytes is about how long a piece of a streamed text is, some six tokens.
	chunkBytes = 24
	// maxChunks bounds how many pieces a text is cut in: a long one is cut in
	// longer ones, as each is an event of its own on the wire.
	maxChunks = 512
)

// pieces cuts a text in pieces on rune borders. Nothing is given of an empty one.
func pieces(s string, give func(string) error) error {
	size := max(chunkBytes, len(s)/maxChunks+1)
	for len(s) > 0 {
		n := min(size, len(s))
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n++
		}
		if err := give(s[:n]); err != nil {
			return err
		}
		s = s[n:]
	}
	return nil
}

// textPiece is how much of a long string is encoded at a time.
const textPiece = 64 << 10

// writer is what it takes to write a value.
type writer struct {
	*bufio.Writer
	scratch []byte
}

var writers = sync.Pool{New: func() any { return &writer{Writer: bufio.NewWriterSize(nil, textPiece)} }}

// WriteJSON writes a value as JSON text without holding it whole: long strings
// are encoded piece by piece.
func WriteJSON(out io.Writer, v value.Value) error {
	w := writers.Get().(*writer)
	w.Reset(out)
	err := w.value(v)
	if err == nil {
		err = w.Flush()
	}
	w.Reset(nil)
	writers.Put(w)
	return err
}

func (w *writer) value(v value.Value) error {
	switch v.Kind() {
	case value.Object:
		for i, m := range v.Members() {
			if err := w.WriteByte("{,"[min(i, 1)]); err != nil {
				return err
			}
			if err := w.text(m.Name); err != nil {
				return err
			}
			if err := w.WriteByte(':'); err != nil {
				return err
			}
			if err := w.value(m.Value); err != nil {
				return err
			}
		}
		return w.closing(v, "{}")
	case value.Array:
		for i, item := range v.Items() {
			if err := w.WriteByte("[,"[min(i, 1)]); err != nil {
				return err
			}
			if err := w.value(item); err != nil {
				return err
			}
		}
		return w.closing(v, "[]")
	case value.String:
		return w.text(v.Str())
	}
	w.scratch = v.Append(w.scratch[:0])
	_, err := w.Write(w.scratch)
	return err
}

// closing ends an array or object, the empty one with both brackets.
func (w *writer) closing(v value.Value, brackets string) error {
	if v.Len() > 0 {
		brackets = brackets[1:]
	}
	_, err := w.WriteString(brackets)
	return err
}

func (w *writer) text(s string) error {
	if err := w.WriteByte('"'); err != nil {
		return err
	}
	for len(s) > 0 {
		n := min(textPiece, len(s))
		for n < len(s) && !utf8.RuneStart(s[n]) {
			n++
		}
		w.scratch = value.AppendString(w.scratch[:0], s[:n])
		// Without the quotes that stand around each piece.
		if _, err := w.Write(w.scratch[1 : len(w.scratch)-1]); err != nil {
			return err
		}
		s = s[n:]
	}
	return w.WriteByte('"')
}
