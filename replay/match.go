package replay

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

// call is a request made comparable with records.
type call struct {
	// n counts the calls of the session from 1.
	n    int
	kind tape.Kind
	tool string
	key  string
	// queue lists the records of the key, nil if there are none.
	queue *queue
	// args are the redacted arguments.
	args json.RawMessage
	// like is the seq of the record that it is a drift from, 0 for the earliest.
	like int
	// derived is an answer that no record gave, nil for none.
	derived   *Answer
	derivedAt time.Time
	// liveArgs are what a live call runs with, nil for the arguments of the request;
	// substituted are the paths where they differ.
	liveArgs    json.RawMessage
	substituted []string
	// override is what replaces or spoils the answer, nil if nothing does.
	override *override
	// compared is what of them is compared, and same the records that have the
	// same; nil where all is.
	compared *compared
	same     *queue
	// fit is how rules take it for the record that answers, nil without them.
	fit *rules.Fit
	// hits are what was redacted in the arguments.
	hits []redact.Hit
	// placeholder: the answer, held by reference, has a placeholder in it.
	placeholder bool
}

// match finds the step that answers a call and consumes it, or says why none
// does. A drift or a miss consumes nothing; a gap consumes its record, so that
// a later call with the same key gets the later answer.
func (s *Session) match(c *call) (int, error) {
	d := s.deck
	i, due := d.head(c.queue), -1
	if s.cfg.order == OrderStrict {
		due = d.next()
	}
	if i < 0 || due >= 0 && due != i || !s.exactly(c) {
		i = s.loosely(c, due)
	}
	if due >= 0 && due != i {
		return -1, s.outOfOrder(c, due)
	}
	if i < 0 {
		return -1, s.noAnswer(c)
	}
	st := &d.steps[i]
	c.override = s.cfg.overrides.find(st)
	if c.override == nil || !c.override.answers {
		if gap := s.gapOf(st); gap != nil {
			d.consume(i)
			return -1, s.gap(c, st, gap)
		}
	}
	if c.override != nil {
		c.override.applied++
	}
	if d.consume(i) {
		s.stats.Reordered++
	}
	if c.fit != nil {
		s.ids.Keep(c.fit)
	}
	return i, nil
}

func (s *Session) gapOf(st *step) *tape.Gap {
	if st.resultGap != nil {
		return st.resultGap
	}
	if st.argsGap != nil && len(st.record.Args) == 0 && argsBody(st.record) == nil {
		// Its key is that of no arguments, which says nothing of those it had.
		return st.argsGap
	}
	if s.cfg.failExpired && s.expired(st) {
		return &tape.Gap{What: "result", Why: "expired at " + st.record.Expires}
	}
	if s.cfg.failRedacted && st.redacted {
		return redactedGap
	}
	return nil
}

var redactedGap = &tape.Gap{What: "result", Why: "a value in it was redacted"}

func (s *Session) expired(st *step) bool {
	return !st.expires.IsZero() && s.cfg.now().After(st.expires)
}

// gap is the verdict on a step that was consumed without an answer. Calls that
// would wait for it to complete need not.
func (s *Session) gap(c *call, st *step, gap *tape.Gap) error {
	if s.gate != nil {
		s.gate.release(st.record.Done)
	}
	why := gap.Why
	if why == "" {
		why = "not captured"
	}
	return &GapError{Call: c.n, Seq: st.seq, Kind: c.kind, Tool: c.tool, Key: st.key, What: gap.What, Why: why, Fix: gap.Fix}
}

// noAnswer says why no unconsumed record has the key of a call.
func (s *Session) noAnswer(c *call) error {
	d := s.deck
	if served, lastSeq := d.served(callKey{c.kind, c.key}, c.same); served > 0 && !s.crossed(c) {
		return &ExhaustedError{
			Call: c.n, Kind: c.kind, Tool: c.tool, Key: c.key, Args: c.args, Served: served, LastSeq: lastSeq,
		}
	}
	of := d.byTool[toolKey{c.kind, c.tool}]
	if i := d.head(of); i >= 0 {
		if c.like > 0 {
			if j := slices.IndexFunc(of.steps[of.head:], func(j int) bool { return d.steps[j].seq == c.like && !d.steps[j].consumed }); j >= 0 {
				i = of.steps[of.head+j]
			}
		}
		return s.drift(c, i)
	}
	return &MissError{Call: c.n, Kind: c.kind, Tool: c.tool, Key: c.key, Args: c.args, Nearest: s.nearest(c)}
}

