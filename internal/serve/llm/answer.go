package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/tape"
)

// Answer is a recorded answer, ready to be written by any protocol.
type Answer struct {
	// Choices are the answers, one unless several were asked for.
	Choices []message.Message
	// Finish is why the model stopped, as recorded; "" if that is not known.
	Finish string
	Model  string
	Usage  Usage
	// Created is when the answer was complete, by the record; 0 if that is not
	// known.
	Created int64
	// Notes name what of the answer was rebuilt or lost, without content.
	Notes []Note

	seed string
}

// Usage counts tokens; a count is nil where the tape has none.
type Usage struct {
	Input, Output, CacheRead, CacheWrite, Reasoning *int64
}

// ErrNoAnswer says that a record holds nothing that is the answer of a model.
var ErrNoAnswer = errors.New("the record holds no answer of a model")

// ReadAnswer reads the result of a record, or what an override put in its place,
// for a client that asked for that many choices. Ids that the tape does not have
// are made of seed and the record's position, so that they are the same each
// time. The error is [ErrNoAnswer], or says that the result is not JSON.
func ReadAnswer(r *tape.Record, result json.RawMessage, seed string, choices int) (*Answer, error) {
	// A record does not change, and a long answer is not to be there twice.
	v, err := value.Parse(unsafe.String(unsafe.SliceData(result), len(result)))
	if err != nil {
		return nil, fmt.Errorf("answer of record %d: %w", r.Seq, err)
	}
	ms := answerMessages(v)
	if len(ms) == 0 {
		return nil, fmt.Errorf("record %d: %w", r.Seq, ErrNoAnswer)
	}
	if choices < 2 {
		// Some APIs list what one answer is made of as messages of their own.
		for _, m := range ms[1:] {
			ms[0].Parts = append(slices.Clone(ms[0].Parts), m.Parts...)
			if m.FinishReason != "" {
				ms[0].FinishReason = m.FinishReason
			}
		}
		ms = ms[:1]
	}
	a := &Answer{Choices: ms, Finish: v.First("finish_reason", "stop_reason").Str(), Model: v.At("model").Str(), seed: fmt.Sprintf("%s/%d", seed, r.Seq)}
	if a.Model == "" {
		a.Model = r.Model
	}
	if a.Finish == "" {
		a.Finish = ms[len(ms)-1].FinishReason
	}
	a.Usage = readUsage(v.At("usage"))
	if start, err := time.Parse(time.RFC3339Nano, r.Start); err == nil {
		a.Created = start.Add(time.Duration(r.MS * float64(time.Millisecond))).Unix()
	}
	a.fillIDs()
	return a, nil
}

// answerMessages finds the messages of an answer: in the neutral form, or in the
// body of a provider, which plain recorders keep.
func answerMessages(v value.Value) []message.Message {
	var ms []message.Message
	switch {
	case v.Kind() == value.String:
		return []message.Message{{Role: "assistant", Parts: []message.Part{{Type: message.Text, Text: v.Str()}}}}
	case v.Has("message"):
		ms = message.Read(v.At("message"))
	case v.Has("messages"):
		ms = message.Read(v.At("messages"))
	case v.At("choices").Kind() == value.Array:
		ms = message.Read(v.At("choices"))
	case v.At("candidates").Kind() == value.Array:
		for _, c := range v.At("candidates").Items() {
			ms = append(ms, message.Read(c.At("content"))...)
		}
	case v.At("output").Kind() == value.Array:
		ms = message.Read(v.At("output"))
	case v.At("output").Kind() == value.String:
		return answerMessages(v.At("output"))
	case v.Has("content"):
		ms = message.Read(v)
	}
	for i := range ms {
		if ms[i].Role == "" || ms[i].Role == "user" {
			ms[i] = message.Message{Role: "assistant", Parts: ms[i].Parts, FinishReason: ms[i].FinishReason}
		}
	}
	return ms
}

func readUsage(v value.Value) (u Usage) {
	count := func(names ...string) *int64 {
		if n, ok := v.First(names...).Int64(); ok {
			return &n
		}
		return nil
	}
	u.Input = count("input_tokens", "prompt_tokens", "promptTokenCount")
	u.Output = count("output_tokens", "completion_tokens", "candidatesTokenCount")
	u.CacheRead = count("cache_read_tokens", "cache_read_input_tokens", "cachedContentTokenCount")
	u.CacheWrite = count("cache_write_tokens", "cache_creation_input_tokens")
	u.Reasoning = count("reasoning_tokens", "thoughtsTokenCount")
	return u
}

