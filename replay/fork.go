package replay

import (
	"cmp"
	"errors"
	"fmt"
)

// WithLive lets the calls that live names really run, and answers all others from
// the tape: what does today's world say to the recorded requests? Records of calls
// that run live are as if they were not on the tape. What came of the session is
// a tape of its own, see [WithDerived]. The session must be strict.
func WithLive(live Live) Option {
	return func(c *config) error {
		c.live = &live
		return live.check()
	}
}

// WithFork answers the calls before a step from the tape, which must all be hits,
// and lets every call from there on run live as far as live allows it: what would
// have happened from there? A call that is allowed to run by nothing is refused
// with a [*RefusedError]. The first live call is the first one after all records
// before the step have been asked for; one that ran beside them when it was
// recorded may also come between them. Records from the step on are not asked for.
// What came of the session is a tape of its own, see [WithDerived]. The session
// must be strict.
func WithFork(step int, live Live) Option {
	return func(c *config) error {
		if step < 1 {
			return fmt.Errorf("fork at step %d: steps count from 1", step)
		}
		c.fork, c.live = step, &live
		return live.check()
	}
}

// aside are the records that are not answered from, because calls of theirs run
// live.
type aside struct {
	count int
	// beside are those from a fork on that began before the last one before it
	// ended, by key.
	beside map[callKey]int
	// prefixEnd is the latest recorded end before the fork.
	prefixEnd int64
	// last is the highest step of the tape.
	last int
}

// runsLive reports whether a record is not answered from.
func (c *config) runsLive(st *step) bool {
	switch {
	case c.live == nil:
		return false
	case c.fork > 0:
		return st.seq >= c.fork
	}
	return c.live.Chosen(st.record.KindOf(), st.record.Tool)
}

// setAside notes a record that is not answered from.
func (d *deck) setAside(st *step) {
	d.aside.count++
	if r := st.record; r.SideEffect != nil {
		d.effects[r.Tool] = d.effects[r.Tool] || *r.SideEffect
	}
	if st.begin < d.aside.prefixEnd {
		if d.aside.beside == nil {
			d.aside.beside = map[callKey]int{}
		}
		d.aside.beside[callKey{st.record.KindOf(), st.key}]++
	}
}

// checkLive refuses options that contradict one another.
func (c *config) checkLive(d *deck) error {
	switch {
	case c.live == nil && c.derived != "":
		return errors.New("a derived tape is made where calls may run live: see WithLive and WithFork")
	case c.live == nil:
		return nil
	case c.mode != ModeStrict:
		return fmt.Errorf("calls run live beside a tape, or from a fork on, in mode %s only, not in mode %s", ModeStrict, c.mode)
	case c.fork > d.aside.last+1:
		return fmt.Errorf("fork at step %d: the tape has %d steps", c.fork, d.aside.last)
	case c.fork == 0 && len(c.live.Tools)+len(c.live.Kinds) == 0:
		return errors.New("nothing is named that may run live: say --allow TOOL or --allow-kind KIND (Live.Tools, Live.Kinds)")
	}
	return nil
}

// goesLive reports whether a call is one to run live. The session's lock is held.
func (s *Session) goesLive(c *call) bool {
	live, d := s.cfg.live, s.deck
	switch {
	case live == nil:
		return false
	case s.cfg.fork == 0:
		return live.Chosen(c.kind, c.tool)
	case d.unconsumed == 0:
		return true
	}
	at := callKey{c.kind, c.key}
	if d.aside.beside[at] == 0 || d.head(c.queue) >= 0 {
		return false
	}
	d.aside.beside[at]--
	return true
}

// refusal says why a call may not run live, nil if it may, and prepares the
// arguments that it runs with.
func (s *Session) refusal(c *call, request *Request) error {
	why := s.cfg.live.Refuse(c.kind, c.tool, s.sideEffect(c, request))
	if why == "" && !request.runs() {
		why = "its caller cannot run it: " + cmp.Or(request.CannotRun, "in Go there is no live function, over HTTP the call lacks \"live\":true")
	}
	if why == "" {
		c.liveArgs, c.substituted, why = s.cfg.live.Substitution.apply(orNull(request.Args))
	}
	if why == "" && len(c.substituted) > 0 && request.Run == nil {
		why = "its live function does not take the arguments, so that no substitute can reach it: set Request.Run, or wrap the tool with replay.Tool"
	}
	if why == "" {
		return nil
	}
	return &RefusedError{Call: c.n, Kind: c.kind, Tool: c.tool, Key: c.key, Why: why}
}
