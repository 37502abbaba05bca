package replay

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

// loose finds records for calls whose key is on no unconsumed record, by what of
// them is compared and by the rules of the policy. It is made when the first such
// call comes: calls that match by key do not pay for it, and a tape whose calls no
// rule is about never does.
type loose struct {
	scope *scope
	set   *rules.Set
	tools map[toolKey]*looseTool
}

// looseTool is what the policy says of one tool, and its records.
type looseTool struct {
	args, results *rules.Matcher
	// scoped: not all of its calls is compared, whatever the rules say.
	scoped bool
	// bySum indexes records by the hash of what is compared; forms are how the
	// rules see them. Both are nil until a call needs them.
	bySum map[[sha256.Size]byte]*queue
	forms map[int]*rules.Form
}

// compared is what of a call or record is compared.
type compared struct {
	args json.RawMessage
	// left are the paths of what was there and is not compared.
	left []string
	sum  [sha256.Size]byte
	// form is how the rules see it, nil where there are none.
	form *rules.Form
}

// looseOf is what the policy says of a tool, nil for nothing. s.mu is held.
func (s *Session) looseOf(at toolKey) *looseTool {
	if s.cfg.set == nil && at.kind != tape.KindModel {
		return nil
	}
	if s.loose == nil {
		s.loose = &loose{set: s.cfg.set, tools: map[toolKey]*looseTool{}}
	}
	l := s.loose
	t, ok := l.tools[at]
	if ok {
		return t
	}
	if at.kind == tape.KindModel || s.deck.byTool[at] != nil {
		t = &looseTool{scoped: at.kind == tape.KindModel}
		if l.set != nil {
			t.args, t.results = l.set.Args(at.kind, at.tool), l.set.Results(at.kind, at.tool)
		}
		if t.args == nil && t.results == nil && !t.scoped {
			t = nil
		}
		// A tool that no record has is not remembered, so that calls of ever new
		// names take no memory.
		if s.deck.byTool[at] != nil {
			l.tools[at] = t
		}
	}
	return t
}

// exactly reports whether a record with the key of a call answers it: its ids must
// not stand for others already. s.mu is held.
func (s *Session) exactly(c *call) bool {
	t := s.looseOf(toolKey{c.kind, c.tool})
	if t == nil || t.args == nil || !t.args.HasIDs() {
		return true
	}
	form := s.compare(t, c.args).form
	c.fit = t.args.Fits(form, form, &s.ids)
	return c.fit != nil
}

// loosely returns the unconsumed step that answers a call by what is compared,
// -1 if none does: the earliest, or only that which is due, if due is not
// negative. s.mu is held.
func (s *Session) loosely(c *call, due int) int {
	t := s.looseOf(toolKey{c.kind, c.tool})
	if t == nil {
		return -1
	}
	c.compared = s.compare(t, c.args)
	if t.args == nil && len(c.compared.left) == 0 && s.cfg.rules.Model.Params == nil {
		return -1
	}
	for _, path := range c.compared.left {
		s.claims.Add(Claim{Kind: tape.KindModel, Path: path, Why: s.loose.scope.why(path)})
	}
	s.index(t, toolKey{c.kind, c.tool})
	c.same = t.bySum[c.compared.sum]
	if c.same == nil {
		return -1
	}
	s.deck.head(c.same)
	for _, i := range c.same.steps[c.same.head:] {
		if s.deck.steps[i].consumed || due >= 0 && i != due {
			continue
		}
		if t.args == nil {
			return i
		}
		if c.fit = t.args.Fits(t.forms[i], c.compared.form, &s.ids); c.fit != nil {
			return i
		}
	}
	return -1
}

// crossed reports whether ids alone keep a call from the records that are left of
// those like it. Then it is no repetition, though a record had its very key.
func (s *Session) crossed(c *call) bool {
	t := s.looseOf(toolKey{c.kind, c.tool})
	return t != nil && t.args != nil && t.args.HasIDs() && s.deck.head(c.same) >= 0
}

// compare reduces arguments to what of them is compared.
func (s *Session) compare(t *looseTool, args json.RawMessage) *compared {
	out := &compared{args: args}
	if t.scoped {
		if s.loose.scope == nil {
			s.loose.scope = newScope(s.cfg.rules.Model, s.deck, s.policyArgs)
		}
		out.args, out.left = s.loose.scope.compared(args)
	}
	// The arguments were canonicalised before, for their key.
	text, _ := tape.Canonical(out.args)
	if t.args == nil {
		out.sum = sha256.Sum256(text)
	} else {
		out.form = t.args.Mask(text)
		out.sum = out.form.Sum
	}
	return out
}

// index makes the index of a tool.
func (s *Session) index(t *looseTool, at toolKey) {
	if t.bySum != nil {
		return
	}
	t.bySum, t.forms = map[[sha256.Size]byte]*queue{}, map[int]*rules.Form{}
	all := s.deck.byTool[at]
	if all == nil {
		return
	}
	for _, i := range all.steps {
		args := s.policyArgs(&s.deck.steps[i])
		if args == nil {
			continue
		}
		of := s.compare(t, args)
		push(t.bySum, of.sum, i)
		if of.form != nil {
			t.forms[i] = of.form
		}
	}
}

// servedBy notes what it took to answer a call by a step, s.mu being held. Ids in
// results held by reference are not known.
func (s *Session) servedBy(c *call, st *step) {
	if s.cfg.set == nil {
		return
	}
	if c.fit != nil {
		for _, rule := range c.fit.Rules {
			s.ruleHits[rule]++
		}
		for _, at := range c.fit.Ignored {
			s.claims.Add(Claim{Rule: at.Rule, Kind: c.kind, Tool: c.tool, Path: at.Path, Why: s.cfg.set.Why(at.Rule)})
		}
	}
	if t := s.looseOf(toolKey{c.kind, c.tool}); t != nil && t.results != nil {
		if text, err := tape.Canonical(st.record.Result); err == nil {
			t.results.Serve(text, &s.ids)
		}
	}
}

// differences are the places that keep a call from being a record, as far as the
// policy does not excuse them.
func (s *Session) differences(c *call, recorded json.RawMessage) []Difference {
	live := c.args
	t := s.looseOf(toolKey{c.kind, c.tool})
	if t != nil && c.compared != nil {
		recorded, live = s.compare(t, recorded).args, c.compared.args
	}
	if t != nil && t.args != nil {
		if list, _ := DiffByRules(t.args, &s.ids, recorded, live); len(list) > 0 {
			return list
		}
	}
	// Both texts have been canonicalised before, so there is no error to report.
	list, _ := Diff(recorded, live)
	return list
}
