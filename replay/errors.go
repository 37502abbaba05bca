package replay

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tapedeck/tapedeck/tape"
)

// What errors.Is finds in the errors of a session.
var (
	// ErrDrift: a record of the same tool is there, with other arguments.
	ErrDrift = errors.New("drift")
	// ErrMiss: nothing on the tape is left that this call could be.
	ErrMiss = errors.New("miss")
	// ErrExhausted: the call is on the tape, but all its answers are used up.
	ErrExhausted = errors.New("exhausted")
	// ErrGap: the call is on the tape, but what it needs was never captured.
	ErrGap = errors.New("gap")
	// ErrDivergence: with strict order, the call is not the next on the tape.
	ErrDivergence = errors.New("divergence")
	// ErrRecorded: the recorded call failed, and its failure is the answer.
	ErrRecorded = errors.New("recorded failure")
	// ErrUnclean: the replay as a whole was not clean.
	ErrUnclean = errors.New("the replay was not clean")
	// ErrUnconsumed: records were never asked for.
	ErrUnconsumed = errors.New("unconsumed records")
	// ErrClosed: the session is closed.
	ErrClosed = errors.New("the session is closed")
)

// DriftError is a call that differs from the record it should have been: the
// earliest of its kind and tool that was not asked for.
type DriftError struct {
	// Call counts the calls of the session from 1; Seq is the record's position.
	Call, Seq int
	Kind      tape.Kind
	Tool      string
	// The keys and the redacted arguments of both sides. RecordedArgs is nil
	// where the tape holds them by reference and they cannot be loaded.
	RecordedKey, LiveKey   string
	RecordedArgs, LiveArgs json.RawMessage
	// Differences are the places where the arguments differ, at most
	// [MaxDifferences]; More counts the rest.
	Differences []Difference
	More        int
}

func (e *DriftError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "drift at step %d: %s: recorded %s, called %s", e.Seq, e.Tool, e.RecordedKey, e.LiveKey)
	writeDifferences(&b, e.Differences, e.More)
	if e.RecordedArgs != nil && len(e.Differences) == 0 {
		b.WriteString(": the arguments are the same, but the record's key is not theirs")
	}
	return b.String()
}

// Is finds [ErrDrift].
func (e *DriftError) Is(target error) bool { return target == ErrDrift }

// MissError is a call that nothing left on the tape could be.
type MissError struct {
	Call int
	Kind tape.Kind
	Tool string
	Key  string
	// Args are the redacted arguments of the call.
	Args json.RawMessage
	// Nearest is the record that comes closest, nil if none is near.
	Nearest *Near
}

// Near is a record that resembles a call.
type Near struct {
	Seq  int    `json:"seq"`
	Tool string `json:"tool"`
	Key  string `json:"key"`
	// Why says what makes it near.
	Why string `json:"why"`
}

func (e *MissError) Error() string {
	text := fmt.Sprintf("miss: call %d: %s is not on the tape", e.Call, e.Key)
	if e.Nearest != nil {
		text += fmt.Sprintf("; nearest is step %d, %s: %s", e.Nearest.Seq, e.Nearest.Key, e.Nearest.Why)
	}
	return text
}

// Is finds [ErrMiss].
func (e *MissError) Is(target error) bool { return target == ErrMiss }

// ExhaustedError is a call whose recorded answers were all served before.
type ExhaustedError struct {
	Call int
	Kind tape.Kind
	Tool string
	Key  string
	Args json.RawMessage
	// Served is how many records had the key, LastSeq the last of them.
	Served, LastSeq int
}

func (e *ExhaustedError) Error() string {
	return fmt.Sprintf("exhausted: call %d: %s was answered %d of %d times, last by step %d",
		e.Call, e.Key, e.Served, e.Served, e.LastSeq)
}

// Is finds [ErrExhausted].
func (e *ExhaustedError) Is(target error) bool { return target == ErrExhausted }

// GapError is a call that is on the tape without what it takes to answer it.
type GapError struct {
	Call, Seq int
	Kind      tape.Kind
	Tool      string
	Key       string
	// What is missing: "args" or "result"; Why it is, and the Fix, if known.
	What, Why, Fix string
}

func (e *GapError) Error() string {
	text := fmt.Sprintf("gap at step %d: %s: %s: %s", e.Seq, e.Tool, e.What, e.Why)
	if e.Fix != "" {
		text += "; fix: " + e.Fix
	}
	return text
}

