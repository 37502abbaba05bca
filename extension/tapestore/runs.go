package tapestore

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
)

// Runs is a source of runs that are not in the store, or not all of them: a
// processor with its spool. It is asked with trace ids of 32 lower-case hex digits,
// from any goroutine, and for a tenant, "" for runs of none: a run that has nothing
// of that tenant's is not there for whoever asks.
type Runs interface {
	// Pending reports whether a run is still open.
	Pending(ctx context.Context, tenant, traceID string) bool
	// Keep sees to it that what the source has of a run is kept whole, whatever its
	// outcome; what it gave away before is for whoever asks to keep. An error means
	// that it could not be stored now.
	Keep(ctx context.Context, tenant, traceID string) (Kept, error)
}

// Kept is what became of a wish to keep a run.
type Kept uint8

const (
	// NotThere says that no source has anything of the run that is not kept.
	NotThere Kept = iota
	// KeptOnceDecided says that the run is open and will be kept.
	KeptOnceDecided
	// KeptNow says that the run came from a source, and is on its way to the store.
	KeptNow
)

// Registry asks all sources of runs. Its zero value has none. It is safe for
// concurrent use.
type Registry struct {
	mu      sync.RWMutex
	sources map[int]Runs
	next    int
}

// RegisterRuns adds a source, until unregister is called.
func (r *Registry) RegisterRuns(source Runs) (unregister func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.sources == nil {
		r.sources = map[int]Runs{}
	}
	id := r.next
	r.next++
	r.sources[id] = source
	return func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.sources, id)
	}
}

// asked are the sources. They are called without the lock: a processor may answer
// from under its own, and unregister from there too.
func (r *Registry) asked() []Runs {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Collect(maps.Values(r.sources))
}

// Pending asks all sources whether a run is still open.
func (r *Registry) Pending(ctx context.Context, tenant, traceID string) bool {
	return slices.ContainsFunc(r.asked(), func(s Runs) bool { return s.Pending(ctx, tenant, traceID) })
}

// Keep asks all sources to keep a run, because several may have a part of it. The
// answer is the best of them; an error is one only where none has kept it.
func (r *Registry) Keep(ctx context.Context, tenant, traceID string) (Kept, error) {
	best := NotThere
	var failed error
	for _, s := range r.asked() {
		kept, err := s.Keep(ctx, tenant, traceID)
		best, failed = max(best, kept), errors.Join(failed, err)
	}
	if best != NotThere {
		return best, nil
	}
	return NotThere, failed
}
