package recorder

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/tapedeck/tapedeck/tape"
)

// closeStall bounds how long Close goes on while nothing is taken. A collector
// shuts down without a deadline, and a next component that is down must not hang
// it; one that is only slow gets everything.
const closeStall = 10 * time.Second

var errStalled = errors.New("nothing was taken for 10 seconds")

// Close decides every open run with trigger "shutdown" and refuses new ones. It
// goes on as long as ctx does and the next component takes something every ten
// seconds; what is left then is counted as dropped, and is the error. Close may be
// called more than once.
func (r *Recorder) Close(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stalled := time.AfterFunc(closeStall, func() { cancel(errStalled) })
	defer stalled.Stop()

	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	var open []*run
	for e := r.idx.undecided.Front(); e != nil; e = e.Next() {
		open = append(open, e.Value.(*run))
	}
	r.mu.Unlock()

	var runs, spans atomic.Int64
	each(len(open), func(i int) {
		if lost := r.closeRun(ctx, open[i]); lost > 0 {
			runs.Add(1)
			spans.Add(int64(lost))
			return
		}
		stalled.Reset(closeStall)
	})
	err := r.deps.Buffer.Close()
	if n := runs.Load(); n > 0 {
		return fmt.Errorf("%d spans of %d open runs are lost, because nobody took them: %w", spans.Load(), n, context.Cause(ctx))
	}
	return err
}

// closeRun decides a run, again and again until ctx ends, and returns the number
// of spans that are lost because nobody took them.
func (r *Recorder) closeRun(ctx context.Context, rn *run) (lost int) {
	const pause = 100 * time.Millisecond
	for {
		r.mu.Lock()
		switch {
		case rn.state == stateDeciding:
			// Somebody else has begun, and the run may be open again afterwards.
			busy := rn.busy
			r.mu.Unlock()
			select {
			case <-busy:
				continue
			case <-ctx.Done():
				return 0
			}
		case rn.state != stateOpen:
			r.mu.Unlock()
			return 0
		case ctx.Err() != nil:
			lost = rn.spans
			r.discard(rn, DropShutdown)
			r.mu.Unlock()
			return lost
		}
		trigger := tape.TriggerShutdown
		if rn.forced != "" {
			trigger = rn.forced
		}
		r.mu.Unlock()
		if r.decide(ctx, rn, trigger) == nil {
			continue
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause):
		}
	}
}
