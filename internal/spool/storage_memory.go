package spool

import (
	"io"
	"os"
	"sync"
)

// memory is the storage of a spool without a directory. Its files are lists of
// chunks, so that growing one never copies it.
type memory struct {
	mu    sync.Mutex
	files map[string]*memoryFile
}

type memoryFile struct {
	mu     sync.RWMutex
	chunks [][]byte
	length int64
}

const memoryChunk = 64 << 10

func newMemory() *memory { return &memory{files: map[string]*memoryFile{}} }

func (m *memory) create(name string) (file, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.files[name] != nil {
		return nil, &os.PathError{Op: "create", Path: name, Err: os.ErrExist}
	}
	f := &memoryFile{}
	m.files[name] = f
	return f, nil
}

func (m *memory) open(name string) (file, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.files[name]
	if f == nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: os.ErrNotExist}
	}
	return f, nil
}

func (m *memory) list() ([]string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	names := make([]string, 0, len(m.files))
	for name := range m.files {
		names = append(names, name)
	}
	return names, nil
}

func (m *memory) rename(from, to string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	f := m.files[from]
	if f == nil {
		return &os.PathError{Op: "rename", Path: from, Err: os.ErrNotExist}
	}
	delete(m.files, from)
	m.files[to] = f
	return nil
}

func (m *memory) remove(name string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.files, name)
	return nil
}

func (m *memory) sync() error   { return nil }
func (m *memory) durable() bool { return false }
func (m *memory) close() error  { return nil }

func (f *memoryFile) ReadAt(p []byte, off int64) (int, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	done := 0
	for done < len(p) && off < f.length {
		chunk := f.chunks[off/memoryChunk][off%memoryChunk:]
		n := copy(p[done:], chunk[:min(int64(len(chunk)), f.length-off)])
		done += n
		off += int64(n)
	}
	if done < len(p) {
		return done, io.EOF
	}
	return done, nil
}

func (f *memoryFile) WriteAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	end := off + int64(len(p))
	for int64(len(f.chunks))*memoryChunk < end {
		f.chunks = append(f.chunks, make([]byte, memoryChunk))
	}
	for rest := p; len(rest) > 0; {
		n := copy(f.chunks[off/memoryChunk][off%memoryChunk:], rest)
		rest = rest[n:]
		off += int64(n)
	}
	f.length = max(f.length, end)
	return len(p), nil
}

func (f *memoryFile) Truncate(size int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if size >= f.length {
		return nil
	}
	f.chunks = f.chunks[:(size+memoryChunk-1)/memoryChunk]
	if size%memoryChunk != 0 {
		clear(f.chunks[len(f.chunks)-1][size%memoryChunk:])
	}
	f.length = size
	return nil
}

func (f *memoryFile) size() (int64, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.length, nil
}

func (f *memoryFile) Sync() error  { return nil }
func (f *memoryFile) Close() error { return nil }
