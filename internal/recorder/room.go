package recorder

import (
	"context"
	"errors"
	"fmt"

	"github.com/tapedeck/tapedeck/internal/spool"
	"github.com/tapedeck/tapedeck/tape"
)

// makeRoom sees to it that there is room before anything is encoded or owned: what
// fills the spool may be the very runs of these pieces.
func (r *Recorder) makeRoom(ctx context.Context, pieces []piece) error {
	var need int64
	for i := range pieces {
		need += pieces[i].bytes + 2*spool.RecordOverhead
	}
	// What is larger than the spool may be small once it is written.
	if st := r.spool.Stats(); need > st.Limit || st.Bytes+need <= st.Limit {
		return nil
	}
	_ = r.spool.Compact()
	for {
		st := r.spool.Stats()
		if st.Bytes+need <= st.Limit {
			return nil
		}
		more, cause := r.evict(ctx, need)
		if !more {
			return errors.Join(fmt.Errorf("%w: %d of %d bytes are held", ErrBusy, st.LiveBytes, st.Limit), cause)
		}
	}
}

// evict makes room in the spool for need bytes and some more: look-back goes first,
// then the oldest open runs are decided. Runs that somebody works on stay. It
// reports whether it got anything, and why a decision was not taken.
func (r *Recorder) evict(ctx context.Context, need int64) (more bool, cause error) {
	// The spool gets room in segments, so that a little at a time would be
	// nothing most times.
	const share = 32
	need = max(need, r.cfg.Spool.MaxBytes/share)
	begun := r.spool.Stats().LiveBytes
	now := r.now()
	for cause == nil && begun-r.spool.Stats().LiveBytes < need {
		rn := r.oldest(now)
		if rn == nil {
			break
		}
		if rn.state == stateOpen {
			cause = r.decide(ctx, rn, numberOf[trigger](triggers, tape.TriggerEvicted))
		} else {
			cause = r.expire(ctx, rn)
		}
		r.release(rn)
		more = more || cause == nil
	}
	_ = r.spool.Compact()
	return more, cause
}

// oldest makes the caller the owner of the run that has to go first: of those in
// the look-back the one decided first, else of the open ones the one begun first,
// whose decision does not wait for another attempt.
func (r *Recorder) oldest(now int64) *run {
	for _, held := range []bool{true, false} {
		for {
			rn := r.front(held, now)
			if rn == nil {
				break
			}
			s := r.shard(rn.id)
			s.mu.Lock()
			ok := !rn.busy && rn.in != nil && s.runs[rn.id] == rn
			if ok {
				s.own(rn)
			}
			s.mu.Unlock()
			if ok {
				return rn
			}
		}
	}
	return nil
}

func (r *Recorder) front(held bool, now int64) (best *run) {
	var least int64
	for _, s := range r.shards {
		s.mu.Lock()
		l := &s.open
		if held {
			l = &s.held
		}
		rn := l.free(func(rn *run) bool { return rn.retry <= now })
		if rn != nil {
			at := rn.first
			if held {
				at = rn.decided
			}
			if best == nil || at < least {
				best, least = rn, at
			}
		}
		s.mu.Unlock()
	}
	return best
}

// moved is told that the spool has put a record elsewhere. A run that somebody
// works on may be about to be read.
func (r *Recorder) moved(id ID, old, now position) bool {
	s := r.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	rn := s.runs[id]
	if rn == nil || rn.busy {
		return false
	}
	if replace(rn.records, old, now) {
		return true
	}
	if rn.cut == nil {
		return false
	}
	for i := range rn.cut.tail {
		if replace(rn.cut.tail[i].records, old, now) {
			return true
		}
	}
	return false
}

func replace(list []position, old, now position) bool {
	for i, p := range list {
		if p == old {
			list[i] = now
			return true
		}
	}
	return false
}
