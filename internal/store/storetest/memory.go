package storetest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tapedeck/tapedeck/internal/store"
)

// Memory is a backend in memory. Like a bucket it cannot append.
type Memory struct {
	mu      sync.Mutex
	objects map[string]object
	// Fail, when set, is asked before every call; an error it returns is the
	// call's.
	Fail func(op, name string) error
	// Now, when set, is the clock by which objects are stored.
	Now func() time.Time
}

type object struct {
	data     []byte
	modified time.Time
}

var _ store.Backend = (*Memory)(nil)

// NewMemory makes an empty backend.
func NewMemory() *Memory {
	return &Memory{objects: map[string]object{}}
}

func (m *Memory) check(ctx context.Context, op, name string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := store.CheckName(strings.TrimSuffix(name, "/")); err != nil {
		return err
	}
	if m.Fail != nil {
		return m.Fail(op, name)
	}
	return nil
}

// Put implements store.Writer.
func (m *Memory) Put(ctx context.Context, name string, data []byte) error {
	if err := m.check(ctx, "put", name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now
	if m.Now != nil {
		now = m.Now
	}
	m.objects[name] = object{bytes.Clone(data), now()}
	return nil
}

// Delete implements store.Writer.
func (m *Memory) Delete(ctx context.Context, name string) error {
	if err := m.check(ctx, "delete", name); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, name)
	return nil
}

// Get implements store.Reader.
func (m *Memory) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := m.check(ctx, "get", name); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, store.ErrNotFound)
	}
	data := o.data
	return io.NopCloser(bytes.NewReader(data)), nil
}

// GetRange implements store.Reader.
func (m *Memory) GetRange(ctx context.Context, name string, offset, length int64) ([]byte, error) {
	if err := m.check(ctx, "get", name); err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	o, ok := m.objects[name]
	if !ok {
		return nil, fmt.Errorf("%s: %w", name, store.ErrNotFound)
	}
	data := o.data
	from := min(offset, int64(len(data)))
	return bytes.Clone(data[from:min(from+length, int64(len(data)))]), nil
}

// List implements store.Reader.
func (m *Memory) List(ctx context.Context, folder string) iter.Seq2[store.Object, error] {
	return func(yield func(store.Object, error) bool) {
		if err := m.check(ctx, "list", folder); err != nil {
			yield(store.Object{}, err)
			return
		}
		// As they are at one moment, like a page of a bucket.
		var objects []store.Object
		m.mu.Lock()
		for name, o := range m.objects {
			if strings.HasPrefix(name, folder) {
				objects = append(objects, store.Object{Name: name, Size: int64(len(o.data)), Modified: o.modified})
			}
		}
		m.mu.Unlock()
		slices.SortFunc(objects, func(a, b store.Object) int { return strings.Compare(a.Name, b.Name) })
		for _, object := range objects {
			if !yield(object, nil) {
				return
			}
		}
	}
}

// Folders implements store.Reader.
func (m *Memory) Folders(ctx context.Context, folder string) ([]string, error) {
	if err := m.check(ctx, "folders", folder); err != nil {
		return nil, err
	}
	var folders []string
	for _, name := range m.Names() {
		if rest, ok := strings.CutPrefix(name, folder); ok {
			if first, _, nested := strings.Cut(rest, "/"); nested && !slices.Contains(folders, first) {
				folders = append(folders, first)
			}
		}
	}
	return folders, nil
}

// Names gives the names of all objects, sorted.
func (m *Memory) Names() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(maps.Keys(m.objects))
}

// Damage replaces the bytes of an object, whatever its name says.
func (m *Memory) Damage(name string, change func([]byte) []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	o := m.objects[name]
	o.data = change(bytes.Clone(o.data))
	m.objects[name] = o
}
