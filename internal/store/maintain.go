package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"
)

// DefaultFlushInterval is how long rows stay in the journal alone.
const DefaultFlushInterval = 10 * time.Second

// tidyEvery is how often the index is looked through for what others left behind
// and for hours to compact. A random half is left out, so that collectors that
// were started together do not all do the same work.
const tidyEvery = 10 * time.Minute

// Maintain keeps the index in order until the context ends: every interval, and
// when a journal is full, it writes the rows of this process to Parquet files; now
// and then it does so for processes that are gone, and compacts finished hours.
// What goes wrong is told to failed and tried again the next time; no row is lost
// by it. The indexes of tenants are kept in order with it. Whoever stops it calls
// [Store.Flush] last.
func (s *Store) Maintain(ctx context.Context, interval time.Duration, failed func(error)) {
	tell := func(err error) {
		if err != nil && ctx.Err() == nil {
			failed(err)
		}
	}
	var full chan struct{}
	flush := make(<-chan time.Time)
	if s.index.journal != nil {
		full = s.index.journal.full
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		flush = ticker.C
	}
	// What the process before this one left is taken up with the first rows.
	left := true
	pause := func() time.Duration { return tidyEvery - rand.N(tidyEvery/2) }
	tidy := time.NewTimer(pause())
	defer tidy.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-flush:
			tell(s.Flush(ctx, false))
			if left {
				left = false
				tell(s.AllTenants(ctx, func(_ string, s *Store) error { return s.flushLeft(ctx) }))
			}
		case <-full:
			tell(s.Flush(ctx, false))
		case <-tidy.C:
			tell(s.AllTenants(ctx, func(_ string, s *Store) error {
				return errors.Join(s.flushLeft(ctx), s.Compact(ctx))
			}))
			tidy.Reset(pause())
		}
	}
}

// flushLeft writes what processes that are gone have left in journals.
func (s *Store) flushLeft(ctx context.Context) error {
	if s.index.journal == nil {
		return nil
	}
	return s.index.flushLeft(ctx)
}
