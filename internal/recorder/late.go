package recorder

import (
	"context"
	"errors"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/logfold"
	"github.com/tapedeck/tapedeck/tape"
)

// addLate does with what came after the decision about its run what the decision
// says. The caller owns the run; what the spool still has of it has the arrival
// already.
func (r *Recorder) addLate(ctx context.Context, a *arrival) error {
	held := a.record >= 0
	switch a.fate.state {
	case stateKept:
		if held && a.seen.failed && a.fate.outcome.name() != tape.OutcomeFailed {
			if a.run.in == nil {
				// It went out with the whole run, for an arrival before this one.
				r.late(a.piece)
				r.deps.Telemetry.Kept(a.amount)
				return nil
			}
			return r.lateFailureOfKept(ctx, a)
		}
		return r.lateKept(ctx, a)
	case stateSummarised:
		if !held && a.seen.failed {
			return r.lateFailure(ctx, a)
		}
		r.late(a.piece)
		r.deps.Telemetry.Summarised(a.amount)
		if !held || !a.seen.failed || a.run.state != stateSummarised {
			return nil
		}
		_, err := r.keepHeld(ctx, a.run, tape.TriggerLateFailure, "")
		return err
	case stateLetGo:
		return r.lateOther(ctx, a)
	default:
		r.late(a.piece)
		r.deps.Telemetry.Dropped(DropRefused, a.amount)
		return nil
	}
}

func (r *Recorder) late(p *piece) {
	r.received(p)
	r.deps.Telemetry.Late(p.amount)
}

// handOn emits a verdict that was reached without an error.
func (r *Recorder) handOn(ctx context.Context, v verdict, err error) (refused bool, retry error) {
	if err == nil {
		err = r.emit(ctx, v.out)
	}
	return r.refused(err)
}

// refused tells a next component that refuses for good from one that shall be tried
// again, which is the error.
func (r *Recorder) refused(err error) (refused bool, retry error) {
	if err != nil && (r.deps.Permanent(err) || errors.Is(err, errDamaged)) {
		return true, nil
	}
	return false, err
}

// redacted is what an arrival holds, ready to be handed on: what was copied before
// it was written, or all of it where it was not.
func (r *Recorder) redacted(a *arrival) parts {
	p := parts{td: ptrace.NewTraces(), ld: plog.NewLogs()}
	switch {
	case a.logs && a.record >= 0:
		p.ld = a.lateLogs
	case a.logs:
		p.ld = a.ld
	case a.record >= 0:
		p.td = a.late
	default:
		p.td = a.td
	}
	st := r.deps.Scrubber.Traces(p.td)
	more := r.deps.Scrubber.Logs(p.ld)
	if a.record < 0 {
		// What was written was counted then.
		r.deps.Telemetry.Redacted(st.Types)
		r.deps.Telemetry.Redacted(more.Types)
	}
	return p
}

// lateKept hands on late spans of a kept run at once; the store merges them.
func (r *Recorder) lateKept(ctx context.Context, a *arrival) error {
	v, taken, err := r.follow(ctx, a)
	if taken {
		r.deps.Telemetry.Kept(a.amount)
		v.countContent(r.deps.Telemetry)
	}
	return err
}

// follow hands on what came late as its run's decision has it, and counts it as
// late, or as dropped too when nobody takes it.
func (r *Recorder) follow(ctx context.Context, a *arrival) (v verdict, taken bool, err error) {
	v, err = r.judgeLate(ctx, a)
	refused, err := r.handOn(ctx, v, err)
	if err != nil {
		return v, false, err
	}
	r.late(a.piece)
	if refused {
		r.deps.Telemetry.Dropped(DropRefused, a.amount)
	}
	return v, !refused, nil
}

// judgeLate prepares late spans of a run whose outcome is settled; with an empty
// outcome, those of a trace that is passed on.
func (r *Recorder) judgeLate(ctx context.Context, a *arrival) (verdict, error) {
	p := r.redacted(a)
	trigger, outcome := a.fate.trigger.name(), a.fate.outcome.name()
	td, v, t := r.examine(&p, trigger, nil)
	if a.fate.state == stateLetGo {
		if spans, _ := logfold.Unfold(td); spans.SpanCount() > 0 {
			v.out = r.requests(spans)
		}
		return v, nil
	}
	v.fate = stateKept
	v.row.Outcome = outcome
	if r.deps.Bodies != nil {
		v.row.Class = r.deps.Bodies.Class(v.row)
	}
	for i := range t.Records {
		// The position in a part says nothing about that in the run.
		t.Records[i].Seq = 0
	}
	if err := r.moveBodies(ctx, td, &v); err != nil {
		return verdict{}, err
	}
	mark(td, t, outcome, trigger)
	v.out = r.requests(td)
	stampClass(v.out, v.row.Class)
	return v, nil
}

