package replay

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

// maxListed bounds every list of a session that grows with its calls.
const maxListed = 100

// Report says what a session did, and of which question it is the answer.
type Report struct {
	Experiment Experiment `json:"experiment"`
	Tape       TapeInfo   `json:"tape"`
	// CodeVersion is that of the code that ran, if it was named.
	CodeVersion string `json:"code_version,omitempty"`
	Policy      Policy `json:"policy"`
	// Clean tells whether the replay counts as passed; see [Session.Close].
	Clean bool  `json:"clean"`
	Stats Stats `json:"stats"`
	// Divergences counts calls out of strict order; drift_events includes them.
	Divergences int `json:"divergences,omitempty"`
	// Overdue counts answers that the completion guard let out of order.
	Overdue int `json:"overdue,omitempty"`
	// Events are the calls that were not hits, the first 100 of them;
	// EventsLeftOut counts the rest.
	Events        []Event `json:"events,omitempty"`
	EventsLeftOut int     `json:"events_left_out,omitempty"`
	// Unconsumed are records not asked for, the first 100; Stats counts all.
	Unconsumed []Unconsumed `json:"unconsumed,omitempty"`
	// Unserved are calls that a model asked for and that were not answered from
	// the tape, the first 100; LiveToolCalls counts all.
	Unserved []Unserved `json:"unserved,omitempty"`
	// Elsewhere are refused requests to places that the tape knows nothing of, at
	// most 100 places; ElsewhereCount counts all requests.
	Elsewhere      []Elsewhere `json:"elsewhere,omitempty"`
	ElsewhereCount int         `json:"elsewhere_count,omitempty"`
	// Overridden are the answers that were replaced or spoilt, the first 100;
	// OverriddenCount counts all.
	Overridden      []Overridden `json:"overridden,omitempty"`
	OverriddenCount int          `json:"overridden_count,omitempty"`
	// IdleOverrides are those that never applied.
	IdleOverrides []IdleOverride `json:"idle_overrides,omitempty"`
	// RuleHits are the rules that calls needed to be hits.
	RuleHits []RuleHit `json:"rule_hits,omitempty"`
	// RedactedMatched counts hits in whose arguments a value was redacted: any other
	// value of its type would have been a hit too.
	RedactedMatched int `json:"redacted_matched,omitempty"`
	// Warnings are about the session as a whole.
	Warnings []string `json:"warnings,omitempty"`
	// Claims are what the report takes for granted, the first 100.
	Claims []Claim `json:"claims,omitempty"`
	// CannotSee is what the tape does not record and the replay says nothing about.
	CannotSee []string `json:"cannot_see"`
}

// TapeInfo names the tape.
type TapeInfo struct {
	// ID is the trace id of the recorded run.
	ID          string       `json:"id,omitempty"`
	Path        string       `json:"path,omitempty"`
	Outcome     tape.Outcome `json:"outcome,omitempty"`
	CodeVersion string       `json:"code_version,omitempty"`
	Records     int          `json:"records"`
}

// Policy is how calls were matched.
type Policy struct {
	Order      Order      `json:"order"`
	Completion Completion `json:"completion"`
	// Kinds are those replayed, empty for all.
	Kinds []tape.Kind `json:"kinds,omitempty"`
	// Redaction is the id of the policy that both sides were redacted by.
	Redaction string `json:"redaction"`
	// ExpiredAsGap: records past their expiry were not served.
	ExpiredAsGap bool `json:"expired_as_gap"`
	// Fork is the step from which on calls ran live, 0 for none; Live says which
	// might, nil if none might. Asides counts the records that were not answered from
	// for it.
	Fork   int   `json:"fork,omitempty"`
	Live   *Live `json:"live,omitempty"`
	Asides int   `json:"asides,omitempty"`
	// RedactedAsGap: records with a placeholder in their answer were not served.
	RedactedAsGap bool `json:"redacted_as_gap"`
	// Rules are what calls and records were allowed to differ in, nil for nothing.
	Rules *rules.Policy `json:"rules,omitempty"`
}

// Event is a call that was not a hit.
type Event struct {
	// Call counts the calls of the session from 1.
	Call    int     `json:"call"`
	Verdict Verdict `json:"verdict"`
	// Seq is the record concerned, 0 if there is none.
	Seq  int       `json:"seq,omitempty"`
	Kind tape.Kind `json:"kind"`
	Tool string    `json:"tool"`
	Key  string    `json:"key"`
	// Expected is the key that was due, for a drift or a divergence.
	Expected    string       `json:"expected,omitempty"`
	Differences []Difference `json:"differences,omitempty"`
	Nearest     *Near        `json:"nearest,omitempty"`
	// Message says it all in one line.
	Message string `json:"message"`
}

// Unconsumed is a record that was not asked for.
type Unconsumed struct {
	Seq  int       `json:"seq"`
	Kind tape.Kind `json:"kind"`
	Tool string    `json:"tool"`
	Key  string    `json:"key"`
}

// eventLog keeps the first events and counts the others.
type eventLog struct {
	events  []Event
	leftOut int
}

