package spool

import (
	"errors"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"sync"
	"syscall"
)

// errKilled is what everything answers after a kill.
var errKilled = errors.New("killed")

// crashDisk is a storage that can stop at any step, in the middle of a write,
// that forgets on a loss of power what was not synced, and that fills up.
type crashDisk struct {
	mu    sync.Mutex
	files map[string]*crashFile
	// listed are the files as of the last sync of the directory.
	listed map[string]*crashFile

	steps, killAt int
	// tear is how much of the last write is done at a kill, from 0 to 1.
	tear float64
	dead bool

	room        int64 // what more may be written, if limited
	limited     bool
	noTruncate  bool
	badFrom     int64 // reads of badName that touch [badFrom, badTo) fail
	badTo       int64
	badName     string
	failingSync bool
}

type crashFile struct {
	d            *crashDisk
	name         string
	data, synced []byte
}

func newCrashDisk() *crashDisk {
	return &crashDisk{files: map[string]*crashFile{}, listed: map[string]*crashFile{}}
}

// step counts one change and tells whether it is the one at which to stop.
func (d *crashDisk) step() (last bool, err error) {
	if d.dead {
		return false, errKilled
	}
	d.steps++
	if d.steps == d.killAt {
		d.dead = true
		return true, errKilled
	}
	return false, nil
}

// restart makes the disk usable again, with all that was written.
func (d *crashDisk) restart() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead, d.killAt, d.steps = false, 0, 0
}

// losePower forgets what was not synced, but for a random part of it.
func (d *crashDisk) losePower(rnd *rand.Rand) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dead, d.killAt, d.steps = false, 0, 0
	files := map[string]*crashFile{}
	for name, f := range d.listed {
		files[name] = f
	}
	for name, f := range d.files {
		if rnd.IntN(2) == 0 {
			files[name] = f
		}
	}
	for _, f := range files {
		kept := append([]byte(nil), f.synced...)
		for at := 0; at < len(f.data); at += 512 {
			page := f.data[at:min(at+512, len(f.data))]
			if at+len(page) > len(f.synced) && rnd.IntN(3) > 0 {
				if at+len(page) > len(kept) {
					kept = append(kept, make([]byte, at+len(page)-len(kept))...)
				}
				from := max(at, len(f.synced))
				copy(kept[from:], f.data[from:at+len(page)])
			}
		}
		f.data, f.synced = kept, append([]byte(nil), kept...)
	}
	d.files = files
	d.listed = maps.Clone(files)
}

func (d *crashDisk) create(name string) (file, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.step(); err != nil {
		return nil, err
	}
	if d.files[name] != nil {
		return nil, os.ErrExist
	}
	f := &crashFile{d: d, name: name}
	d.files[name] = f
	return f, nil
}

func (d *crashDisk) open(name string) (file, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f := d.files[name]
	if f == nil {
		return nil, os.ErrNotExist
	}
	return f, nil
}

func (d *crashDisk) list() ([]string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	var names []string
	for name := range d.files {
		names = append(names, name)
	}
	return names, nil
}

func (d *crashDisk) rename(from, to string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.step(); err != nil {
		return err
	}
	d.files[to] = d.files[from]
	delete(d.files, from)
	return nil
}

func (d *crashDisk) remove(name string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if _, err := d.step(); err != nil {
		return err
	}
	delete(d.files, name)
	return nil
}

func (d *crashDisk) sync() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dead {
		return errKilled
	}
	d.listed = maps.Clone(d.files)
	return nil
}

func (d *crashDisk) durable() bool { return true }
func (d *crashDisk) close() error  { return nil }

func (f *crashFile) ReadAt(p []byte, off int64) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.name == f.d.badName && off < f.d.badTo && off+int64(len(p)) > f.d.badFrom {
		return 0, syscall.EIO
	}
	if off >= int64(len(f.data)) {
		return 0, io.EOF
	}
	n := copy(p, f.data[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (f *crashFile) WriteAt(p []byte, off int64) (int, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	last, err := f.d.step()
	switch {
	case last && len(p) <= 8:
		// A kill, or a loss of power, finds a few bytes in a row written or not.
		p = p[:int(math.Round(f.d.tear))*len(p)]
	case last:
		p = p[:int(float64(len(p))*f.d.tear)]
	case err != nil:
		return 0, err
	}
	// A hole left before the write takes no room.
	if grow := min(int64(len(p)), off+int64(len(p))-int64(len(f.data))); grow > 0 {
		if f.d.limited && grow > f.d.room {
			p, err = p[:int64(len(p))-grow+f.d.room], syscall.ENOSPC
			grow = f.d.room
		}
		if f.d.limited {
			f.d.room -= grow
		}
	}
	if end := int(off) + len(p); len(p) > 0 && end > len(f.data) {
		f.data = append(f.data, make([]byte, end-len(f.data))...)
	}
	if len(p) == 0 {
		return 0, err
	}
	return copy(f.data[off:], p), err
}

func (f *crashFile) Truncate(size int64) error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if _, err := f.d.step(); err != nil {
		return err
	}
	if f.d.noTruncate {
		return syscall.EIO
	}
	f.data = f.data[:size]
	return nil
}

func (f *crashFile) Sync() error {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	if f.d.dead {
		return errKilled
	}
	if f.d.failingSync {
		return syscall.EIO
	}
	f.synced = append([]byte(nil), f.data...)
	return nil
}

func (f *crashFile) Close() error { return nil }

func (f *crashFile) size() (int64, error) {
	f.d.mu.Lock()
	defer f.d.mu.Unlock()
	return int64(len(f.data)), nil
}