// lateOther follows the decision about a run without calls.
func (r *Recorder) lateOther(ctx context.Context, a *arrival) error {
	if !r.cfg.PassThrough {
		r.late(a.piece)
		r.deps.Telemetry.LetGo(a.amount)
		return nil
	}
	_, taken, err := r.follow(ctx, a)
	if taken {
		r.deps.Telemetry.Passed(Amount{Spans: a.amount.Spans})
		r.deps.Telemetry.LetGo(Amount{Records: a.amount.Records})
	}
	return err
}

// lateFailureOfKept decides again about a run that was kept as a good one, and
// hands it on once more: its marks and its row say that it failed.
func (r *Recorder) lateFailureOfKept(ctx context.Context, a *arrival) error {
	rn := a.run
	v, err := r.carryOut(ctx, rn, tape.TriggerLateFailure, tape.KeptOutcome)
	if err == nil && v.row.Outcome == rn.outcome.name() {
		// It was no failure of the run; what came late is out with all of it.
		r.late(a.piece)
		r.deps.Telemetry.Kept(a.amount)
		return nil
	}
	refused, err := r.refused(err)
	if err != nil {
		return err
	}
	r.late(a.piece)
	if refused {
		r.deps.Telemetry.Dropped(DropRefused, a.amount)
		return nil
	}
	r.deps.Telemetry.Kept(a.amount)
	v.count(r.deps.Telemetry)
	v.fate = stateKept
	r.redecided(ctx, rn, v)
	return nil
}

// lateFailure keeps the late spans of a summarised run whose other spans are
// gone: the failure alone is better than nothing.
func (r *Recorder) lateFailure(ctx context.Context, a *arrival) error {
	p := r.redacted(a)
	td, v, t := r.examine(&p, tape.TriggerLateFailure, nil)
	v.row.Outcome = tape.OutcomeFailed
	v.row.KeptBecause = tape.KeptOutcome
	refused, err := r.handOn(ctx, v, r.pack(ctx, td, t, &v))
	if err != nil {
		return err
	}
	r.late(a.piece)
	if refused {
		r.deps.Telemetry.Dropped(DropRefused, a.amount)
		return nil
	}
	r.deps.Telemetry.Kept(a.amount)
	v.count(r.deps.Telemetry)
	rn := a.run
	rn.state, rn.decided = stateKept, r.now()
	rn.outcome = numberOf[outcome](outcomes, v.row.Outcome)
	rn.trigger = numberOf[trigger](triggers, v.row.Trigger)
	r.finish(rn)
	return nil
}

// keepHeld keeps a decided run after all of which the spool has the spans, if the
// decision says so this time. wanted is why it is kept whatever its outcome. An
// error means that the next component did not take it, and that it is as before.
func (r *Recorder) keepHeld(ctx context.Context, rn *run, trigger tape.Trigger, wanted tape.Reason) (kept bool, err error) {
	v, err := r.carryOut(ctx, rn, trigger, wanted)
	if err == nil && v.fate != stateKept {
		return false, nil
	}
	refused, err := r.refused(err)
	if err != nil || refused {
		return false, err
	}
	r.deps.Telemetry.Upgraded(v.amount)
	r.deps.Telemetry.Kept(v.amount)
	v.count(r.deps.Telemetry)
	r.good.forget(rn.id)
	r.redecided(ctx, rn, v)
	return true, nil
}

// redecided notes another decision about a run of which the spool has the spans.
func (r *Recorder) redecided(ctx context.Context, rn *run, v verdict) {
	decided := rn.decided
	r.become(rn, v)
	// The look-back is not longer for it.
	rn.decided = decided
	if rn.final() {
		r.finish(rn)
	} else {
		r.note(rn, true)
	}
	if v.row.Outcome == tape.OutcomeFailed {
		r.accompany(ctx, v.row)
	}
}

// expire ends the look-back of a run. The last good run of its kind is kept then.
func (r *Recorder) expire(ctx context.Context, rn *run) error {
	if r.good.isLatest(rn.id) {
		if _, err := r.keepHeld(ctx, rn, rn.trigger.name(), tape.KeptLastSuccess); err != nil {
			rn.retry = r.now() + int64(retryMost)
			return err
		}
		r.good.forget(rn.id)
	}
	if rn.in != nil {
		r.finish(rn)
	}
	return nil
}
