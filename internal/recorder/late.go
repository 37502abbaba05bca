package recorder

import (
	"context"

	"github.com/tapedeck/tapedeck/tape"
)

// addLate gives spans to a run that was decided before they came. It is entered
// with the lock held and leaves without.
func (r *Recorder) addLate(ctx context.Context, rn *run, c *chunk) error {
	switch rn.state {
	case stateKept:
		outcome, trigger := rn.outcome, rn.trigger
		r.mu.Unlock()
		return r.lateKept(ctx, c, outcome, trigger)
	case stateSummarised:
		if rn.held {
			return r.lateHeld(ctx, rn, c)
		}
		if c.seen.failed {
			return r.lateFailure(ctx, rn, c)
		}
		r.mu.Unlock()
		r.late(c)
		r.deps.Telemetry.Summarised(c.amount())
		return nil
	case stateLetGo:
		r.mu.Unlock()
		return r.lateOther(ctx, c)
	default:
		r.mu.Unlock()
		r.late(c)
		r.deps.Telemetry.Dropped(DropRefused, c.amount())
		return nil
	}
}

func (r *Recorder) late(c *chunk) {
	r.received(c)
	r.deps.Telemetry.Late(c.amount())
}

// handOn emits a verdict that was reached without an error. It tells a next
// component that refuses for good from one that shall be tried again, which is the
// error.
func (r *Recorder) handOn(ctx context.Context, v verdict, err error) (refused bool, retry error) {
	if err == nil {
		err = r.emit(ctx, v.out)
	}
	if err != nil && r.deps.Permanent(err) {
		return true, nil
	}
	return false, err
}

// lateKept hands on late spans of a kept run at once; the store merges them.
func (r *Recorder) lateKept(ctx context.Context, c *chunk, outcome tape.Outcome, trigger tape.Trigger) error {
	v, taken, err := r.follow(ctx, c, trigger, outcome)
	if taken {
		r.deps.Telemetry.Kept(c.amount())
		v.countContent(r.deps.Telemetry)
	}
	return err
}

// follow hands on what came late as its run's decision has it, and counts it as
// late, or as dropped too when nobody takes it.
func (r *Recorder) follow(ctx context.Context, c *chunk, trigger tape.Trigger, outcome tape.Outcome) (v verdict, taken bool, err error) {
	v, err = r.judgeChunk(ctx, c, trigger, outcome)
	refused, err := r.handOn(ctx, v, err)
	if err != nil {
		return v, false, err
	}
	r.late(c)
	if refused {
		r.deps.Telemetry.Dropped(DropRefused, c.amount())
	}
	return v, !refused, nil
}

// lateOther follows the decision about a run without calls.
func (r *Recorder) lateOther(ctx context.Context, c *chunk) error {
	if !r.cfg.PassThrough {
		r.late(c)
		r.deps.Telemetry.LetGo(c.amount())
		return nil
	}
	_, taken, err := r.follow(ctx, c, "", "")
	if taken {
		r.deps.Telemetry.Passed(Amount{Spans: c.spans})
		r.deps.Telemetry.LetGo(Amount{Records: c.records})
	}
	return err
}

// lateHeld adds spans to a summarised run whose other spans are still there,
// and decides again when they tell of a failure. Entered with the lock held.
func (r *Recorder) lateHeld(ctx context.Context, rn *run, c *chunk) error {
	if err := r.deps.Buffer.Append(c.id, c.data); err != nil {
		r.mu.Unlock()
		return err
	}
	rn.spans += c.spans
	rn.records += c.records
	r.late(c)
	r.deps.Telemetry.Summarised(c.amount())
	if !c.seen.failed {
		r.mu.Unlock()
		return nil
	}
	until := rn.deadline
	done := r.begin(rn)
	total := rn.amount()
	r.mu.Unlock()

	v, err := r.judge(ctx, rn.id, tape.TriggerLateFailure)
	refused := false
	if err != nil || v.fate == stateKept {
		refused, err = r.handOn(ctx, v, err)
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	defer done()
	rn.state = stateSummarised
	if err != nil || refused || v.fate != stateKept {
		// Still a summary, and the spans still wait for a failure that counts.
		r.idx.schedule(rn, until)
		return err
	}
	r.upgrade(rn, v, total)
	r.dropHeld(rn)
	return nil
}

// lateFailure keeps the late spans of a summarised run whose other spans are
// gone: the failure alone is better than nothing. Entered with the lock held.
func (r *Recorder) lateFailure(ctx context.Context, rn *run, c *chunk) error {
	done := r.begin(rn)
	r.mu.Unlock()

	v, err := r.judgeFailure(ctx, c)
	refused, err := r.handOn(ctx, v, err)

	r.mu.Lock()
	defer r.mu.Unlock()
	defer done()
	rn.state = stateSummarised
	if err != nil {
		return err
	}
	r.late(c)
	if refused {
		r.deps.Telemetry.Dropped(DropRefused, c.amount())
		return nil
	}
	r.deps.Telemetry.Summarised(c.amount())
	r.upgrade(rn, v, c.amount())
	return nil
}

// upgrade notes that a summarised run was kept after all.
func (r *Recorder) upgrade(rn *run, v verdict, n Amount) {
	rn.state = stateKept
	rn.outcome, rn.trigger = v.row.Outcome, v.row.Trigger
	r.deps.Telemetry.Upgraded(n)
	r.deps.Telemetry.Kept(n)
	v.count(r.deps.Telemetry)
}
