package recorder

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tapedeck/tapedeck/tape"
)

// closeStall bounds how long Close goes on while nothing is taken. A collector
// shuts down without a deadline, and a next component that is down must not hang
// it; one that is only slow gets everything.
const closeStall = 10 * time.Second

var errStalled = errors.New("nothing was taken for 10 seconds")

// Close refuses new spans and ends the recorder. With a spool on disk open runs and
// look-back stay there, for the next recorder on the directory to go on with. With
// one in memory every open run is decided with trigger "shutdown"; Close goes on as
// long as ctx does and the next component takes something every ten seconds; what
// is left then is counted as dropped, and is the error. Close may be called more
// than once.
func (r *Recorder) Close(ctx context.Context) error {
	if r.closed.Swap(true) {
		return nil
	}
	var err error
	if r.cfg.Spool.Directory == "" {
		err = r.drain(ctx)
	} else {
		err = r.park(ctx)
	}
	return errors.Join(err, r.spool.Close())
}

// park waits for those who work on runs.
func (r *Recorder) park(ctx context.Context) error {
	for _, s := range r.shards {
		for _, id := range s.ids(func(rn *run) bool { return rn.busy }) {
			// Owned for good: whoever comes now shall not begin anew.
			if _, err := r.own(ctx, id); err != nil {
				return fmt.Errorf("a decision goes on and will be repeated: %w", context.Cause(ctx))
			}
		}
	}
	return nil
}

// ids lists the runs that fn wants.
func (s *shard) ids(fn func(*run) bool) (ids []ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, rn := range s.runs {
		if fn(rn) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (r *Recorder) drain(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(closeStall, func() { cancel(errStalled) })
	defer stalled.Stop()

	var open, latest []ID
	for _, s := range r.shards {
		open = append(open, s.ids(func(rn *run) bool { return !rn.state.decided() })...)
		latest = append(latest, s.ids(func(rn *run) bool { return rn.state.decided() && r.good.isLatest(rn.id) })...)
	}
	var runs, spans atomic.Int64
	each(len(open), func(i int) {
		if lost := r.closeRun(ctx, open[i]); lost > 0 {
			runs.Add(1)
			spans.Add(int64(lost))
			return
		}
		stalled.Reset(closeStall)
	})
	each(len(latest), func(i int) {
		if rn, err := r.own(ctx, latest[i]); err == nil && rn != nil {
			_ = r.expire(ctx, rn)
			r.release(rn)
		}
	})
	if n := runs.Load(); n > 0 {
		return fmt.Errorf("%d spans of %d open runs are lost, because nobody took them: %w", spans.Load(), n, context.Cause(ctx))
	}
	return nil
}

// closeRun decides a run, again and again until ctx ends, and returns the number
// of spans that are lost because nobody took them.
func (r *Recorder) closeRun(ctx context.Context, id ID) (lost int) {
	const pause = 100 * time.Millisecond
	for {
		// Whoever works on it ends when ctx does.
		rn, _ := r.own(context.WithoutCancel(ctx), id)
		if rn == nil {
			return 0
		}
		if rn.state != stateOpen {
			r.release(rn)
			return 0
		}
		if ctx.Err() != nil {
			lost = int(rn.spans)
			r.discard(rn, DropShutdown)
			r.release(rn)
			return lost
		}
		why := numberOf[trigger](triggers, tape.TriggerShutdown)
		if rn.forced {
			why = rn.trigger
		}
		err := r.decide(ctx, rn, why)
		r.release(rn)
		if err == nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}

// each calls fn for 0..n-1 on as many goroutines as there are cores and returns
// when all are done.
func each(n int, fn func(int)) {
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range n {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			fn(i)
		})
	}
	wg.Wait()
}
