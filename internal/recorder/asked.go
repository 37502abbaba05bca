package recorder

import (
	"context"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/tapedeck/tapedeck/tape"
)

// Answer says what became of a wish to keep a run.
type Answer uint8

const (
	// Unknown says that nothing of the run is in the spool but what the next
	// component has: whoever wants to keep it asks there.
	Unknown Answer = iota
	// Waiting says that the run is open and will be kept whatever its outcome.
	Waiting
	// Kept says that the run was handed on now.
	Kept
)

// Keep keeps a run whatever its outcome, at once if it is decided. An error means
// that the next component did not take it; it can be asked again.
func (r *Recorder) Keep(ctx context.Context, id pcommon.TraceID) (Answer, error) {
	if r.closed.Load() {
		return Unknown, ErrClosed
	}
	rn, err := r.own(ctx, ID(id))
	if err != nil || rn == nil {
		return Unknown, err
	}
	defer r.release(rn)
	switch rn.state {
	case stateOpen:
		rn.asked = true
		r.note(rn, false)
		return Waiting, nil
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
