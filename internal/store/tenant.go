package store

import (
	"container/list"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
)

const (
	tenantsFolder = "tenants/"
	// maxOpenTenants bounds the stores of tenants that are open at a time, and
	// tenantCache what the index of each remembers, in bytes of a kind.
	maxOpenTenants = 128
	tenantCache    = 1 << 20
)

// Tenant gives the store of a tenant: one of the same layout below
// tenants/<folder>/. Nothing that is written, read, listed or deleted through it
// touches what belongs to others. "" is the store of runs without a tenant.
//
// The folder is the name with what is not a small letter, a digit, '_', '-' or an
// inner '.' written as '=' and two hex digits for each byte: it never leaves its
// place, and no two names meet where a file system does not tell letters by their
// case. The error is ErrBadName for names whose folder is longer than 128 bytes.
func (s *Store) Tenant(name string) (*Store, error) {
	if name == "" {
		return s.tenants.root, nil
	}
	folder, err := tenantFolder(name)
	if err != nil {
		return nil, err
	}
	return s.tenants.store(folder)
}

// Tenants lists the tenants that have anything in the store, sorted by folder.
func (s *Store) Tenants(ctx context.Context) ([]string, error) {
	root := s.tenants.root
	sources := []Reader{root.backend}
	if j := s.tenants.opts.Journal; j != nil {
		// Rows that are in no other place yet.
		sources = append(sources, j)
	}
	var folders []string
	for _, from := range sources {
		more, err := from.Folders(ctx, tenantsFolder)
		if err != nil {
			return nil, fmt.Errorf("list tenants: %w", err)
		}
		folders = append(folders, more...)
	}
	slices.Sort(folders)
	var names []string
	for _, folder := range slices.Compact(folders) {
		if name, ok := tenantOf(folder); ok {
			names = append(names, name)
		}
	}
	return names, nil
}

// AllTenants calls fn with the store of runs without a tenant and with that of
// every tenant. What goes wrong with one does not keep it from the others.
func (s *Store) AllTenants(ctx context.Context, fn func(tenant string, s *Store) error) error {
	names, err := s.Tenants(ctx)
	errs := []error{err}
	for _, name := range append([]string{""}, names...) {
		if ctx.Err() != nil {
			errs = append(errs, context.Cause(ctx))
			break
		}
		st, err := s.Tenant(name)
		if err == nil {
			err = fn(name, st)
		}
		if err != nil && name != "" {
			err = fmt.Errorf("tenant %q: %w", name, err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// tenants are the open stores of tenants.
type tenants struct {
	root *Store
	opts Options

	mu    sync.Mutex
	order *list.List // of *openTenant, the last used first
	open  map[string]*list.Element
	// closing made room for others and may still hold rows.
	closing []*Store
}

type openTenant struct {
	folder string
	store  *Store
}

func (t *tenants) store(folder string) (*Store, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if e, ok := t.open[folder]; ok {
		t.order.MoveToFront(e)
		return e.Value.(*openTenant).store, nil
	}
	st := t.make(tenantsFolder + folder + "/")
	t.open[folder] = t.order.PushFront(&openTenant{folder, st})
	if t.order.Len() > maxOpenTenants {
		old := t.order.Remove(t.order.Back()).(*openTenant)
		delete(t.open, old.folder)
		t.closing = append(t.closing, old.store)
	}
	return st, nil
}

// make opens a store below a prefix. It writes under a name of its own, as it may
// be closed and opened again while the process lives.
func (t *tenants) make(prefix string) *Store {
	opts := t.opts
	opts.Writer = randomWriter()
	damaged := opts.OnDamaged
	opts.OnDamaged = func(name string, err error) { damaged(prefix+name, err) }
	if opts.Journal != nil {
		opts.Journal = &subAppender{sub{opts.Journal, prefix}, opts.Journal}
	}
	var backend Backend = &sub{t.root.backend, prefix}
	if to, ok := t.root.backend.(Appender); ok {
		backend = &subAppender{sub{t.root.backend, prefix}, to}
	}
	st := newStore(backend, t.root.codec, &opts)
	st.index.blocks.Resize(tenantCache)
	st.index.filters.Resize(tenantCache)
	st.tenants = t
	return st
}

// each calls fn with the open stores of tenants, and for the last time with those
// that made room.
func (t *tenants) each(fn func(s *Store, last bool) error) error {
	t.mu.Lock()
	closing := t.closing
	t.closing = nil
	open := make([]*Store, 0, t.order.Len())
	for e := t.order.Front(); e != nil; e = e.Next() {
		open = append(open, e.Value.(*openTenant).store)
	}
	t.mu.Unlock()
	var errs []error
	for _, st := range closing {
		if err := fn(st, true); err != nil {
			errs = append(errs, err)
			t.mu.Lock()
			t.closing = append(t.closing, st)
			t.mu.Unlock()
		}
	}
	for _, st := range open {
		errs = append(errs, fn(st, false))
	}
	return errors.Join(errs...)
}

func tenantFolder(name string) (string, error) {
	var b strings.Builder
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9', c == '_', c == '-',
			c == '.' && i > 0 && i < len(name)-1:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "=%02x", c)
		}
		if b.Len() > maxSegment {
			return "", fmt.Errorf("tenant of %d bytes: %w", len(name), ErrBadName)
		}
	}
	return b.String(), nil
}

// tenantOf is the name that a folder stands for, if it is one of ours.
func tenantOf(folder string) (string, bool) {
	var name []byte
	for i := 0; i < len(folder); i++ {
		if folder[i] != '=' {
			name = append(name, folder[i])
			continue
		}
		if i+2 >= len(folder) {
			return "", false
		}
		raw, err := hex.DecodeString(folder[i+1 : i+3])
		if err != nil {
			return "", false
		}
		name = append(name, raw...)
		i += 2
	}
	again, err := tenantFolder(string(name))
	return string(name), err == nil && again == folder
}
