package tape

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
)

// Writer writes a tape line by line, each line in one Write of the output. It
// is not safe for concurrent use.
type Writer struct {
	out io.Writer
	buf []byte
	// lines counts what was written.
	lines   int
	encoded bool
}

// WriterOption changes how a tape is written.
type WriterOption func(*Writer)

// Encoded says that the arguments and results of all records were made by an
// encoder: they are JSON without line breaks, and are not looked at again, which
// is most of the work of writing them. Of others it makes a file that is no tape.
func Encoded() WriterOption { return func(w *Writer) { w.encoded = true } }

// NewWriter returns a writer to out, which it neither buffers nor closes.
func NewWriter(out io.Writer, options ...WriterOption) *Writer {
	w := &Writer{out: out}
	for _, option := range options {
		option(w)
	}
	return w
}

// WriteManifest writes the manifest, which must be the first line.
func (w *Writer) WriteManifest(m *Manifest) error {
	if w.lines > 0 {
		return errors.New("the manifest must be the first line of a tape")
	}
	line, err := m.AppendJSON(w.buf[:0])
	if err != nil {
		return fmt.Errorf("manifest: %w", err)
	}
	return w.line(line)
}

// Write writes a record. Nothing is written of a record that has a member that
// is not JSON, except as [Encoded] says.
func (w *Writer) Write(r *Record) error {
	line, err := r.appendJSON(w.buf[:0], w.encoded)
	if err != nil {
		return fmt.Errorf("record %d: %w", r.Seq, err)
	}
	return w.line(line)
}

func (w *Writer) line(line []byte) error {
	line = append(line, '\n')
	w.buf = line
	w.lines++
	_, err := w.out.Write(line)
	return err
}

// WriteTape writes a whole tape: the manifest, if there is one, and the records.
func (w *Writer) WriteTape(t *Tape) error {
	return w.WriteAll(t.Manifest, func(yield func(Record) bool) {
		for i := range t.Records {
			if !yield(t.Records[i]) {
				return
			}
		}
	})
}

// WriteAll writes a tape whose records are made one at a time: the manifest, if it
// is not nil, and the records.
func (w *Writer) WriteAll(m *Manifest, records iter.Seq[Record]) error {
	if m != nil {
		if err := w.WriteManifest(m); err != nil {
			return err
		}
	}
	for rec := range records {
		if err := w.Write(&rec); err != nil {
			return err
		}
	}
	return nil
}

// WriteFile writes a tape to a file, readable by its owner only since tapes
// hold what users said. The file appears whole or not at all: it is written
// beside its place, synced and renamed. Where path is a symbolic link, the file
// it leads to is replaced.
func WriteFile(path string, t *Tape) error {
	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real
	}
	temp, err := os.CreateTemp(filepath.Dir(target), "."+filepath.Base(target)+".*")
	if err != nil {
		return at(path, err)
	}
	buffered := bufio.NewWriterSize(temp, 64<<10)
	err = NewWriter(buffered).WriteTape(t)
	err = errors.Join(err, buffered.Flush(), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), target)
	}
	if err != nil {
		return at(path, errors.Join(err, os.Remove(temp.Name())))
	}
	return nil
}

// at names the file that was asked for in an error about the temporary one.
func at(path string, err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		err = of.Err
	}
	return fmt.Errorf("%s: %w", path, err)
}