func (l *eventLog) add(e Event) {
	if len(l.events) < maxListed {
		e.Differences = cutLong(e.Differences)
		l.events = append(l.events, e)
		return
	}
	l.leftOut++
}

// EventOf describes the verdict in an error of a session; ok is false if there
// is none in it.
func EventOf(err error) (event Event, ok bool) {
	e := Event{Message: err.Error()}
	var (
		drift      *DriftError
		miss       *MissError
		exhausted  *ExhaustedError
		gap        *GapError
		divergence *DivergenceError
		refused    *RefusedError
	)
	switch {
	case errors.As(err, &drift):
		e.Verdict, e.Call, e.Seq, e.Kind, e.Tool, e.Key = VerdictDrift, drift.Call, drift.Seq, drift.Kind, drift.Tool, drift.LiveKey
		e.Expected, e.Differences = drift.RecordedKey, drift.Differences
	case errors.As(err, &miss):
		e.Verdict, e.Call, e.Kind, e.Tool, e.Key, e.Nearest = VerdictMiss, miss.Call, miss.Kind, miss.Tool, miss.Key, miss.Nearest
	case errors.As(err, &exhausted):
		e.Verdict, e.Call, e.Seq, e.Kind, e.Tool, e.Key = VerdictExhausted, exhausted.Call, exhausted.LastSeq, exhausted.Kind, exhausted.Tool, exhausted.Key
	case errors.As(err, &gap):
		e.Verdict, e.Call, e.Seq, e.Kind, e.Tool, e.Key = VerdictGap, gap.Call, gap.Seq, gap.Kind, gap.Tool, gap.Key
	case errors.As(err, &divergence):
		e.Verdict, e.Call, e.Seq, e.Kind, e.Tool, e.Key = VerdictDivergence, divergence.Call, divergence.Seq, divergence.Kind, divergence.Tool, divergence.Key
		e.Expected = divergence.ExpectedKey
	case errors.As(err, &refused):
		e.Verdict, e.Call, e.Kind, e.Tool, e.Key = VerdictRefused, refused.Call, refused.Kind, refused.Tool, refused.Key
	}
	return e, e.Verdict != ""
}

// Report says what the session did so far.
func (s *Session) Report() *Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := &Report{
		Experiment:      s.experiment(),
		Tape:            TapeInfo{Path: s.cfg.path, Records: len(s.tape.Records)},
		CodeVersion:     s.cfg.codeVersion,
		Policy:          Policy{Order: s.cfg.order, Completion: s.cfg.completion, Kinds: s.cfg.kinds, Redaction: s.policy.Manifest().Policy, ExpiredAsGap: s.cfg.failExpired, RedactedAsGap: s.cfg.failRedacted, Rules: s.cfg.rulesOrNil()},
		Clean:           s.cleanLocked(),
		Stats:           s.statsLocked(),
		Divergences:     s.diverged,
		Events:          append([]Event(nil), s.log.events...),
		EventsLeftOut:   s.log.leftOut,
		Unconsumed:      s.unconsumedLocked(),
		Unserved:        slices.Clone(s.wanted.list),
		Elsewhere:       s.elsewhereLocked(),
		ElsewhereCount:  s.elsewhere.count,
		Overridden:      append([]Overridden(nil), s.overridden...),
		OverriddenCount: s.overriddenCount,
		IdleOverrides:   s.cfg.overrides.idle(),
		Claims:          s.claimsLocked(),
		RuleHits:        RuleHits(s.cfg.set, s.ruleHits),
		Warnings:        s.warnings,
		RedactedMatched: s.redactedMatched,
		CannotSee:       CannotSee(s.tape),
	}
	r.Policy.Fork, r.Policy.Live, r.Policy.Asides = s.cfg.fork, s.cfg.live, s.deck.aside.count
	if m := s.tape.Manifest; m != nil {
		r.Tape.ID, r.Tape.Outcome, r.Tape.CodeVersion = m.TraceID, m.Outcome, m.CodeVersion
	}
	if s.gate != nil {
		r.Overdue = s.gate.overdueCount()
	}
	return r
}

// experiment is what the caller said, else what follows from the versions: code
// not known to be the recorded code counts as changed.
func (s *Session) experiment() Experiment {
	switch m := s.tape.Manifest; {
	case s.cfg.experiment != "":
		return s.cfg.experiment
	case s.cfg.mode == ModeRecord:
		return Recording
	case s.cfg.fork > 0:
		return Fork
	case s.cfg.live != nil:
		return ChangedWorld
	case m != nil && m.CodeVersion != "" && m.CodeVersion == s.cfg.codeVersion:
		return Historical
	}
	return CodeRegression
}

func (s *Session) cleanLocked() bool {
	stats := s.statsLocked()
	if s.breaks.quit || stats.Refused > 0 || s.wanted.bad > 0 && s.cfg.mode == ModeStrict || s.badElsewhere() > 0 {
		return false
	}
	switch s.cfg.mode {
	case ModeRecord:
		return true
	case ModeReplayRecord:
		return stats.DriftEvents+stats.Gaps == 0
	}
	return stats.DriftEvents+stats.Gaps+stats.TapeMisses+stats.Exhausted+stats.Unconsumed == 0
}

