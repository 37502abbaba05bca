package store

import (
	"context"
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
// by it. Whoever stops it calls [Store.Flush] last.
func (s *Store) Maintain(ctx context.Context, interval time.Duration, failed func(error)) {
	s.index.maintain(ctx, interval, tidyEvery, func(err error) {
		if err != nil && ctx.Err() == nil {
			failed(err)
		}
	}, s.Compact)
}

func (x *index) maintain(ctx context.Context, flushEvery, tidyEvery time.Duration, tell func(error), compact func(context.Context) error) {
	var full chan struct{}
	flush := make(<-chan time.Time)
	if x.journal != nil {
		full = x.journal.full
		ticker := time.NewTicker(flushEvery)
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
			tell(x.flush(ctx, false))
			if left {
				left = false
				tell(x.flushLeft(ctx))
			}
		case <-full:
			tell(x.flush(ctx, false))
		case <-tidy.C:
			if x.journal != nil {
				tell(x.flushLeft(ctx))
			}
			tell(compact(ctx))
			tidy.Reset(pause())
		}
	}
}
