package dry

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/internal/policy"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// Run examines a tape. The error is for options that make no sense.
func Run(t *tape.Tape, o Options) (*Report, error) {
	if err := o.check(t); err != nil {
		return nil, err
	}
	found := doctor.Examine(t, o.doctor()...)
	if _, err := replay.New(t, replay.WithKinds(o.Kinds...), replay.WithSurrogateKey(o.SurrogateKey)); err != nil {
		found.Refuse(err)
	}
	r := &Report{Good: true, Steps: make([]Step, 0, len(found.Records)), Run: found.Run}
	then, now := newSchemas("then", nil), newSchemas("now", o.Tools)
	if m := t.Manifest; m != nil {
		r.TraceID, r.Service, r.CodeVersion, r.Outcome = m.TraceID, m.Service, m.CodeVersion, m.Outcome
		then = newSchemas("then", m.Tools)
	}
	for i, n := range o.records(t) {
		rec, verdict := &t.Records[n], &found.Records[i]
		s := Step{
			Seq: seqOf(t, n), Kind: verdict.Kind, Tool: rec.Tool, Key: rec.Key, SideEffect: rec.SideEffect, Failed: rec.Failed(),
			Findings: verdict.Findings, RecordedApproval: rec.ApprovalID, RecordedPolicy: rec.PolicyResult,
		}
		s.Source, s.Why = o.source(&s, rec, verdict.Replays)
		if s.Kind == tape.KindTool {
			s.Then = then.check(rec)
			if o.Tools != nil {
				s.Now = now.check(rec)
			}
			s.judge(o.Policy, rec)
		}
		r.count(&s)
		r.Steps = append(r.Steps, s)
	}
	r.Schemas = slices.Concat(then.unusable, now.unusable)
	for _, f := range r.Run {
		r.Good = r.Good && !f.Gap
	}
	return r, nil
}

func (o *Options) check(t *tape.Tape) error {
	for _, kind := range o.Kinds {
		if !slices.Contains(tape.Kinds, kind) {
			return fmt.Errorf("unknown kind %q", kind)
		}
	}
	last := 0
	for i := range t.Records {
		last = max(last, seqOf(t, i))
	}
	if o.Fork < 0 || o.Fork > last+1 {
		return fmt.Errorf("fork at step %d: the tape has %d steps", o.Fork, last)
	}
	return nil
}

func (o *Options) doctor() []doctor.Option {
	var options []doctor.Option
	if len(o.Kinds) > 0 {
		options = append(options, doctor.Kinds(o.Kinds...))
	}
	if o.ExpiredAsGap {
		options = append(options, doctor.ExpiredAsGap())
	}
	if o.Bodies != nil {
		options = append(options, doctor.Bodies(o.Bodies))
	}
	if !o.Now.IsZero() {
		options = append(options, doctor.At(o.Now))
	}
	return options
}

// records are the places of the records that doctor examines, in its order.
func (o *Options) records(t *tape.Tape) (places []int) {
	for i := range t.Records {
		if len(o.Kinds) == 0 || slices.Contains(o.Kinds, t.Records[i].KindOf()) {
			places = append(places, i)
		}
	}
	return places
}

func seqOf(t *tape.Tape, i int) int {
	if seq := t.Records[i].Seq; seq > 0 {
		return seq
	}
	return i + 1
}

// source says where the answer of a step comes from.
func (o *Options) source(s *Step, rec *tape.Record, replays bool) (source Source, why string) {
	live := o.Fork > 0 && s.Seq >= o.Fork || o.Fork == 0 && o.Live != nil && o.Live.Chosen(s.Kind, s.Tool)
	switch {
	case !live && replays:
		return FromTape, ""
	case !live:
		return FromNowhere, ""
	case o.Live == nil:
		return FromWorld, ""
	}
	if why := o.Live.Refuse(s.Kind, s.Tool, rec.SideEffect); why != "" {
		return Refused, why
	}
	return FromWorld, ""
}

// judge asks the policy.
func (s *Step) judge(p *policy.Policy, rec *tape.Record) {
	if p == nil {
		return
	}
	if rec.Fidelity == tape.FidelityAbsent && len(rec.Args) == 0 {
		s.Undecided = "the arguments were never captured"
		return
	}
	d, err := p.Decide(policy.CallOf(rec))
	if err != nil {
		s.Undecided = err.Error()
		return
	}
	s.Policy = &d
}

func (r *Report) count(s *Step) {
	c := &r.Counts
	bad := func(n *int) {
		*n++
		r.Good = false
	}
	c.Steps++
	switch s.Source {
	case FromTape:
		c.FromTape++
		for _, f := range s.Findings {
			c.Expired += one(strings.HasPrefix(f.Why, "expired"))
			c.Redacted += one(f.What == "result" && strings.Contains(f.Why, "redacted"))
		}
	case FromNowhere:
		bad(&c.Nowhere)
	case FromWorld:
		c.Live++
	case Refused:
		bad(&c.Refused)
	}
	if s.Then != nil && s.Then.Status == Misfit {
		bad(&c.MisfitThen)
	}
	if s.Now != nil && s.Now.Status == Misfit {
		bad(&c.MisfitNow)
	}
	if s.Now != nil && s.Now.Status == Gone {
		bad(&c.Gone)
	}
	switch {
	case s.Undecided != "":
		bad(&c.Undecided)
	case s.Policy == nil:
	case s.Policy.Effect == policy.Deny:
		bad(&c.Denied)
	case s.Policy.Effect == policy.Approval:
		bad(&c.NeedApproval)
	}
}

func one(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