func (s *Session) unconsumedLocked() (list []Unconsumed) {
	if s.cfg.mode == ModeRecord {
		return nil
	}
	for i := s.deck.next(); i >= 0 && i < len(s.deck.steps) && len(list) < maxListed; i++ {
		if st := &s.deck.steps[i]; !st.consumed {
			list = append(list, Unconsumed{Seq: st.seq, Kind: st.record.KindOf(), Tool: st.record.Tool, Key: st.key})
		}
	}
	return list
}

// Text is the report for people, a few lines long.
func (r *Report) Text() string {
	var b strings.Builder
	name := r.Tape.ID
	if name == "" {
		name = r.Tape.Path
	}
	verdict := map[bool]string{true: "clean", false: "NOT CLEAN"}[r.Clean]
	fmt.Fprintf(&b, "replay %s of %s (%d records): %s\n", r.Experiment, orDash(name), r.Tape.Records, verdict)
	if r.CodeVersion != "" || r.Tape.CodeVersion != "" {
		fmt.Fprintf(&b, "  code %s, recorded with %s\n", orUnknown(r.CodeVersion), orUnknown(r.Tape.CodeVersion))
	}
	fmt.Fprintf(&b, "  mode %s, order %s, completion %s, redaction %s\n", r.Stats.Mode, r.Policy.Order, r.Policy.Completion, r.Policy.Redaction)
	if r.Policy.Rules != nil {
		b.WriteString(r.Policy.Rules.Text())
	}
	if len(r.Policy.Kinds) > 0 {
		fmt.Fprintf(&b, "  only records of kind %q\n", r.Policy.Kinds)
	}
	st := r.Stats
	fmt.Fprintf(&b, "  steps %d, hits %d, misses %d, drift %d, exhausted %d, gaps %d, unconsumed %d\n",
		st.Steps, st.TapeHits, st.TapeMisses, st.DriftEvents, st.Exhausted, st.Gaps, st.Unconsumed)
	if l := r.Policy.Live; l != nil {
		b.WriteString("  " + l.text(r.Policy.Fork, r.Policy.Asides) + "\n")
	}
	fmt.Fprintf(&b, "  live calls %d, real side effects %d\n", st.LiveToolCalls, st.RealSideEffects)
	for _, warning := range []struct {
		n    int
		text string
	}{
		{st.Reordered, "calls in another order than recorded"},
		{r.RedactedMatched, "calls matched with a placeholder in place of a value, as any other value of its type would"},
		{st.RedactedServed, "answers with a placeholder in place of a value"},
		{st.ExpiredServed, "answers past their expiry"},
		{st.Derived, "clock reads and random draws derived from the tape, which has none"},
		{st.Refused, "calls that would have had to run live and may not"},
		{r.Overdue, "answers let out before others that they should have followed"},
		{r.OverriddenCount, "answers overridden"},
	} {
		if warning.n > 0 {
			fmt.Fprintf(&b, "  note: %s: %d\n", warning.text, warning.n)
		}
	}
	for _, w := range r.Warnings {
		fmt.Fprintf(&b, "  warning: %s\n", w)
	}
	for _, h := range r.RuleHits {
		fmt.Fprintf(&b, "  hits by rule %s: %d\n", h.Rule, h.Hits)
	}
	for _, c := range r.Claims {
		fmt.Fprintf(&b, "  claim: %s\n", c)
	}
	for _, o := range r.Overridden {
		fmt.Fprintf(&b, "  override of %s at step %d, %s: %s\n", o.Of, o.Seq, o.Tool, o.What)
	}
	for _, o := range r.IdleOverrides {
		fmt.Fprintf(&b, "  override of %s never applied: %s\n", o.Of, o.What)
	}
	for _, e := range r.Events {
		fmt.Fprintf(&b, "  %s\n", e.Message)
	}
	if r.EventsLeftOut > 0 {
		fmt.Fprintf(&b, "  and %d more\n", r.EventsLeftOut)
	}
	for _, u := range r.Unserved {
		fmt.Fprintf(&b, "  %s\n", u)
	}
	for _, e := range r.Elsewhere {
		fmt.Fprintf(&b, "  refused elsewhere: %s\n", e)
	}
	for _, u := range r.Unconsumed {
		fmt.Fprintf(&b, "  not asked for: step %d, %s\n", u.Seq, u.Key)
	}
	if more := st.Unconsumed - len(r.Unconsumed); more > 0 {
		fmt.Fprintf(&b, "  and %d more not asked for\n", more)
	}
	fmt.Fprintf(&b, "  cannot see: %s\n", strings.Join(r.CannotSee, ", "))
	return b.String()
}

func orDash(text string) string {
	if text == "" {
		return "a tape without id"
	}
	return text
}

func orUnknown(version string) string {
	if version == "" {
		return "of unknown version"
	}
	return version
}
