package replay

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

// Claim is something that a report takes for granted: that what differs at a
// place, or is on one side only, cannot matter.
type Claim struct {
	// Rule is the rule that says so, "" where the tape has nothing to compare
	// with, or the policy does not name what it has.
	Rule string `json:"rule,omitempty"`
	// Kind and Tool are the calls, empty for all that the rule is about.
	Kind tape.Kind `json:"kind,omitempty"`
	Tool string    `json:"tool,omitempty"`
	// Path is the place, with [*] for the elements of arrays.
	Path string `json:"path"`
	// Calls counts the calls for which it was taken for granted; 0 is a rule that
	// was never needed.
	Calls int    `json:"calls"`
	Why   string `json:"why"`
}

// String is the claim on one line.
func (c Claim) String() string {
	where := c.Path
	if where == "" {
		where = "(whole)"
	}
	if of := strings.TrimSpace(string(c.Kind) + " " + c.Tool); of != "" {
		where += " of " + of
	}
	return fmt.Sprintf("%s: %s (%d calls)", where, c.Why, c.Calls)
}

// RuleHit is a rule that calls needed to be hits.
type RuleHit struct {
	Rule string `json:"rule"`
	Hits int    `json:"hits"`
}

// Claims counts what is taken for granted, for at most 100 places.
type Claims []Claim

// Add counts a call for which c is taken for granted.
func (l *Claims) Add(c Claim) {
	i := slices.IndexFunc(*l, func(old Claim) bool {
		return old.Path == c.Path && old.Rule == c.Rule && old.Tool == c.Tool && old.Kind == c.Kind
	})
	if i < 0 {
		if len(*l) == maxListed {
			return
		}
		i = len(*l)
		*l = append(*l, c)
	}
	(*l)[i].Calls++
}

// claimsLocked lists what is taken for granted, in an order that does not depend
// on that of calls.
func (s *Session) claimsLocked() []Claim {
	list := slices.Clone(s.claims)
	if s.cfg.set != nil {
		for _, r := range s.cfg.set.Rules() {
			title := r.Title()
			if r.Match == rules.Ignore && !slices.ContainsFunc(list, func(c Claim) bool { return c.Rule == title }) && len(list) < maxListed {
				list = append(list, Claim{Rule: title, Kind: r.Kind, Tool: r.Tool, Path: r.Path, Why: s.cfg.set.Why(title)})
			}
		}
	}
	slices.SortStableFunc(list, func(a, b Claim) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Path, b.Path))
	})
	return list
}

// RuleHits lists the rules that calls needed, counted by title, in the order of the
// policy. Without rules there are none.
func RuleHits(set *rules.Set, counts map[string]int) (list []RuleHit) {
	if set == nil {
		return nil
	}
	for _, r := range set.Rules() {
		if n := counts[r.Title()]; n > 0 {
			list = append(list, RuleHit{r.Title(), n})
		}
	}
	return list
}
