package rebuild

import (
	"context"
	"errors"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/offload"
	"github.com/tapedeck/tapedeck/internal/store"
)

// fetching bounds the bodies that are asked for at a time.
const fetching = 16

// fetched is what became of a wish for a body.
type fetched struct {
	data []byte
	err  error
}

// restore puts the bodies of a run back, and lists those that could not be had.
func restore(run *store.Run, bodies map[offload.Ref]fetched) []offload.Ref {
	// The store has compared them with their hashes. What is reported as an error is in missing as well.
	missing, _ := offload.RestoreChecked(run.Traces, func(ref offload.Ref) ([]byte, error) {
		body := bodies[ref]
		delete(bodies, ref) // asked for once, and kept by Restore
		return body.data, body.err
	})
	return missing
}

// fetch reads the bodies of a run together. The error is that of a backend that cannot
// be read.
func fetch(ctx context.Context, st *store.Store, run *store.Run) (map[offload.Ref]fetched, error) {
	refs := offload.Refs(run.Traces)
	if len(refs) == 0 {
		return nil, nil
	}
	places := placesOf(run, decidedTimes(run))
	bodies := make(map[offload.Ref]fetched, len(refs))
	var mu sync.Mutex
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(fetching)
	for _, ref := range refs {
		group.Go(func() error {
			data, err := st.Blob(ctx, ref.SHA256, places...)
			switch {
			case err == nil, errors.Is(err, store.ErrNotFound), errors.Is(err, store.ErrBadName),
				errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrTooLarge):
			default:
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			bodies[ref] = fetched{data, err}
			return nil
		})
	}
	return bodies, group.Wait()
}

// placesOf says where the bodies of a run should be.
func placesOf(run *store.Run, decided []time.Time) []store.Place {
	var places []store.Place
	for _, at := range decided {
		for _, class := range run.Classes {
			places = append(places, store.Place{Class: class, At: at})
		}
	}
	return places
}

// decidedTimes are when a run was decided, as the rows that its spans carry tell.
func decidedTimes(run *store.Run) []time.Time {
	var times []time.Time
	for _, rs := range run.Traces.ResourceSpans().All() {
		for _, ss := range rs.ScopeSpans().All() {
			for _, span := range ss.Spans().All() {
				row, ok := attr.RowFrom(span.Attributes())
				if !ok {
					continue
				}
				at, err := time.Parse(time.RFC3339Nano, row.Decided)
				if err != nil {
					continue
				}
				times = append(times, at)
			}
		}
	}
	return times
}
