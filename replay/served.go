package replay

import (
	"encoding/json"
	"fmt"

	"github.com/tapedeck/tapedeck/tape"
)

// Form gives arguments as the session compares them: in the form of their kind,
// and redacted by the policy of the tape. A caller that looks for a record itself
// puts both sides in it. The error is that of the form.
func (s *Session) Form(kind tape.Kind, args json.RawMessage) (json.RawMessage, error) {
	formed, err := s.cfg.formed(kind, orNull(args))
	if err != nil {
		return nil, fmt.Errorf("replay: %w", err)
	}
	redacted, _ := s.policy.JSON(formed)
	return redacted, nil
}

// Claim adds to the report what a caller took for granted on the way of a call
// between the session and the program, such as a part of a request that it did
// not compare. Claims of one path are counted, and the first says why.
func (s *Session) Claim(path, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.claims.Add(Claim{Path: path, Why: why})
}

// TakeBack turns the hit of a call into a gap, for a caller that cannot pass the
// answer on. It returns the verdict.
func (s *Session) TakeBack(answer Answer, why string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := answer.Record
	gap := &GapError{Call: answer.Call, Seq: answer.Seq, Kind: r.KindOf(), Tool: r.Tool, Key: r.Key, What: "result", Why: why}
	s.stats.TapeHits--
	s.count(gap)
	return gap
}

// Place names the place of a difference in words, given its path and the
// arguments of the side that has something there; "" leaves the path alone.
type Place func(path string, args json.RawMessage) string

// WithPlaces names the places where arguments of a kind differ in words, beside
// their paths. It goes with [WithForm], whose form both sides are in.
func WithPlaces(kind tape.Kind, place Place) Option {
	return func(c *config) error {
		if err := WithKinds(kind)(&config{}); err != nil {
			return err
		}
		if place == nil {
			return fmt.Errorf("the places of %s calls are nil", kind)
		}
		if c.places == nil {
			c.places = map[tape.Kind]Place{}
		}
		c.places[kind] = place
		return nil
	}
}

// locate names the places of a drift in words.
func (c *config) locate(e *DriftError) {
	place := c.places[e.Kind]
	if place == nil {
		return
	}
	for i := range e.Differences {
		d := &e.Differences[i]
		args := e.LiveArgs
		if d.Live == nil {
			args = e.RecordedArgs
		}
		d.Where = place(d.Path, args)
	}
}
