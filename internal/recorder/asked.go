package recorder

import (
	"context"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/tapedeck/tapedeck/tape"
)

// Answer says what became of a wish to keep a run.
type Answer uint8

const (
	// Unknown says that nothing of the run is in the spool.
	Unknown Answer = iota
	// Waiting says that the run is open and will be kept whatever its outcome.
	Waiting
	// Kept says that the run was handed on now, or is on record as kept already.
	Kept
)

// Keep keeps a run whatever its outcome, at once if it is decided. An error means
// that the next component did not take it; it can be asked again.
func (r *Recorder) Keep(ctx context.Context, id pcommon.TraceID) (Answer, error) {
	if r.closed.Load() {
		return Unknown, ErrClosed
	}
	rn, err := r.own(ctx, ID(id))
	if err != nil {
		return Unknown, err
	}
	if rn == nil {
		return r.keptBefore(ID(id)), nil
	}
	defer r.release(rn)
	switch rn.state {
	case stateOpen:
		rn.asked = true
		r.note(rn, false)
		return Waiting, nil
	case stateKept:
		return Kept, nil
	case stateSummarised, stateLetGo:
		before := rn.asked
		rn.asked = true
		kept, err := r.keepHeld(ctx, rn, tape.TriggerAsked, tape.KeptAsked)
		if err != nil {
			rn.asked = before
			return Unknown, err
		}
		if kept {
			return Kept, nil
		}
	}
	return Unknown, nil
}

func (r *Recorder) keptBefore(id ID) Answer {
	s := r.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone[id].state == stateKept {
		return Kept
	}
	return Unknown
}
