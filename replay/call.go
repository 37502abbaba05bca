package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/tape"
)

// Func is what a call does when it runs live.
type Func func(ctx context.Context) (any, error)

// Request is one call.
type Request struct {
	// Kind is [tape.KindTool] when empty.
	Kind tape.Kind
	Tool string
	// Args is JSON text; empty is null.
	Args json.RawMessage
	// Live runs the call. A call without it can be answered from a tape only.
	Live Func
	// Run is a Live that takes the arguments that it is to run with: where the
	// session substitutes accounts they are others than Args, and a call with a
	// Live alone is refused. It comes before Live.
	Run func(ctx context.Context, args json.RawMessage) (any, error)
	// CannotRun is, for a call with neither, why its caller cannot run it and what to do:
	// the end of the sentence that refuses it where it would have to run live.
	CannotRun string
	// SideEffect says whether the call changes the world, nil if the caller does
	// not know.
	SideEffect *bool
	ToolCallID string
	// Like is the seq of the record that the call was probably meant as, 0 if the
	// caller cannot tell: where the call is a drift, it is one from that record, if it
	// is of the tool and left.
	Like int
}

// Answer is what came of a call.
type Answer struct {
	// Call counts the calls of the session from 1.
	Call int
	// Result is what came back, as recorded; nil is null.
	Result json.RawMessage
	// Error is the recorded failure, nil for success.
	Error *tape.Error
	// Seq is the position of the record that answered, 0 for a live call.
	Seq int
	// Record is that record, nil for a live call. It is shared: do not change it.
	Record *tape.Record
	// Rules are the rules of the policy without which the record would not have
	// answered, nil if its key is that of the call.
	Rules []string
	// Overridden is set when an override replaced or spoilt the recorded answer.
	Overridden bool
	// Fault is what an override did to the text of Result, which is not JSON then.
	Fault Fault
	// Derived is set when the answer was derived from the tape, which has no clock
	// reads or no random draws.
	Derived bool
	// Live is set when the call really ran; LiveErr is then what it returned.
	Live    bool
	LiveErr error
}

// Call makes a call: args is marshalled to JSON (a json.RawMessage is JSON
// already), and live runs only where the mode says so. It returns the result as
// JSON text, null where there was none.
//
// A recorded failure comes back as a [*RecordedError] beside the recorded
// result, a live failure as live returned it. Every verdict but a hit is a
// [*DriftError], [*MissError], [*ExhaustedError], [*GapError],
// [*DivergenceError] or [*RefusedError]; nothing has run then.
func (s *Session) Call(ctx context.Context, tool string, args any, live Func, options ...CallOption) (json.RawMessage, error) {
	text, err := encode(args)
	if err != nil {
		return nil, fmt.Errorf("replay: arguments of %s: %w", tool, err)
	}
	request := Request{Tool: tool, Args: text, Live: live}
	for _, option := range options {
		option(&request)
	}
	answer, err := s.Ask(ctx, request)
	switch {
	case err != nil:
		return nil, err
	case answer.Live:
		return orNull(answer.Result), answer.LiveErr
	case answer.Error != nil:
		return orNull(answer.Result), &RecordedError{
			Seq: answer.Seq, Tool: tool, Code: answer.Error.Code, Message: answer.Error.Message, Type: answer.Error.Type,
			Result: answer.Result, Overridden: answer.Overridden,
		}
	case answer.Fault == FaultCut:
		return answer.Result, fmt.Errorf("replay: %s: %w", tool, ErrCut)
	}
	return orNull(answer.Result), nil
}

// Do is [Session.Call] for a live function and a result of a type of its own. The
// result passes through JSON also when the call ran live, so that a replay gives
// what the recording gave. One that came back beside a failure is decoded too, if
// it fits.
func Do[T any](ctx context.Context, s *Session, tool string, args any, live func(context.Context) (T, error), options ...CallOption) (T, error) {
	var result T
	var run Func
	if live != nil {
		run = func(ctx context.Context) (any, error) {
			return resultOf(live(ctx))
		}
	}
	text, err := s.Call(ctx, tool, args, run, options...)
	if text != nil {
		if decodeErr := json.Unmarshal(text, &result); decodeErr != nil && err == nil {
			err = fmt.Errorf("replay: result of %s: %w", tool, decodeErr)
		}
	}
	return result, err
}

// resultOf is what a live function returned: what goes with a failure by
// convention is no result.
func resultOf[T any](value T, err error) (any, error) {
	if err != nil && reflect.ValueOf(&value).Elem().IsZero() {
		return nil, err
	}
	return value, err
}

// Ask makes a call and tells all about its answer. The error is a verdict, or
// says that the call could not be made: the arguments are not JSON, ctx has
// ended, the session is closed. A failure of the call itself, recorded or live,
// is in the answer.
func (s *Session) Ask(ctx context.Context, request Request) (Answer, error) {
	if err := ctx.Err(); err != nil {
		return Answer{}, err
	}
	c := call{kind: request.Kind, tool: request.Tool, like: request.Like, args: orNull(request.Args)}
	if c.kind == "" {
		c.kind = tape.KindTool
	}
	if !slices.Contains(tape.Kinds, c.kind) {
		return Answer{}, fmt.Errorf("replay: %s: unknown kind %q, want one of %q", c.tool, c.kind, tape.Kinds)
	}
	like := s.deck.like(&c)
	if like != nil {
		c.key, c.queue = like.key, like.queue
	} else {
		if err := s.prepare(&c); err != nil {
			return Answer{}, fmt.Errorf("replay: arguments of %s: %w", c.tool, err)
		}
	}
	i, verdict, err := s.judge(&c, &request)
	switch {
	case err != nil:
		return Answer{}, err
	case verdict == nil && i >= 0:
		return s.serve(ctx, &c, i)
	case like != nil:
		// What is recorded is redacted here, whoever redacted the tape.
		if err := s.prepare(&c); err != nil {
			return Answer{}, fmt.Errorf("replay: arguments of %s: %w", c.tool, err)
		}
	}
	switch {
	case c.derived != nil:
		s.keep(&c, c.derived)
		return *c.derived, nil
	case verdict != nil && (s.cfg.mode != ModeReplayRecord || !mayRunLive(verdict) || !request.runs()):
		return Answer{}, s.breakBefore(ctx, &c, &Answer{Call: c.n}, verdict)
	case !request.runs():
		return Answer{}, fmt.Errorf("replay: %s: nothing to run live", c.tool)
	}
	return s.live(ctx, &c, &request, c.hits)
}

