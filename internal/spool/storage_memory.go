package spool

import (
	"io"
	"os"
	"sync"
)

// memory is the storage of a spool without a directory. Its files are lists of
// chunks, so that growing one never copies it, and a removed one leaves its
// chunks to the next.
type memory struct {
	mu    sync.Mutex
	files map[string]*memoryFile
}

type memoryFile struct {
	mu     sync.RWMutex
	chunks []*[memoryChunk]byte
	length int64
}

const memoryChunk = 64 << 10

var chunks = sync.Pool{New: func() any { return new([memoryChunk]byte) }}

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
	if f := m.files[name]; f != nil {
		delete(m.files, name)
		f.shrink(0)
	}
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
		f.chunks = append(f.chunks, chunks.Get().(*[memoryChunk]byte))
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
	f.shrink(size)
	return nil
}

func (f *memoryFile) shrink(size int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if size >= f.length {
		return
	}
	keep := (size + memoryChunk - 1) / memoryChunk
	for i, c := range f.chunks[keep:] {
		f.chunks[keep+int64(i)] = nil
		chunks.Put(c)
	}
	f.chunks = f.chunks[:keep]
	f.length = size
}

func (f *memoryFile) size() (int64, error) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.length, nil
}

func (f *memoryFile) Sync() error  { return nil }
func (f *memoryFile) Close() error { return nil }
