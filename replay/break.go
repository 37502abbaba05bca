package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/tapedeck/tapedeck/tape"
)

// ErrQuit says that a break ended the replay.
var ErrQuit = errors.New("the replay was quit at a break")

// Break is a call that is held before it is answered, and what was answered
// before it.
type Break struct {
	// Call counts the calls of the session from 1; Seq is the step, 0 where the
	// tape has no answer.
	Call, Seq int
	Kind      tape.Kind
	Tool      string
	Key       string
	// Args are the arguments of the call, redacted.
	Args json.RawMessage
	// Result and Error are what the call would be answered with.
	Result json.RawMessage
	Error  *tape.Error
	// Verdict is the error that the call would get in place of an answer, nil for a
	// hit.
	Verdict error
	Stats   Stats
	// Answered are the calls before, the last [MaxAnswered] of them.
	Answered []Answered
}

// MaxAnswered bounds the calls that a break lists.
const MaxAnswered = 100

// Answered is a call that was answered.
type Answered struct {
	Call, Seq int
	Tool, Key string
	Failed    bool
}

// Action is what to do at a break.
type Action struct {
	next, quit bool
	answer     *Substitute
}

// Continue answers the call and those after it.
func Continue() Action { return Action{} }

// Next answers the call and breaks at the one after it.
func Next() Action { return Action{next: true} }

// Instead answers the call with something else, as an override would, and goes
// on.
func Instead(answer Substitute) Action { return Action{answer: &answer} }

// Quit gives the call [ErrQuit], and every call after it. The session is not
// clean.
func Quit() Action { return Action{quit: true} }

// WithBreak holds the call of a step before it is answered and asks stop what to
// do. The call is one that the step answers, drifts from or is a gap for. Calls that
// come meanwhile are answered, unless they break too: then they wait.
func WithBreak(step int, stop func(ctx context.Context, at Break) Action) Option {
	return func(c *config) error {
		if step < 1 || stop == nil {
			return fmt.Errorf("break at step %d: want a step from 1 and a function", step)
		}
		c.breakStep, c.breakAt = step, stop
		return nil
	}
}

// breaks holds what a session with a break remembers.
type breaks struct {
	// one break at a time.
	one sync.Mutex
	// The session's lock guards what follows.
	next     bool
	quit     bool
	answered []Answered
}

// breakBefore stops at a call that is about to be answered, or to get a verdict,
// and returns the verdict that takes its place.
func (s *Session) breakBefore(ctx context.Context, c *call, answer *Answer, verdict error) error {
	if s.cfg.breakAt == nil {
		return verdict
	}
	seq := answer.Seq
	if event, ok := EventOf(verdictOrNil(verdict)); ok {
		seq = event.Seq
	}
	s.breaks.one.Lock()
	defer s.breaks.one.Unlock()
	s.mu.Lock()
	stop := s.breaks.next || seq == s.cfg.breakStep
	quit := s.breaks.quit
	at := Break{
		Call: c.n, Seq: seq, Kind: c.kind, Tool: c.tool, Key: c.key, Args: c.args,
		Result: answer.Result, Error: answer.Error, Verdict: verdict, Stats: s.statsLocked(),
	}
	at.Answered = append(at.Answered, s.breaks.answered...)
	s.mu.Unlock()
	switch {
	case quit:
		return fmt.Errorf("replay: %s: %w", c.tool, ErrQuit)
	case !stop:
		s.noteAnswered(c, answer, verdict)
		return verdict
	}
	action := s.cfg.breakAt(ctx, at)
	s.mu.Lock()
	s.breaks.next, s.breaks.quit = action.next, action.quit
	s.mu.Unlock()
	if action.quit {
		return fmt.Errorf("replay: %s: %w", c.tool, ErrQuit)
	}
	if action.answer != nil && verdict == nil {
		if err := action.answer.check(); err != nil {
			return fmt.Errorf("replay: answer at the break of %s: %w", c.tool, err)
		}
		c.override = &override{target: target{seq: answer.Seq}, Substitute: *action.answer}
		action.answer.apply(answer)
	}
	s.noteAnswered(c, answer, verdict)
	return verdict
}

// verdictOrNil lets EventOf be asked about no error.
func verdictOrNil(err error) error {
	if err == nil {
		return errNone
	}
	return err
}

var errNone = errors.New("no verdict")

func (s *Session) noteAnswered(c *call, answer *Answer, verdict error) {
	if verdict != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.breaks.answered) == MaxAnswered {
		s.breaks.answered = s.breaks.answered[1:]
	}
	s.breaks.answered = append(s.breaks.answered, Answered{Call: c.n, Seq: answer.Seq, Tool: c.tool, Key: c.key, Failed: answer.Error != nil})
}
