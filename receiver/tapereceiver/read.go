package tapereceiver

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/tape"
	"go.uber.org/zap"
)

// verdict is what became of a run.
type verdict int

const (
	// pending runs may still be taken at another time.
	pending verdict = iota
	// settled runs will not be taken, however often they are offered.
	settled
	// sent runs were taken whole.
	sent
)

func (r *tapeReceiver) readIDs(ctx context.Context) error {
	n := 0
	for _, id := range r.cfg.TraceIDs {
		v, err := r.byID(ctx, id)
		if err != nil {
			return err
		}
		if v == sent {
			n++
		}
	}
	r.ended(n)
	return nil
}

// byID sends a run of whatever tenant.
func (r *tapeReceiver) byID(ctx context.Context, id string) (verdict, error) {
	found := r.store
	err := r.eachTenant(ctx, func(tenant string, st *store.Store) error {
		if tenant == "" {
			return nil
		}
		return r.retried(ctx, func() error {
			_, err := st.Row(ctx, id)
			if err == nil {
				found = st
			}
			if errors.Is(err, store.ErrNotFound) {
				return nil
			}
			return err
		})
	})
	if ctx.Err() != nil {
		return pending, ctx.Err()
	}
	if err != nil {
		// It may be where it can be read all the same.
		r.logger.Warn("The index of tenants cannot be read", zap.String("trace_id", id), zap.Error(err))
	}
	return r.run(ctx, found, id)
}

// eachTenant calls fn with the store of runs without a tenant and with those of the
// tenants, as far as they are selected. What goes wrong with one does not keep it
// from the others.
func (r *tapeReceiver) eachTenant(ctx context.Context, fn func(tenant string, st *store.Store) error) error {
	names := []string{""}
	err := r.retried(ctx, func() error {
		more, err := r.store.Tenants(ctx)
		names = append(names[:1], more...)
		return err
	})
	errs := []error{err}
	for _, name := range names {
		if len(r.cfg.Tenant) > 0 && !slices.Contains(r.cfg.Tenant, name) {
			continue
		}
		st, err := r.store.Tenant(name)
		if err == nil {
			err = fn(name, st)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil && name != "" {
			err = fmt.Errorf("tenant %q: %w", name, err)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (r *tapeReceiver) readAll(ctx context.Context, query store.Query) error {
	n, err := r.pages(ctx, query, func(string, *tape.Row) bool { return true }, func(string, *tape.Row, verdict) {})
	if err != nil {
		return err
	}
	r.ended(n)
	return nil
}

// ended says how much was read: a selection that fits nothing is usually a
// mistake.
func (r *tapeReceiver) ended(n int) {
	if n == 0 {
		r.logger.Warn("No stored run was sent: the store has none that fits the configuration")
		return
	}
	r.logger.Info("All stored runs that fit the configuration were sent", zap.Int("runs", n))
}

// resume is where mode follow begins: behind the checkpoint, else now or at the time
// that is configured. It is saved at once, so that what comes from now on is found
// also when nothing of it is taken before a restart.
func (r *tapeReceiver) resume(ctx context.Context, since, now time.Time) (*followState, error) {
	state := &followState{}
	known, err := r.checkpoint.load(ctx, followKey, state)
	if err != nil {
		return nil, err
	}
	if state.Seen == nil {
		state.Seen = map[string]string{}
	}
	if known {
		r.logger.Info("Going on behind the checkpoint", zap.Time("looked", state.Looked), zap.Int("runs", len(state.Seen)))
		return state, nil
	}
	state.From = now
	if !since.IsZero() {
		state.From = since
	}
	state.Looked = state.From
	return state, r.checkpoint.save(ctx, followKey, state)
}

// follow looks again and again for runs decided since then. A run whose row changed
// is sent again.
func (r *tapeReceiver) follow(ctx context.Context, query store.Query, state *followState) error {
	for {
		query.Since = state.From
		if back := state.Looked.Add(-r.cfg.LookBack); back.After(state.From) {
			query.Since = back
		}
		if err := r.look(ctx, query, state); err != nil {
			return err
		}
		if err := sleep(ctx, r.cfg.PollInterval); err != nil {
			return err
		}
	}
}

// look sends what is new. The checkpoint moves with each run that is settled, and
// its time only when all are.
func (r *tapeReceiver) look(ctx context.Context, query store.Query, state *followState) error {
	looking := time.Now()
	open, unsaved := false, 0
	_, err := r.pages(ctx, query,
		func(tenant string, row *tape.Row) bool { return state.Seen[seenKey(tenant, row)] != row.Decided },
		func(tenant string, row *tape.Row, v verdict) {
			if v == pending {
				open = true
				return
			}
			state.Seen[seenKey(tenant, row)] = row.Decided
			if unsaved++; unsaved == saveEvery {
				r.save(ctx, state)
				unsaved = 0
			}
		})
	changed := unsaved > 0
	switch {
	case ctx.Err() != nil:
		if changed {
			// What was taken is taken, whatever else happens.
			r.save(context.WithoutCancel(ctx), state)
		}
		return ctx.Err()
	case err != nil:
		r.logger.Error("The store cannot be read, trying again at the next look", zap.Error(err))
	case !open:
		state.Looked = looking
	}
	changed = state.forget(query.Since) || changed
	if changed || state.Looked.Equal(looking) && looking.Sub(state.saved) > saveIdle {
		r.save(ctx, state)
	}
	return nil
}

func (r *tapeReceiver) save(ctx context.Context, state *followState) {
	if err := r.checkpoint.save(ctx, followKey, state); err != nil {
		r.logger.Error("The checkpoint cannot be written: after a restart, runs may be sent again", zap.Error(err))
		return
	}
	state.saved = time.Now()
}

// pages sends the runs of a query that want agrees to, tenant by tenant and page by
// page, tells became what became of them, and counts those that were sent whole.
func (r *tapeReceiver) pages(ctx context.Context, query store.Query, want func(string, *tape.Row) bool, became func(string, *tape.Row, verdict)) (int, error) {
	n := 0
	err := r.eachTenant(ctx, func(tenant string, st *store.Store) error {
		query := query
		for {
			var page store.Page
			if err := r.retried(ctx, func() (err error) {
				page, err = st.Rows(ctx, query)
				return err
			}); err != nil {
				return err
			}
			for i := range page.Rows {
				row := &page.Rows[i]
				if !want(tenant, row) {
					continue
				}
				v, err := r.run(ctx, st, row.TraceID)
				if err != nil {
					return err
				}
				became(tenant, row, v)
				if v == sent {
					n++
				}
			}
			if page.Next == "" {
				return nil
			}
			query.Cursor = page.Next
		}
	})
	return n, err
}

// lasting reports errors of the store that will not go away.
func lasting(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrTooLarge)
}
