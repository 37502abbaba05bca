package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// print writes text to standard output.
func (a *app) print(text string) error {
	_, err := io.WriteString(a.Out, text)
	return err
}

// printJSON writes v to standard output as indented JSON.
func (a *app) printJSON(v any) error {
	text, err := marshal(v)
	if err != nil {
		return err
	}
	return a.print(string(text))
}

// marshal renders a report: indented, characters as they are, with a newline.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(v)
	return b.Bytes(), err
}

// output gives write a place to write to and makes what it wrote appear at
// path, or on standard output for "-", only when all of it is there.
func (a *app) output(path string, write func(io.Writer) error) error {
	if path == "-" {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			return err
		}
		_, err := b.WriteTo(a.Out)
		return err
	}
	return writeFile(path, write)
}

// writeFile makes a file appear whole, readable by its owner only as tapes hold
// what users said. Something that is not a regular file, such as /dev/null or a
// pipe, is written in place.
func writeFile(path string, write func(io.Writer) error) (err error) {
	if info, statErr := os.Stat(path); statErr == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return fmt.Errorf("%s is a directory", path)
		}
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tmp.Close()
			_ = os.Remove(tmp.Name())
		}
	}()
	if err = write(tmp); err != nil {
		return err
	}
	if err = tmp.Sync(); err != nil {
		return err
	}
	if err = tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), path)
}
