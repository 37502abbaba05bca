package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/tapedeck/tapedeck/tape"
)

// Substitute is an answer to give in place of a recorded one, or the recorded one
// with something wrong with it.
type Substitute struct {
	// answers is set where result and err stand for what was recorded.
	answers bool
	result  json.RawMessage
	err     *tape.Error
	delay   time.Duration
	fault   Fault
	// times is how often it applies, 0 for always.
	times int
	// bad says why it is no substitute.
	bad error
}

// Fault is what an override does to the text of an answer.
type Fault string

const (
	// FaultMalformed makes the text no JSON.
	FaultMalformed Fault = "malformed"
	// FaultCut ends the text in its middle, as when a connection breaks.
	FaultCut Fault = "cut"
)

// ErrCut says that an override broke the answer off. errors.Is finds io.ErrUnexpectedEOF
// too.
var ErrCut = fmt.Errorf("the answer was cut by an override: %w", io.ErrUnexpectedEOF)

// AnswerResult answers with a value, marshalled to JSON, as success.
func AnswerResult(result any) Substitute {
	text, err := encode(result)
	if err == nil {
		_, err = tape.Canonical(text)
	}
	return Substitute{answers: true, result: text, bad: err}
}

// AnswerError answers with a failure, such as code "500".
func AnswerError(code, message string) Substitute {
	return Substitute{answers: true, err: &tape.Error{Code: code, Message: message, Type: "override"}}
}

// AnswerRecorded answers as recorded, to be delayed, malformed or cut.
func AnswerRecorded() Substitute { return Substitute{} }

// After holds the answer back for some time, or until the context of the call
// ends.
func (s Substitute) After(delay time.Duration) Substitute {
	if delay < 0 {
		s.bad = fmt.Errorf("delay %v is negative", delay)
	}
	s.delay = delay
	return s
}

// Malformed makes a text of the result that no JSON parser takes.
func (s Substitute) Malformed() Substitute { return s.with(FaultMalformed) }

// Cut breaks the text of the result off in its middle: [Session.Call] returns it
// with [ErrCut], and the replay server closes the connection there.
func (s Substitute) Cut() Substitute { return s.with(FaultCut) }

func (s Substitute) with(f Fault) Substitute {
	if s.fault != "" {
		s.bad = errors.New("an answer is malformed or cut, not both")
	}
	s.fault = f
	return s
}

// Times applies the override to the first n answers only.
func (s Substitute) Times(n int) Substitute {
	if n < 1 {
		s.bad = fmt.Errorf("%d times is less than once", n)
	}
	s.times = n
	return s
}

// check says why it is no override.
func (s *Substitute) check() error {
	switch {
	case s.bad != nil:
		return s.bad
	case !s.answers && s.delay == 0 && s.fault == "":
		return errors.New("it changes nothing")
	case s.err != nil && s.fault != "":
		return errors.New("a failure has no result to be malformed or cut")
	}
	return nil
}

// what says what it does, for reports.
func (s *Substitute) what() string {
	text := ""
	switch {
	case s.err != nil && s.err.Code != "":
		text = "error " + s.err.Code
	case s.err != nil:
		text = "error"
	case s.answers:
		text = "result"
	}
	if s.fault != "" {
		text = joinWords(text, string(s.fault))
	}
	if s.delay > 0 {
		text = joinWords(text, "delay "+s.delay.String())
	}
	return text
}

func joinWords(a, b string) string {
	if a == "" {
		return b
	}
	return a + ", " + b
}

// apply changes an answer.
func (s *Substitute) apply(a *Answer) {
	if s.answers {
		a.Result, a.Error = s.result, s.err
	}
	a.Overridden, a.Fault = true, s.fault
	text := orNull(a.Result)
	switch s.fault {
	case FaultMalformed:
		a.Result = append(json.RawMessage("{"), text...)
	case FaultCut:
		a.Result = text[: len(text)/2 : len(text)/2]
	}
}

// wait holds an answer back.
func (s *Substitute) wait(ctx context.Context) error {
	if s.delay <= 0 {
		return nil
	}
	timer := time.NewTimer(s.delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// OverrideStep replaces the answer of the record at a position. The call must
// still match the record: an override changes what came back, not what was
// asked.
func OverrideStep(seq int, answer Substitute) Option {
	return func(c *config) error { return c.overrides.add(target{seq: seq}, answer) }
}

// OverrideKey replaces the answers of all records with a key.
func OverrideKey(key string, answer Substitute) Option {
	return func(c *config) error { return c.overrides.add(target{key: key}, answer) }
}

// OverrideTool replaces the answers of all records of a tool.
func OverrideTool(tool string, answer Substitute) Option {
	return func(c *config) error { return c.overrides.add(target{tool: tool}, answer) }
}
