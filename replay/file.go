package replay

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/tapedeck/tapedeck/tape"
)

// tapeFile appends lines to a tape. Each line is one write, so that a process
// that dies leaves whole lines behind it.
type tapeFile struct {
	file *os.File
	path string
	// made: the file did not exist before.
	made bool
}

func openFile(path string) (*tapeFile, error) {
	_, err := os.Stat(path)
	made := errors.Is(err, os.ErrNotExist)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	f := &tapeFile{file: file, path: path, made: made}
	if err := f.endLine(); err != nil {
		return nil, errors.Join(err, f.abandon())
	}
	return f, nil
}

// endLine ends the last line of a file that a text editor left open.
func (f *tapeFile) endLine() error {
	info, err := f.file.Stat()
	if err != nil || info.Size() == 0 {
		return err
	}
	last := make([]byte, 1)
	if _, err := f.file.ReadAt(last, info.Size()-1); err != nil || last[0] == '\n' {
		return err
	}
	_, err = f.file.WriteString("\n")
	return err
}

func (f *tapeFile) Write(line []byte) (int, error) { return f.file.Write(line) }

// abandon closes the file, and removes it if it was made here.
func (f *tapeFile) abandon() error {
	err := f.file.Close()
	if f.made {
		err = errors.Join(err, os.Remove(f.path))
	}
	return err
}

// finish syncs and closes the file; a manifest replaces the first line, by a
// new file that takes the place of the old one at once.
func (f *tapeFile) finish(manifest *tape.Manifest) error {
	err := f.file.Sync()
	if err != nil || manifest == nil {
		return errors.Join(err, f.file.Close())
	}
	if real, err := filepath.EvalSymlinks(f.path); err == nil {
		// A symbolic link stays one: it is what it leads to that is replaced.
		f.path = real
	}
	temp, err := os.CreateTemp(filepath.Dir(f.path), "."+filepath.Base(f.path)+".*")
	if err != nil {
		return errors.Join(err, f.file.Close())
	}
	// Not every system lets an open file be replaced.
	err = errors.Join(f.copyTo(temp, manifest), temp.Sync(), temp.Close(), f.file.Close())
	if err == nil {
		err = os.Rename(temp.Name(), f.path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(temp.Name()))
	}
	return err
}

func (f *tapeFile) copyTo(out io.Writer, manifest *tape.Manifest) error {
	if _, err := f.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	lines := bufio.NewReader(f.file)
	for {
		// The old manifest is passed over, however long it is.
		if _, err := lines.ReadSlice('\n'); err == nil {
			break
		} else if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
	if err := tape.NewWriter(out).WriteManifest(manifest); err != nil {
		return err
	}
	_, err := lines.WriteTo(out)
	return err
}
