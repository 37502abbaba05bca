package recorder

import (
	"context"
	"errors"
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

// deadline is when an open run has to be decided if nothing more comes.
func (r *Recorder) deadline(rn *run) int64 {
	if rn.forced {
		return rn.retry
	}
	at := min(rn.first+int64(r.cfg.MaxAge), rn.last+int64(r.cfg.IdleTimeout))
	if rn.rooted != 0 {
		at = min(at, r.rootDeadline(rn))
	}
	return max(at, rn.retry)
}

// rootDeadline waits for stragglers after the root, each of which may bring
// others, but not for longer than a run may be idle: background spans that never
// end must not keep an ended run open.
func (r *Recorder) rootDeadline(rn *run) int64 {
	return min(max(rn.last, rn.rooted)+int64(r.cfg.RootSettle), rn.rooted+int64(r.cfg.IdleTimeout))
}

// due says why a run is due.
func (r *Recorder) due(rn *run, now int64) trigger {
	switch {
	case rn.forced:
		return rn.trigger
	case rn.rooted != 0 && now >= r.rootDeadline(rn):
		return numberOf[trigger](triggers, tape.TriggerRootEnded)
	case now >= rn.last+int64(r.cfg.IdleTimeout):
		return numberOf[trigger](triggers, tape.TriggerIdle)
	default:
		return numberOf[trigger](triggers, tape.TriggerMaxAge)
	}
}

// Tick decides every run that is due, one after the other, and lets go of look-back
// spans whose time is over. What the next component does not take is tried again
// later. It may be called from several goroutines at a time, which then share the
// work, so that a run which takes long keeps none of the others waiting.
func (r *Recorder) Tick(ctx context.Context) {
	now := r.now()
	for ctx.Err() == nil && !r.closed.Load() {
		rn := r.popDue(now)
		if rn == nil {
			return
		}
		if rn.state == stateOpen {
			_ = r.decide(ctx, rn, r.due(rn, now))
		} else {
			_ = r.expire(ctx, rn)
		}
		r.release(rn)
	}
}

// popDue makes the caller the owner of a run that is due. Shards take turns, and
// one whose owner is at work comes back into the schedule by itself.
func (r *Recorder) popDue(now int64) *run {
	first := int(r.turn.Add(1))
	for i := range r.shards {
		s := r.shards[(first+i)%len(r.shards)]
		s.mu.Lock()
		for rn := s.pop(now); rn != nil; rn = s.pop(now) {
			if !rn.busy {
				s.own(rn)
				s.mu.Unlock()
				return rn
			}
		}
		s.mu.Unlock()
	}
	return nil
}

// decide judges an open run that the caller owns and hands on the result. An error
// means that the next component did not take it: the run is then open as before
// and will be tried again.
func (r *Recorder) decide(ctx context.Context, rn *run, why trigger) error {
	began := time.Now()
	v, left, err := r.conclusion(ctx, rn, why)
	switch {
	case err == nil && left == 0:
		r.remove(rn)
		return nil
	case err == nil:
		all := rn.amount()
		r.deps.Telemetry.Dropped(DropDamaged, Amount{
			all.Spans - v.amount.Spans - v.duplicates.Spans, all.Records - v.amount.Records - v.duplicates.Records,
		})
		r.conclude(ctx, rn, v)
		r.deps.Telemetry.Took(time.Since(began))
		return nil
	case errors.Is(err, errDamaged):
		r.discard(rn, DropDamaged)
		return nil
	case r.deps.Permanent(err):
		r.discard(rn, DropRefused)
		return nil
	}
	r.deps.Telemetry.Retried()
	if why.name() != tape.TriggerEvicted {
		// Room may be made otherwise until then, and the run then goes on.
		rn.trigger, rn.forced = why, true
	}
	rn.retry = r.now() + int64(min(retryFirst<<min(rn.attempts, 10), retryMost))
	rn.attempts = min(rn.attempts+1, 100)
	return err
}

// conclusion is the verdict about a run, which was handed on, and how many of its
// log records are left to it when others belong to other runs.
func (r *Recorder) conclusion(ctx context.Context, rn *run, why trigger) (v verdict, left int, err error) {
	left = 1
	// Room is made while others are owned, and to give back may wait for these.
	if rn.session && rn.spans == 0 && why.name() != tape.TriggerEvicted {
		if left, err = r.giveBack(ctx, rn); err != nil || left == 0 {
			return v, left, err
		}
	}
	v, err = r.carryOut(ctx, rn, why.name(), "")
	return v, left, err
}

// smallRun is what may wait for the next component without being counted as a run
// in memory, in bytes as they came.
const smallRun = 1 << 20

// carryOut judges a run and hands on the result. As many runs as there are cores
// are in memory at a time. Small ones and summaries do not count while the next
// component has them: it may wait for a disk, and many of them can do so at a time.
func (r *Recorder) carryOut(ctx context.Context, rn *run, trigger tape.Trigger, wanted tape.Reason) (v verdict, err error) {
	select {
	case r.slots <- struct{}{}:
	case <-ctx.Done():
		return v, ctx.Err()
	}
	release := sync.OnceFunc(func() { <-r.slots })
	defer release()
	v, err = r.judge(ctx, rn, trigger, wanted)
	if err != nil || rn.state.decided() && v.fate != stateKept {
		return v, err
	}
	if v.fate == stateSummarised || rn.bytes < smallRun {
		release()
	}
	return v, r.emit(ctx, v.out)
}

// conclude notes a decision that was handed on.
func (r *Recorder) conclude(ctx context.Context, rn *run, v verdict) {
	t := r.deps.Telemetry
	switch v.fate {
	case stateKept:
		t.Kept(v.amount)
	case stateSummarised:
		t.Summarised(v.amount)
	case stateLetGo:
		if r.cfg.PassThrough {
			// Log records of what is no agent's run have no way on from here.
			t.Passed(Amount{Spans: v.amount.Spans})
			t.LetGo(Amount{Records: v.amount.Records})
		} else {
			t.LetGo(v.amount)
		}
	}
	t.Dropped(DropDuplicate, v.duplicates)
	v.count(t)
	rn.decided = r.now()
	r.become(rn, v)
	r.learn(v)
	// The oldest are decided early to make room.
	if r.cfg.Lookback == 0 || v.row.Trigger == tape.TriggerEvicted || rn.final() {
		r.finish(rn)
	} else {
		if v.fate == stateSummarised && v.row.Outcome == tape.OutcomeSucceeded {
			r.good.succeeded(rn.id, v.row)
		}
		r.keepInSpool(rn)
	}
	if v.row.Kept && v.row.Outcome == tape.OutcomeFailed {
		r.accompany(ctx, v.row)
	}
}

// keepInSpool moves a decided run into the look-back.
func (r *Recorder) keepInSpool(rn *run) {
	// Little comes after a decision.
	r.texts.forget(rn)
	s := r.shard(rn.id)
	s.mu.Lock()
	s.move(rn, &s.held)
	s.mu.Unlock()
	r.note(rn, true)
}

// become takes over what a verdict says.
func (r *Recorder) become(rn *run, v verdict) {
	s := r.shard(rn.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	rn.state, rn.forced, rn.retry, rn.attempts = v.fate, false, 0, 0
	rn.outcome = numberOf[outcome](outcomes, v.row.Outcome)
	rn.trigger = numberOf[trigger](triggers, v.row.Trigger)
}

// final reports whether nothing can change the decision about a run any more.
func (r *run) final() bool {
	return r.state == stateDropped || r.state == stateKept && r.outcome.name() == tape.OutcomeFailed
}

// discard gives up an open run that nobody takes.
func (r *Recorder) discard(rn *run, reason string) {
	r.deps.Telemetry.Dropped(reason, rn.amount())
	r.become(rn, verdict{fate: stateDropped})
	rn.decided = r.now()
	r.finish(rn)
}

// note writes down what a restart has to know of a run. A failure to write costs
// that knowledge at most, and the spool counts it.
func (r *Recorder) note(rn *run, held bool) {
	n := noteOf(rn, held)
	if held {
		n.kind = r.good.kindOf(rn.id)
	}
	if !n.worth() {
		_ = r.spool.Unmark(rn.id)
		return
	}
	_ = r.spool.Mark(rn.id, n.append(make([]byte, 0, 32)))
}

// finish lets the spool have the room of a decided run, of which only the decision
// stays.
func (r *Recorder) finish(rn *run) {
	r.texts.forget(rn)
	r.note(rn, false)
	r.spool.Free(rn.amount().size(), rn.places()...)
	s := r.shard(rn.id)
	s.mu.Lock()
	s.drop(rn)
	forgotten, full := s.remember(rn.id, fate{rn.state, rn.trigger, rn.outcome}, r.decidedPerShard())
	s.mu.Unlock()
	if full {
		_ = r.spool.Unmark(forgotten)
		r.kinship.drop(forgotten)
	}
}

func (r *Recorder) decidedPerShard() int { return max(1, r.cfg.DecidedRuns/len(r.shards)) }

// remove forgets an open run of which nothing is left.
func (r *Recorder) remove(rn *run) {
	r.texts.forget(rn)
	r.spool.Free(rn.amount().size(), rn.places()...)
	_ = r.spool.Unmark(rn.id)
	s := r.shard(rn.id)
	s.mu.Lock()
	s.drop(rn)
	s.mu.Unlock()
	r.kinship.drop(rn.id)
}

func (r *Recorder) emit(ctx context.Context, out []ptrace.Traces) error {
	for _, td := range out {
		if err := r.deps.Emit(ctx, td); err != nil {
			return err
		}
	}
	return nil
}
