package retention

import (
	"slices"
	"time"

	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/tape"
)

// Policy is a configuration with everything filled in, as it is noted in a store.
type Policy struct {
	Rules     []Rule `json:"rules"`
	Default   Class  `json:"default"`
	Summaries Keep   `json:"summaries"`
	// Grace is in nanoseconds.
	Grace time.Duration `json:"grace_ns"`
}

// Policy is what the configuration says. It must be valid.
func (c *Config) Policy() *Policy {
	p := &Policy{Rules: slices.Clone(c.Rules), Default: c.Default, Summaries: c.Summaries.Keep, Grace: c.Grace}
	if c.Rules == nil {
		p.Rules = defaultRules()
		// Its name may have been given to the default.
		p.Rules = slices.DeleteFunc(p.Rules, func(r Rule) bool { return r.Name == p.Default.Name })
	}
	return p
}

// ClassOf names the class of a run that is kept: that of the first rule that
// matches. A run that somebody asked for is pinned.
func (p *Policy) ClassOf(row tape.Row) string {
	if row.KeptBecause == tape.KeptAsked {
		return store.PinnedClass
	}
	for i := range p.Rules {
		if p.Rules[i].matches(&row) {
			return p.Rules[i].Name
		}
	}
	return p.Default.Name
}

// class gives the class of a name, and false with the default for one that the
// policy does not have.
func (p *Policy) class(name string) (Class, bool) {
	if name == store.PinnedClass {
		return Class{Name: name, Keep: Forever}, true
	}
	for i := range p.Rules {
		if p.Rules[i].Name == name {
			return p.Rules[i].Class, true
		}
	}
	return p.Default, name == p.Default.Name
}

func (r *Rule) matches(row *tape.Row) bool {
	if !among(r.Outcome, string(row.Outcome)) || !among(r.FailureClass, row.FailureClass) ||
		!among(r.Service, row.Service) || !among(r.Tenant, row.Tenant) {
		return false
	}
	for name, wanted := range r.Attributes {
		if !slices.ContainsFunc(members[name](row), func(v string) bool { return slices.Contains(wanted, v) }) {
			return false
		}
	}
	return true
}

func among(wanted []string, value string) bool {
	return len(wanted) == 0 || slices.Contains(wanted, value)
}

// members are what a rule can ask for beyond what has a place of its own.
var members = map[string]func(*tape.Row) []string{
	"agent":           func(r *tape.Row) []string { return []string{r.Agent} },
	"conversation_id": func(r *tape.Row) []string { return []string{r.ConversationID} },
	"environment":     func(r *tape.Row) []string { return []string{r.Environment} },
	"failing_tool":    func(r *tape.Row) []string { return []string{r.FailingTool} },
	"kept_because":    func(r *tape.Row) []string { return []string{string(r.KeptBecause)} },
	"models":          func(r *tape.Row) []string { return r.Models },
	"tools":           func(r *tape.Row) []string { return r.Tools },
	"trigger":         func(r *tape.Row) []string { return []string{string(r.Trigger)} },

	"service.name":                func(r *tape.Row) []string { return []string{r.Service} },
	"deployment.environment.name": func(r *tape.Row) []string { return []string{r.Environment} },
	"gen_ai.agent.name":           func(r *tape.Row) []string { return []string{r.Agent} },
	"gen_ai.conversation.id":      func(r *tape.Row) []string { return []string{r.ConversationID} },
}
