package tapestore

import (
	"errors"
	"fmt"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/component"
)

// Extension is what other components see of the extension. All methods are
// safe for concurrent use.
type Extension interface {
	component.Component

	// Store is the open store; nil before Start and after Shutdown.
	Store() *store.Store
	// Class names the retention rule that takes a kept run: the folder its
	// fragments and bodies go to.
	Class(row tape.Row) string
	// Translation says how spans become tapes, for all components alike.
	Translation() dialect.Options
	// RegisterRuns adds a source of runs that are not in the store, until
	// unregister is called. Pending and Keep ask all sources.
	RegisterRuns(source Runs) (unregister func())
	Runs
}

// ErrNoStore says that the configured extension is not there, is another one,
// or has not started.
var ErrNoStore = errors.New("no tape store")

// FromHost finds the extension by its id. Extensions start before all other
// components, so that it can be called in Start.
func FromHost(host component.Host, id component.ID) (Extension, error) {
	found, ok := host.GetExtensions()[id]
	if !ok {
		return nil, fmt.Errorf("%w: extension %q is not among service::extensions", ErrNoStore, id)
	}
	ext, ok := found.(Extension)
	if !ok {
		return nil, fmt.Errorf("%w: extension %q is not of type tape_store", ErrNoStore, id)
	}
	if ext.Store() == nil {
		return nil, fmt.Errorf("%w: extension %q has not started", ErrNoStore, id)
	}
	return ext, nil
}
