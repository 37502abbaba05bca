package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	stream := a.stream(path)
	if stream == nil {
		return writeFile(path, write)
	}
	var b bytes.Buffer
	if err := write(&b); err != nil {
		return err
	}
	_, err := b.WriteTo(stream)
	return err
}

// stream gives the stream that a path names: standard output for "-", and one
// that is open on the very file, as by /dev/stdout. It would not see what a new
// file in its place holds.
func (a *app) stream(path string) io.Writer {
	if path == "-" {
		return a.Out
	}
	named, err := os.Stat(path)
	if err != nil {
		return nil
	}
	for _, w := range []io.Writer{a.Out, a.Err} {
		if f, ok := w.(*os.File); ok {
			if open, err := f.Stat(); err == nil && os.SameFile(named, open) {
				return w
			}
		}
	}
	return nil
}

// checkOutput reports now what would keep output from writing to path later.
func (a *app) checkOutput(path string) error {
	if a.stream(path) != nil {
		return nil
	}
	temp, err := besides(path)
	if err != nil || temp == nil {
		return err
	}
	return errors.Join(temp.Close(), os.Remove(temp.Name()))
}

// writeFile makes a file appear whole, readable by its owner only as tapes hold
// what users said. Behind a symbolic link it is the file that the link leads to.
// Something that is not a regular file, such as /dev/null or a pipe, is written
// in place.
func writeFile(path string, write func(io.Writer) error) error {
	temp, err := besides(path)
	if err != nil {
		return err
	}
	if temp == nil {
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	err = errors.Join(write(temp), temp.Sync(), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), behindLinks(path))
	}
	if err != nil {
		return at(path, errors.Join(err, os.Remove(temp.Name())))
	}
	return nil
}

// besides makes the temporary file that is to become the one at path; nil for
// what is not a regular file.
func besides(path string) (*os.File, error) {
	if path == "" {
		return nil, usage("the name of the file to write is empty")
	}
	real := behindLinks(path)
	if info, err := os.Stat(real); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return nil, fmt.Errorf("%s is a directory", path)
		}
		return nil, nil
	}
	temp, err := os.CreateTemp(filepath.Dir(real), "."+filepath.Base(real)+"-*")
	if err != nil {
		return nil, at(path, err)
	}
	return temp, nil
}

// behindLinks is the path without symbolic links, as far as it exists.
func behindLinks(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// at names the path that was asked for in an error about the temporary file.
func at(path string, err error) error {
	var of *fs.PathError
	if errors.As(err, &of) {
		return fmt.Errorf("%s: %w", path, of.Err)
	}
	return fmt.Errorf("%s: %w", path, err)
}
