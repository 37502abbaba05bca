package replay

import (
	"encoding/json"
	"errors"
	"slices"

	"github.com/tapedeck/tapedeck/tape"
)

// ErrUnserved is found where a call that a model asked for was not answered from the
// tape.
var ErrUnserved = errors.New("a call was not answered from the tape")

// Wanted is a tool call in the answer of a model, or in what a model is told.
type Wanted struct {
	// ID is the call's, "" where the API has none.
	ID   string
	Tool string
	// Args is JSON text; it is not needed in what a model is told.
	Args json.RawMessage
}

// Unserved is a call that a model asked for and that was not answered from the
// tape: somebody else ran it.
type Unserved struct {
	Tool       string `json:"tool"`
	ToolCallID string `json:"tool_call_id,omitempty"`
	// Told: a model was told the result. Else the program ended without.
	Told bool `json:"told"`
	// Allowed: [WithUnserved] names the tool.
	Allowed bool `json:"allowed"`
}

// String is the call on one line.
func (u Unserved) String() string {
	text := u.Tool
	if u.ToolCallID != "" {
		text += " (" + u.ToolCallID + ")"
	}
	text += " was asked for by the model and not answered from the tape"
	if u.Told {
		text += ", but its result was told"
	}
	if u.Allowed {
		text += "; allowed"
	}
	return text
}

// WithUnserved allows tools, by name, to be run by somebody else when a served
// model asks for them: what a framework does itself, such as handing over to
// another agent. Their records, if there are any, count as asked for.
func WithUnserved(tools ...string) Option {
	return func(c *config) error {
		if slices.Contains(tools, "") {
			return errors.New("a tool that may go unserved has no name")
		}
		c.unserved = append(c.unserved, tools...)
		return nil
	}
}

// wanted keeps the calls that models asked for until they are answered.
type wanted struct {
	open []wantedCall
	list []Unserved
	// live counts those that ran, effects those among them known to have side
	// effects, bad those that were not allowed.
	live, effects, bad int
}

type wantedCall struct {
	id, tool, key string
}

// Wanted notes the tool calls in an answer that a model client was served. Each
// must be asked for before a model is told its result, and before the session ends
// if it is on the tape.
func (s *Session) Wanted(calls ...Wanted) {
	open := make([]wantedCall, 0, len(calls))
	for _, c := range calls {
		args, _ := s.policy.JSON(orNull(c.Args))
		// Arguments that are not JSON have no key, and are found by name.
		key, _ := tape.Key(c.Tool, args)
		open = append(open, wantedCall{c.ID, c.Tool, key})
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.wanted.open = append(s.wanted.open, open...)
	}
}

// Told notes the tool results in the request of a model client: a call that was
// asked for, has a result and was not answered from the tape was run by somebody
// else.
func (s *Session) Told(calls ...Wanted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range calls {
		for i := range s.wanted.open {
			w := &s.wanted.open[i]
			if c.ID != "" && w.id == c.ID || (c.ID == "" || w.id == "") && w.tool == c.Tool {
				s.unservedLocked(*w, true)
				s.wanted.open = slices.Delete(s.wanted.open, i, i+1)
				break
			}
		}
	}
}

// asked strikes off the call that was asked for, whatever came of it: by id, by
// name and arguments, by name. s.mu is held.
func (w *wanted) asked(ids []string, tool, key string) {
	for _, is := range []func(wantedCall) bool{
		func(c wantedCall) bool { return c.id != "" && slices.Contains(ids, c.id) },
		func(c wantedCall) bool { return c.tool == tool && c.key == key },
		func(c wantedCall) bool { return c.tool == tool },
	} {
		if i := slices.IndexFunc(w.open, is); i >= 0 {
			w.open = slices.Delete(w.open, i, i+1)
			return
		}
	}
}

// askedLocked notes a tool call that the step i answers, or none. s.mu is held.
func (s *Session) askedLocked(c *call, i int, id string) {
	switch {
	case c.kind != tape.KindTool || len(s.wanted.open) == 0:
	case i < 0:
		s.wanted.asked([]string{id}, c.tool, c.key)
	default:
		st := &s.deck.steps[i]
		s.wanted.asked([]string{id, st.record.ToolCallID}, st.record.Tool, st.key)
	}
}

func (s *Session) unservedLocked(w wantedCall, told bool) {
	allowed := slices.Contains(s.cfg.unserved, w.tool)
	s.wanted.live++
	if s.deck.effects[w.tool] {
		s.wanted.effects++
	}
	if !allowed {
		s.wanted.bad++
	} else if i := s.deck.head(s.deck.byKey[callKey{tape.KindTool, w.key}]); i >= 0 {
		s.deck.consume(i)
	}
	if len(s.wanted.list) < maxListed {
		s.wanted.list = append(s.wanted.list, Unserved{Tool: w.tool, ToolCallID: w.id, Told: told, Allowed: allowed})
	}
}

// endWanted settles what is open at the end: calls that ran when they were
// recorded, and must have run now. A program that was refused an answer stopped
// there, and may have had more calls to make. s.mu is held.
func (s *Session) endWanted() {
	if len(s.log.events) == 0 {
		for _, w := range s.wanted.open {
			if s.deck.head(s.deck.byKey[callKey{tape.KindTool, w.key}]) >= 0 {
				s.unservedLocked(w, false)
			}
		}
	}
	s.wanted.open = nil
}
