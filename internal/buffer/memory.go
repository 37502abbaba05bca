package buffer

import (
	"fmt"
	"sync"
)

// What a chunk and a run cost beside their bytes: slice headers, map entry and
// allocator rounding.
const (
	chunkOverhead = 32
	runOverhead   = 128
)

type memory struct {
	max int64

	mu    sync.Mutex
	runs  map[ID]*memoryRun
	bytes int64
}

type memoryRun struct {
	chunks [][]byte
	bytes  int64
}

// NewMemory returns a buffer in memory that refuses a chunk larger than max
// bytes; keeping the sum under max is up to the caller, who knows what to drop.
func NewMemory(max int64) Buffer {
	return &memory{max: max, runs: make(map[ID]*memoryRun)}
}

func (m *memory) Append(id ID, chunk []byte) error {
	n := int64(len(chunk)) + chunkOverhead
	if n > m.max {
		return fmt.Errorf("%w: a chunk of %d bytes does not fit into %d", ErrFull, len(chunk), m.max)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	run := m.runs[id]
	if run == nil {
		run = &memoryRun{}
		m.runs[id] = run
		n += runOverhead
	}
	run.chunks = append(run.chunks, chunk)
	run.bytes += n
	m.bytes += n
	return nil
}

func (m *memory) Load(id ID) ([][]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if run := m.runs[id]; run != nil {
		// A full slice expression: an Append meanwhile must not show up in it.
		return run.chunks[:len(run.chunks):len(run.chunks)], nil
	}
	return nil, nil
}

func (m *memory) Drop(id ID) int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	run := m.runs[id]
	if run == nil {
		return 0
	}
	delete(m.runs, id)
	m.bytes -= run.bytes
	return run.bytes
}

func (m *memory) Bytes() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.bytes
}

func (m *memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.runs)
	m.bytes = 0
	return nil
}
