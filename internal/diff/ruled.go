package diff

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

// maxClaims bounds the places that a report lists as ignored.
const maxClaims = 100

// ruling is a comparison by rules.
type ruling struct {
	set *rules.Set
	// ids are those that correspond so far.
	ids    rules.IDs
	hits   map[string]int
	claims []replay.Claim
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
		i := slices.IndexFunc(u.claims, func(c replay.Claim) bool {
			return c.Rule == at.Rule && c.Path == at.Path && c.Tool == r.Tool && c.Kind == r.KindOf()
		})
		if i < 0 {
			if len(u.claims) == maxClaims {
				continue
			}
			i = len(u.claims)
			u.claims = append(u.claims, replay.Claim{Rule: at.Rule, Kind: r.KindOf(), Tool: r.Tool, Path: at.Path, Why: u.set.Why(at.Rule)})
		}
		u.claims[i].Calls++
	}
}

// report lists what the rules did, in the order of the policy.
func (u *ruling) report(r *Report) {
	if u.set == nil {
		return
	}
	for _, rule := range u.set.Rules() {
		title := rule.Title()
		if n := u.hits[title]; n > 0 {
			r.RuleHits = append(r.RuleHits, replay.RuleHit{Rule: title, Hits: n})
		}
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