// Known reports whether the tape has any count.
func (u *Usage) Known() bool { return u.Input != nil || u.Output != nil }

func orZero(n *int64) int64 {
	if n == nil {
		return 0
	}
	return *n
}

func count(n *int64) value.Value { return value.Int(orZero(n)) }

// fillIDs gives calls without an id one.
func (a *Answer) fillIDs() {
	for i := range a.Choices {
		parts := slices.Clone(a.Choices[i].Parts)
		changed := false
		for k := range parts {
			if p := &parts[k]; p.Type == message.ToolCall && p.ID == "" {
				p.ID, changed = a.id("call_", i, k), true
			}
		}
		if changed {
			a.Choices[i] = message.Message{Role: a.Choices[i].Role, Parts: parts, FinishReason: a.Choices[i].FinishReason}
			a.rebuilt("ids of tool calls")
		}
	}
}

// id makes the id of a part of the answer.
func (a *Answer) id(prefix string, at ...int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %v", a.seed, prefix, at))
	return prefix + hex.EncodeToString(sum[:12])
}

// Note is something of an answer that is not as the provider gave it, and why.
type Note struct{ What, Why string }

func (a *Answer) note(n Note) {
	if !slices.Contains(a.Notes, n) {
		a.Notes = append(a.Notes, n)
	}
}

// rebuilt notes what is made the same way each time.
func (a *Answer) rebuilt(what string) { a.note(Note{what, "rebuilt: the tape does not have it"}) }

// leftOut notes what is empty, zero or not there.
func (a *Answer) leftOut(what string) { a.note(Note{what, "left out: the tape does not have it"}) }

// stop is why a model stopped, in the words of no provider.
type stop int

const (
	stopEnd stop = iota
	stopLength
	stopTools
	stopFilter
	stopSequence
	stopRefusal
	stopPause
)

var stops = map[string]stop{
	"stop": stopEnd, "end_turn": stopEnd, "endturn": stopEnd, "completed": stopEnd, "complete": stopEnd, "end": stopEnd,
	"length": stopLength, "max_tokens": stopLength, "max_output_tokens": stopLength, "incomplete": stopLength,
	"model_context_window_exceeded": stopLength,
	"tool_calls":                    stopTools, "tool_use": stopTools, "tool_call": stopTools, "function_call": stopTools, "tooluse": stopTools,
	"content_filter": stopFilter, "safety": stopFilter, "recitation": stopFilter, "prohibited_content": stopFilter, "blocklist": stopFilter, "spii": stopFilter,
	"stop_sequence": stopSequence, "refusal": stopRefusal, "pause_turn": stopPause,
}

// stopped is why a choice ended. Where the tape does not say, or says it in words
// that tell no tool calls, the parts do.
func (a *Answer) stopped(m *message.Message) stop {
	reason := m.FinishReason
	if reason == "" {
		reason = a.Finish
	}
	s, known := stops[strings.ReplaceAll(strings.ToLower(strings.TrimPrefix(reason, "FinishReason.")), "-", "_")]
	if !known {
		a.rebuilt("why the model stopped")
	}
	if s == stopEnd && slices.ContainsFunc(m.Parts, func(p message.Part) bool { return p.Type == message.ToolCall }) {
		return stopTools
	}
	return s
}

// reason is the recorded reason if the protocol has it, else the protocol's word
// for it.
func (a *Answer) reason(m *message.Message, words map[stop]string) string {
	for _, r := range []string{m.FinishReason, a.Finish} {
		for _, w := range words {
			if r == w {
				return r
			}
		}
	}
	return words[a.stopped(m)]
}

// losses notes what a protocol cannot say of an answer.
func (a *Answer) losses(p Protocol) {
	for i := range a.Choices {
		for k := range a.Choices[i].Parts {
			if lost := p.Loses(&a.Choices[i].Parts[k]); lost != "" {
				a.note(Note{lost, "left out: " + p.Name() + " has no place for it"})
			}
		}
	}
}

// argsText is the arguments of a call as the text that providers send.
func argsText(p *message.Part) string {
	if p.Args.Kind() == value.String {
		return p.Args.Str()
	}
	if p.Args.IsNull() {
		return "{}"
	}
	return p.Args.JSON()
}
