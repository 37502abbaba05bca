package replay

import (
	"errors"
	"fmt"
	"os"
	"sync"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

// Session answers calls from a tape, or records them. It is safe for concurrent
// use.
type Session struct {
	cfg      *config
	tape     *tape.Tape
	policy   *redact.Policy
	gate     *gate
	recorder *recorder

	mu         sync.Mutex
	deck       *deck
	stats      Stats
	diverged   int
	log        eventLog
	overridden []Overridden
	// overriddenCount counts those left out of the list too.
	overriddenCount int
	loose           *loose
	claims          Claims
	ids             rules.IDs
	warnings        []string
	ruleHits        map[string]int
	frozen          *frozen
	breaks          breaks
	wanted          wanted
	elsewhere       elsewhere
	// redactedMatched counts hits whose arguments had a value redacted.
	redactedMatched int
	closed          bool
	closeErr        error
}

// New starts a session over a tape in memory, which must not be changed while
// it lasts; nil is the empty tape.
func New(t *tape.Tape, options ...Option) (*Session, error) {
	c, err := newConfig(options)
	if err != nil {
		return nil, err
	}
	if t == nil {
		t = &tape.Tape{}
	}
	s, err := newSession(t, c, nil)
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	return s, nil
}

// Open starts a session over the tape in a file. A strict session needs the
// file, and something in it. The recording modes append to it, and make it, readable by its owner
// only, where there is none. One session may record to a file at a time.
func Open(path string, options ...Option) (*Session, error) {
	c, err := newConfig(options)
	if err != nil {
		return nil, err
	}
	c.path = path
	t, err := tape.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) && c.mode != ModeStrict {
		t, err = &tape.Tape{}, nil
	}
	if err == nil && c.mode == ModeStrict && t.Empty() {
		// A replay of nothing would be clean whatever the program does.
		err = fmt.Errorf("%s: %w", path, tape.ErrEmpty)
	}
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	var file *tapeFile
	if c.mode != ModeStrict && c.recordTo == nil {
		if file, err = openFile(path); err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
		c.recordTo = file
	}
	s, err := newSession(t, c, file)
	if err != nil {
		err = fmt.Errorf("replay: %s: %w", path, err)
		if file != nil {
			err = errors.Join(err, file.abandon())
		}
		return nil, err
	}
	return s, nil
}

func newSession(t *tape.Tape, c *config, file *tapeFile) (*Session, error) {
	s := &Session{cfg: c, tape: t, stats: Stats{Mode: c.mode}, ruleHits: map[string]int{}}
	policy, by, warning, err := redactionOf(t, c.surrogateKey)
	if err != nil {
		return nil, err
	}
	s.policy = policy
	if warning != "" {
		s.warnings = append(s.warnings, warning)
	}
	if s.deck, err = load(t, s.policy, by, c); err != nil {
		return nil, err
	}
	if err := c.checkLive(s.deck); err != nil {
		return nil, err
	}
	s.frozen = newFrozen(t, s.deck)
	if err := c.overrides.check(s.deck); err != nil {
		return nil, err
	}
	if c.completion == CompletionRecorded {
		s.gate = newGate(s.deck, c.completionGuard)
	}
	if c.live != nil {
		if err := s.startDerived(); err != nil {
			return nil, err
		}
	}
	if c.mode != ModeStrict {
		if s.recorder, err = newRecorder(t, s.policy, c, file); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Stats returns the counts so far.
func (s *Session) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.statsLocked()
}

func (s *Session) statsLocked() Stats {
	stats := s.stats
	if s.cfg.mode != ModeRecord {
		stats.Unconsumed = s.deck.unconsumed
	}
	stats.LiveToolCalls += s.wanted.live
	stats.RealSideEffects += s.wanted.effects
	return stats
}

// Close ends the session. It returns nil if the replay was clean: in
// [ModeStrict] every call a hit and every record asked for, in
// [ModeReplayRecord] no drift and no gap. Otherwise it returns an
// [*UncleanError], also where the program under test swallowed the errors of its
// calls. What cannot be recorded is an error too. Answers
// that are held back for the recorded order of completion are let out. Calls that still run live are
// not waited for, and not recorded. Closing again returns the same.
func (s *Session) Close() error {
	s.mu.Lock()
	if s.closed {
		defer s.mu.Unlock()
		return s.closeErr
	}
	s.closed = true
	s.mu.Unlock()
	if s.gate != nil {
		s.gate.open()
	}
	var err error
	if s.recorder != nil {
		err = s.recorder.close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closeErr = err
	s.endWanted()
	if !s.cleanLocked() {
		s.closeErr = &UncleanError{
			Stats: s.statsLocked(), Unconsumed: s.unconsumedLocked(), Divergences: s.diverged, Quit: s.breaks.quit, Unserved: s.wanted.bad,
			Elsewhere: s.badElsewhere(),
		}
		if err != nil {
			s.closeErr = errors.Join(s.closeErr, err)
		}
	}
	return s.closeErr
}

// Tape returns the tape with what the session appended, or the tape derived by a
// session in which calls ran live, as far as that is in
// memory: not where it was written to a file or to [WithRecordTo]. It is a copy
// but for the contents of its records.
func (s *Session) Tape() *tape.Tape {
	if s.cfg.live != nil {
		manifest, records := s.recorder.appended()
		return &tape.Tape{Manifest: manifest, Records: records}
	}
	t := &tape.Tape{Manifest: s.tape.Manifest}
	t.Records = append(t.Records, s.tape.Records...)
	if s.recorder != nil {
		manifest, records := s.recorder.appended()
		if t.Manifest == nil && len(t.Records) == 0 {
			t.Manifest = manifest
		}
		t.Records = append(t.Records, records...)
	}
	return t
}