// Is finds [ErrGap].
func (e *GapError) Is(target error) bool { return target == ErrGap }

// DivergenceError is a call of another tool than that of the next record,
// where order is strict.
type DivergenceError struct {
	Call      int
	Kind      tape.Kind
	Tool, Key string
	Args      json.RawMessage
	// The next record.
	Seq                       int
	ExpectedTool, ExpectedKey string
}

func (e *DivergenceError) Error() string {
	return fmt.Sprintf("divergence at step %d: expected %s, called %s", e.Seq, e.ExpectedKey, e.Key)
}

// Is finds [ErrDivergence].
func (e *DivergenceError) Is(target error) bool { return target == ErrDivergence }

// RecordedError is the recorded failure of a call, served as its answer. A live
// function may return one to record a code and a type of its own.
type RecordedError struct {
	Seq  int
	Tool string
	// Code, Message and Type are as recorded.
	Code, Message, Type string
	// Result is what came back beside the failure, nil if nothing did.
	Result json.RawMessage
	// Overridden is set when the failure was put there by an override.
	Overridden bool
}

func (e *RecordedError) Error() string {
	text := e.Message
	if text == "" {
		text = e.Type
	}
	switch {
	case e.Code != "" && text != "":
		return e.Code + ": " + text
	case text == "":
		return e.Code + " failed"
	}
	return text
}

// Is finds [ErrRecorded].
func (e *RecordedError) Is(target error) bool { return target == ErrRecorded }

// UncleanError says why a replay as a whole was not clean. errors.Is finds in
// it [ErrUnclean] and the sentinel of each verdict that occurred.
type UncleanError struct {
	Stats Stats
	// Unconsumed are records that were never asked for, at most 100 of them;
	// Stats counts all.
	Unconsumed []Unconsumed
	// Divergences counts calls out of strict order.
	Divergences int
	// Quit is set when a break ended the replay.
	Quit bool
	// Unserved counts calls that a model asked for and that were not answered
	// from the tape, other than those allowed.
	Unserved int
	// Elsewhere counts refused requests to places that the tape knows nothing of,
	// where they count.
	Elsewhere int
}

func (e *UncleanError) Error() string {
	var parts []string
	add := func(n int, what string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, what))
		}
	}
	add(e.Stats.DriftEvents-e.Divergences, "drift")
	add(e.Divergences, "divergence")
	add(e.Stats.TapeMisses, "miss")
	add(e.Stats.Exhausted, "exhausted")
	add(e.Stats.Gaps, "gap")
	add(e.Stats.Unconsumed, "unconsumed")
	add(e.Stats.Refused, "refused to run live")
	add(e.Unserved, "not answered from the tape")
	add(e.Elsewhere, "refused elsewhere")
	if e.Quit {
		parts = append(parts, "quit at a break")
	}
	text := fmt.Sprintf("%v: %s", ErrUnclean, strings.Join(parts, ", "))
	const enough = 3
	for i, u := range e.Unconsumed {
		if i == enough {
			text += ", …"
			break
		}
		text += fmt.Sprintf("%s step %d %s", map[bool]string{true: ":", false: ","}[i == 0], u.Seq, u.Tool)
	}
	return text
}

// Is finds [ErrUnclean] and the sentinels of what occurred.
func (e *UncleanError) Is(target error) bool {
	switch target {
	case ErrUnclean:
		return true
	case ErrUnconsumed:
		return e.Stats.Unconsumed > 0
	case ErrDrift:
		return e.Stats.DriftEvents > e.Divergences
	case ErrDivergence:
		return e.Divergences > 0
	case ErrMiss:
		return e.Stats.TapeMisses > 0
	case ErrExhausted:
		return e.Stats.Exhausted > 0
	case ErrGap:
		return e.Stats.Gaps > 0
	case ErrRefused:
		return e.Stats.Refused > 0
	case ErrUnserved:
		return e.Unserved > 0
	case ErrQuit:
		return e.Quit
	}
	return false
}

func writeDifferences(b *strings.Builder, list []Difference, more int) {
	for i, d := range list {
		b.WriteString(map[bool]string{true: ": ", false: "; "}[i == 0])
		b.WriteString(d.String())
	}
	if more > 0 {
		fmt.Fprintf(b, "; and %d more", more)
	}
}
