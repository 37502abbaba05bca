// Package tapestoretest has a host with a tape store in memory, for tests of the
// components that use one.
package tapestoretest

import (
	"context"

	"github.com/tapedeck/tapedeck/extension/tapestore"
	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/component"
)

// Host has one extension, under the id tape_store.
type Host struct {
	// Backend is where the store keeps its objects.
	Backend *storetest.Memory
	// Extension is the store as components see it.
	Extension tapestore.Extension
}

// NewHost makes a host with an empty store.
func NewHost() *Host {
	backend := storetest.NewMemory()
	return &Host{Backend: backend, Extension: New(backend)}
}

// GetExtensions implements component.Host.
func (h *Host) GetExtensions() map[component.ID]component.Component {
	return map[component.ID]component.Component{component.MustNewID("tape_store"): h.Extension}
}

// Store is the host's store.
func (h *Host) Store() *store.Store { return h.Extension.Store() }

// New makes the extension over a backend.
func New(backend store.Backend) tapestore.Extension {
	st, err := store.Open(backend, store.Options{})
	if err != nil {
		panic(err) // the zero options are good
	}
	return &extension{store: st}
}

type extension struct {
	store *store.Store

	tapestore.Registry
}

func (*extension) Start(context.Context, component.Host) error { return nil }

func (*extension) Shutdown(context.Context) error { return nil }

func (e *extension) Store() *store.Store { return e.store }

func (*extension) Translation() dialect.Options { return dialect.Options{} }

func (*extension) Class(row tape.Row) string { return tapestore.DefaultClass(row) }