// drift compares a call with the record it should have been. Where the record's
// arguments were never captured, nobody can say that they differ: it is a gap.
func (s *Session) drift(c *call, i int) error {
	st := &s.deck.steps[i]
	if st.argsGap != nil {
		s.deck.consume(i)
		return s.gap(c, st, st.argsGap)
	}
	e := &DriftError{
		Call: c.n, Seq: st.seq, Kind: c.kind, Tool: c.tool,
		RecordedKey: st.key, LiveKey: c.key, LiveArgs: c.args,
	}
	if recorded := s.policyArgs(st); recorded != nil {
		e.RecordedArgs = recorded
		e.Differences = s.differences(c, recorded)
		if n := len(e.Differences); n > MaxDifferences {
			e.Differences, e.More = e.Differences[:MaxDifferences:MaxDifferences], n-MaxDifferences
		}
		s.cfg.locate(e)
	}
	return e
}

// policyArgs are a record's arguments in the form in which this session compares
// and redacts them, nil if they are out of reach.
func (s *Session) policyArgs(st *step) json.RawMessage {
	args, err := s.cfg.recordArgs(st.record)
	if err != nil {
		return nil
	}
	// It was put in this form before, for its key.
	if args, err = s.cfg.formed(st.record.KindOf(), args); err != nil {
		return nil
	}
	args, _ = s.policy.JSON(args)
	return orNull(args)
}

// outOfOrder judges a call that is not the one due in strict order.
func (s *Session) outOfOrder(c *call, due int) error {
	st := &s.deck.steps[due]
	if st.record.Tool == c.tool && st.record.KindOf() == c.kind {
		return s.drift(c, due)
	}
	return &DivergenceError{
		Call: c.n, Kind: c.kind, Tool: c.tool, Key: c.key, Args: c.args,
		Seq: st.seq, ExpectedTool: st.record.Tool, ExpectedKey: st.key,
	}
}

// nearest looks for a record that a missed call resembles: the same arguments
// under another name, the same tool asked before, or a similar name. It looks at
// the tools of the tape, not at its records, so a long tape costs no more.
func (s *Session) nearest(c *call) *Near {
	d := s.deck
	digits := c.key[strings.LastIndexByte(c.key, ':'):]
	best := candidate{}
	for _, at := range d.tools {
		switch {
		case at.kind != c.kind:
		case at.tool == c.tool:
			best.better(d, d.byTool[at], 2, "the same tool, served before")
		default:
			best.better(d, d.byKey[callKey{at.kind, at.tool + digits}], 3, "the same arguments for another tool")
			if similar(at.tool, c.tool) {
				best.better(d, d.byTool[at], 1, "a similar name")
			}
		}
	}
	if best.step == nil {
		return nil
	}
	near := &Near{Seq: best.step.seq, Tool: best.step.record.Tool, Key: best.step.key, Why: best.why}
	if near.Tool == c.tool {
		if list, err := Diff(s.policyArgs(best.step), c.args); err == nil && len(list) > 0 {
			near.Why = fmt.Sprintf("%s, differs at %s", near.Why, list[0])
		}
	}
	return near
}

// candidate is the nearest step found so far.
type candidate struct {
	step *step
	why  string
	rank int
}

// better takes the step of a queue that is nearest: the first unconsumed, else
// the last. Of equals, an unconsumed step is nearer than a consumed one, then the
// one that was recorded first.
func (b *candidate) better(d *deck, q *queue, rank int, why string) {
	if q == nil {
		return
	}
	rank *= 2
	i := d.head(q)
	if i >= 0 {
		rank++
	} else {
		i = q.steps[len(q.steps)-1]
	}
	if st := &d.steps[i]; rank > b.rank || rank == b.rank && b.step != nil && st.seq < b.step.seq {
		*b = candidate{st, why, rank}
	}
}

var separators = strings.NewReplacer("_", "", "-", "", ".", "", "/", "", " ", "")

// similar reports whether two names differ by case, separators or an ending.
func similar(a, b string) bool {
	a, b = strings.ToLower(separators.Replace(a)), strings.ToLower(separators.Replace(b))
	if a == b {
		return true
	}
	// Fewer letters begin or end too many names to say anything.
	const enough = 3
	return min(len(a), len(b)) >= enough && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a) ||
		strings.HasSuffix(a, b) || strings.HasSuffix(b, a))
}
