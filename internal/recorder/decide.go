package recorder

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/tape"
)

// Pauses between attempts to hand on a decision that the next component did not
// take.
const (
	retryFirst = time.Second
	retryMost  = 30 * time.Second
)

// deadline is when the run has to be decided if nothing more comes.
func (r *Recorder) deadline(rn *run) time.Time {
	if rn.forced != "" {
		return rn.retry
	}
	at := earlier(rn.first.Add(r.cfg.MaxAge), rn.last.Add(r.cfg.IdleTimeout))
	if !rn.rooted.IsZero() {
		at = earlier(at, r.rootDeadline(rn))
	}
	if at.Before(rn.retry) {
		return rn.retry
	}
	return at
}

// rootDeadline waits for stragglers after the root, each of which may bring
// others, but not for longer than a run may be idle: background spans that never
// end must not keep an ended run open.
func (r *Recorder) rootDeadline(rn *run) time.Time {
	quiet := rn.last
	if rn.rooted.After(quiet) {
		quiet = rn.rooted
	}
	return earlier(quiet.Add(r.cfg.RootSettle), rn.rooted.Add(r.cfg.IdleTimeout))
}

func earlier(a, b time.Time) time.Time {
	if a.Before(b) {
		return a
	}
	return b
}

// trigger says why a run is due.
func (r *Recorder) trigger(rn *run, now time.Time) tape.Trigger {
	switch {
	case rn.forced != "":
		return rn.forced
	case !rn.rooted.IsZero() && !now.Before(r.rootDeadline(rn)):
		return tape.TriggerRootEnded
	case !now.Before(rn.last.Add(r.cfg.IdleTimeout)):
		return tape.TriggerIdle
	default:
		return tape.TriggerMaxAge
	}
}

// Tick decides every run that is due and lets go of look-back spans whose time
// is over. What the next component does not take is tried again later.
func (r *Recorder) Tick(ctx context.Context) {
	now := r.deps.Now()
	type due struct {
		rn      *run
		trigger tape.Trigger
	}
	var list []due
	r.mu.Lock()
	for rn := r.idx.popDue(now); rn != nil; rn = r.idx.popDue(now) {
		switch {
		case rn.held:
			r.dropHeld(rn)
		case rn.state == stateOpen:
			list = append(list, due{rn, r.trigger(rn, now)})
		}
	}
	r.mu.Unlock()
	each(len(list), func(i int) {
		if rn := list[i].rn; r.stillDue(ctx, rn) {
			_ = r.decide(ctx, rn, list[i].trigger)
		}
	})
}

// stillDue tells whether a run that was due is so when its turn has come: spans
// that came meanwhile have put it back into the schedule, and so does the end of
// ctx.
func (r *Recorder) stillDue(ctx context.Context, rn *run) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if rn.state != stateOpen || rn.heapAt >= 0 {
		return false
	}
	if ctx.Err() != nil {
		r.idx.schedule(rn, r.deadline(rn))
		return false
	}
	return true
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

// decide judges an open run and hands on the result. It does nothing when the
// run is no longer open. An error means that the next component did not take the
// result: the run is then open as before and will be tried again.
func (r *Recorder) decide(ctx context.Context, rn *run, trigger tape.Trigger) error {
	r.mu.Lock()
	if rn.state != stateOpen {
		r.mu.Unlock()
		return nil
	}
	done := r.begin(rn)
	r.mu.Unlock()

	v, err := verdict{}, error(nil)
	left := 1
	if rn.session && rn.spans == 0 {
		left, err = r.giveBack(ctx, rn)
	}
	if err == nil && left > 0 {
		v, err = r.judge(ctx, rn.id, trigger)
	}
	if err == nil {
		err = r.emit(ctx, v.out)
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	defer done()
	switch {
	case err == nil && left == 0:
		r.deps.Buffer.Drop(rn.id)
		r.idx.forget(rn)
		return nil
	case err == nil:
		all := rn.amount()
		r.deps.Telemetry.Dropped(DropDamaged, Amount{all.Spans - v.amount.Spans, all.Records - v.amount.Records})
		r.conclude(rn, v)
		return nil
	case errors.Is(err, errDamaged):
		r.discard(rn, DropDamaged)
		return nil
	case r.deps.Permanent(err):
		r.discard(rn, DropRefused)
		return nil
	}
	r.deps.Telemetry.Retried()
	rn.state = stateOpen
	if trigger != tape.TriggerEvicted {
		// Room may be made otherwise until then, and the run then goes on.
		rn.forced = trigger
	}
	rn.retry = r.deps.Now().Add(min(retryFirst<<min(rn.attempts, 10), retryMost))
	rn.attempts++
	r.idx.schedule(rn, r.deadline(rn))
	return err
}

// begin marks a run as being decided. It is called with the lock held, and so is
// the function it returns, which must be called when the run has left that state.
func (r *Recorder) begin(rn *run) (done func()) {
	rn.state = stateDeciding
	busy := make(chan struct{})
	rn.busy = busy
	r.idx.unschedule(rn)
	return func() {
		rn.busy = nil
		close(busy)
	}
}

// conclude notes a decision that was handed on.
func (r *Recorder) conclude(rn *run, v verdict) {
	rn.outcome, rn.trigger = v.row.Outcome, v.row.Trigger
	hold := false
	switch v.fate {
	case stateKept:
		r.deps.Telemetry.Kept(v.amount)
	case stateSummarised:
		r.deps.Telemetry.Summarised(v.amount)
		hold = r.cfg.Lookback > 0
	default:
		if r.cfg.PassThrough {
			// Log records of what is no agent's run have no way on from here.
			r.deps.Telemetry.Passed(Amount{Spans: v.amount.Spans})
			r.deps.Telemetry.LetGo(Amount{Records: v.amount.Records})
		} else {
			r.deps.Telemetry.LetGo(v.amount)
		}
	}
	v.count(r.deps.Telemetry)
	r.settle(rn, v.fate)
	if !hold {
		r.deps.Buffer.Drop(rn.id)
		return
	}
	r.idx.hold(rn, r.deps.Now().Add(r.cfg.Lookback))
}

// discard gives up a run that nobody takes.
func (r *Recorder) discard(rn *run, reason string) {
	r.deps.Telemetry.Dropped(reason, rn.amount())
	r.settle(rn, stateDropped)
	r.deps.Buffer.Drop(rn.id)
}

func (r *Recorder) settle(rn *run, fate state) {
	rn.state = fate
	for _, old := range r.idx.settle(rn, r.cfg.DecidedRuns) {
		if old.held {
			r.deps.Buffer.Drop(old.id)
		}
	}
}

func (r *Recorder) emit(ctx context.Context, out []ptrace.Traces) error {
	for _, td := range out {
		if err := r.deps.Emit(ctx, td); err != nil {
			return err
		}
	}
	return nil
}
