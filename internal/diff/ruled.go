package diff

import (
	"cmp"
	"encoding/json"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

// ruling is a comparison by rules.
type ruling struct {
	set *rules.Set
	// ids are those that correspond so far.
	ids    rules.IDs
	hits   map[string]int
	claims replay.Claims
}

func newRuling(set *rules.Set) *ruling { return &ruling{set: set, hits: map[string]int{}} }

// symbol is what a record is aligned by where rules are about its arguments: what they
// leave of these. "" is for all others.
func (u *ruling) symbol(r *tape.Record) string {
	if u.set == nil {
		return ""
	}
	m := u.set.Args(r.KindOf(), r.Tool)
	if m == nil || len(r.Args) == 0 {
		return ""
	}
	text, err := tape.Canonical(r.Args)
	if err != nil {
		return ""
	}
	return r.Tool + "\x00" + string(m.Mask(text).Sum[:])
}

// matcher is the rules about the arguments or the result of a record, nil for none.
func (u *ruling) matcher(r *tape.Record, what string) *rules.Matcher {
	switch {
	case u.set == nil || r == nil:
		return nil
	case what == "args":
		return u.set.Args(r.KindOf(), r.Tool)
	}
	return u.set.Results(r.KindOf(), r.Tool)
}

// differences lists where two texts differ as far as the rules do not excuse it, and
// notes what they excused.
func (u *ruling) differences(m *rules.Matcher, r *tape.Record, a, b json.RawMessage) ([]replay.Difference, error) {
	textA, errA := tape.Canonical(a)
	textB, errB := tape.Canonical(b)
	if err := cmp.Or(errA, errB); err != nil {
		return nil, err
	}
	if fit := m.Fits(m.Mask(textA), m.Mask(textB), &u.ids); fit != nil {
		u.ids.Keep(fit)
		for _, rule := range fit.Rules {
			u.hits[rule]++
		}
		u.ignored(r, fit.Ignored)
		return nil, nil
	}
	list, ignored := replay.DiffByRules(m, &u.ids, a, b)
	if len(list) == 0 {
		// Each place can be excused, and all together cannot.
		return replay.Diff(a, b)
	}
	u.ignored(r, ignored)
	return list, nil
}

func (u *ruling) ignored(r *tape.Record, places []rules.Ignored) {
	for _, at := range places {
		u.claims.Add(replay.Claim{Rule: at.Rule, Kind: r.KindOf(), Tool: r.Tool, Path: at.Path, Why: u.set.Why(at.Rule)})
	}
}

// report lists what the rules did, in the order of the policy.
func (u *ruling) report(r *Report) {
	if u.set == nil {
		return
	}
	r.RuleHits = replay.RuleHits(u.set, u.hits)
	for _, rule := range u.set.Rules() {
		title := rule.Title()
		found := false
		for _, c := range u.claims {
			if c.Rule == title {
				r.Claims, found = append(r.Claims, c), true
			}
		}
		if !found && rule.Match == rules.Ignore {
			r.Claims = append(r.Claims, replay.Claim{Rule: title, Kind: rule.Kind, Tool: rule.Tool, Path: rule.Path, Why: u.set.Why(title)})
		}
	}
}