// prepare puts the arguments of a call in the form in which they are compared, and
// makes its key.
func (s *Session) prepare(c *call) error {
	args, err := s.cfg.formed(c.kind, c.args)
	if err != nil {
		return err
	}
	c.args, c.hits = s.policy.JSON(args)
	c.key, err = tape.Key(c.tool, c.args)
	c.queue = s.deck.byKey[callKey{c.kind, c.key}]
	return err
}

func (r *Request) runs() bool { return r.Live != nil || r.Run != nil }

// mayRunLive: what the tape never had may run where the mode allows it, what it
// has but cannot answer may not.
func mayRunLive(verdict error) bool {
	return errors.Is(verdict, ErrMiss) || errors.Is(verdict, ErrExhausted)
}

// judge counts a call and looks for its record: i is the step that answers, -1
// with the verdict that says why there is none, or without one where the mode
// asks no tape.
func (s *Session) judge(c *call, request *Request) (i int, verdict, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return -1, nil, fmt.Errorf("replay: %s: %w", c.tool, ErrClosed)
	}
	s.stats.Steps++
	c.n = s.stats.Steps
	if s.cfg.mode == ModeRecord {
		return -1, nil, nil
	}
	if s.goesLive(c) {
		s.askedLocked(c, -1, request.ToolCallID)
		if verdict = s.refusal(c, request); verdict != nil {
			s.count(verdict)
		}
		return -1, verdict, nil
	}
	if answer, ok := s.frozen.derive(c); ok {
		s.stats.Derived++
		c.derived, c.derivedAt = &answer, s.frozen.now
		return -1, nil, nil
	}
	i, verdict = s.match(c)
	s.askedLocked(c, i, request.ToolCallID)
	if verdict != nil {
		s.count(verdict)
	}
	return i, verdict, nil
}

// serve answers a call from a step that it has consumed.
func (s *Session) serve(ctx context.Context, c *call, i int) (Answer, error) {
	st := &s.deck.steps[i]
	answer := Answer{Call: c.n, Result: st.record.Result, Error: st.record.Error, Seq: st.seq, Record: st.record}
	if c.fit != nil {
		answer.Rules = c.fit.Rules
	}
	if body := resultBody(st.record); body != nil && (c.override == nil || !c.override.answers) {
		result, err := fetch(ctx, s.cfg.bodies, body)
		if err != nil {
			return Answer{}, s.lateGap(c, st, &tape.Gap{What: "result", Why: err.Error()})
		}
		answer.Result = result
		if redact.Redacted(string(result)) {
			c.placeholder = true
			if s.cfg.failRedacted {
				return Answer{}, s.lateGap(c, st, redactedGap)
			}
		}
	}
	if c.override != nil {
		c.override.apply(&answer)
	}
	if err := s.breakBefore(ctx, c, &answer, nil); err != nil {
		return Answer{}, err
	}
	s.hit(c, st)
	s.keep(c, &answer)
	if c.override != nil {
		if err := c.override.wait(ctx); err != nil {
			return Answer{}, err
		}
	}
	if s.gate != nil {
		if err := s.gate.wait(ctx, st.record.Done); err != nil {
			return Answer{}, err
		}
	}
	return answer, nil
}

// lateGap is the verdict on a call whose answer turned out to be missing once its
// record was consumed.
func (s *Session) lateGap(c *call, st *step, gap *tape.Gap) error {
	verdict := s.gap(c, st, gap)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count(verdict)
	return verdict
}

func (s *Session) hit(c *call, st *step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stats.TapeHits++
	s.frozen.answered(st.record)
	if len(c.hits) > 0 {
		s.redactedMatched++
	}
	s.servedBy(c, st)
	if over := c.override; over != nil {
		if len(s.overridden) < maxListed {
			s.overridden = append(s.overridden, Overridden{Call: c.n, Seq: st.seq, Tool: c.tool, Of: over.String(), What: over.what()})
		}
		s.overriddenCount++
		if over.answers {
			return
		}
	}
	if st.redacted || c.placeholder {
		s.stats.RedactedServed++
	}
	if s.expired(st) {
		s.stats.ExpiredServed++
	}
}

// count notes a verdict that is not a hit; s.mu is held.
func (s *Session) count(verdict error) {
	event, _ := EventOf(verdict)
	switch event.Verdict {
	case VerdictDivergence:
		s.diverged++
		s.stats.DriftEvents++
	case VerdictDrift:
		s.stats.DriftEvents++
	case VerdictExhausted:
		s.stats.Exhausted++
	case VerdictGap:
		s.stats.Gaps++
	case VerdictMiss:
		s.stats.TapeMisses++
	case VerdictRefused:
		s.stats.Refused++
	}
	s.log.add(event)
}

func orNull(text json.RawMessage) json.RawMessage {
	if len(text) == 0 {
		return json.RawMessage("null")
	}
	return text
}
