package cli

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"

	"github.com/tapedeck/tapedeck/internal/bundle"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// tapeFile is where a tape is read from: a file of its own, or a bundle, which is a
// directory or packed.
type tapeFile struct {
	// path is that of the tape, or of the packed bundle.
	path string
	// packed is nil for a tape that is a file of its own.
	packed *bundle.Packed
}

// findTape looks what there is under a path. Where there is nothing, reading says so.
func findTape(path string) (*tapeFile, error) {
	if inside := filepath.Join(path, "tape.jsonl"); exists(inside) {
		path = inside
	}
	f := &tapeFile{path: path}
	file, err := os.Open(path)
	if err != nil {
		return f, nil
	}
	defer func() { _ = file.Close() }()
	r := bufio.NewReader(file)
	if magic, err := r.Peek(2); err != nil || string(magic) != "\x1f\x8b" {
		return f, nil
	}
	if f.packed, err = bundle.Read(r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// read reads the tape.
func (f *tapeFile) read() (*tape.Tape, error) {
	if f.packed == nil {
		return tape.ReadFile(f.path)
	}
	t, err := tape.ReadAll(bytes.NewReader(f.packed.Tape))
	if err != nil {
		err = fmt.Errorf("%s: tape.jsonl: %w", f.path, err)
	}
	return t, err
}

// open starts a session over the tape.
func (f *tapeFile) open(options []replay.Option) (*replay.Session, error) {
	if f.packed == nil {
		return replay.Open(f.path, options...)
	}
	t, err := f.read()
	if err != nil {
		return nil, err
	}
	return replay.New(t, append(options, replay.WithName(f.path))...)
}
