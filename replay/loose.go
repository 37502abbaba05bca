package replay

import (
	"crypto/sha256"
	"encoding/json"

	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

// loose finds records for calls whose key is on no unconsumed record, by what of
// them is compared. It is made when the first such call comes, so calls that
// match by key never pay for it.
type loose struct {
	scope *scope
	// byTool indexes the records of a tool by the hash of what is compared.
	byTool map[toolKey]map[[sha256.Size]byte]*queue
}

// compared is what of a call or record is compared.
type compared struct {
	args json.RawMessage
	// left are the paths of what was there and is not compared.
	left []string
	sum  [sha256.Size]byte
}

func (s *Session) looseOf(model rules.Model) *loose {
	if s.loose == nil {
		s.loose = &loose{
			scope:  newScope(model, s.deck, s.policyArgs),
			byTool: map[toolKey]map[[sha256.Size]byte]*queue{},
		}
	}
	return s.loose
}

// loosely returns the unconsumed step that answers a call by what is compared,
// -1 if none does: the earliest, or only that which is due, if due is not
// negative. s.mu is held.
func (s *Session) loosely(c *call, due int) int {
	if c.kind != tape.KindModel {
		return -1
	}
	l := s.looseOf(s.cfg.rules.Model)
	c.compared = l.compare(c.args)
	if len(c.compared.left) == 0 && s.cfg.rules.Model.Params == nil {
		return -1
	}
	for _, path := range c.compared.left {
		s.claims.uncompared(path, l.scope.why(path))
	}
	c.same = l.index(s.deck, toolKey{c.kind, c.tool}, s.policyArgs)[c.compared.sum]
	i := s.deck.head(c.same)
	if due >= 0 && i != due {
		return -1
	}
	return i
}

func (l *loose) compare(args json.RawMessage) *compared {
	out := &compared{}
	out.args, out.left = l.scope.compared(args)
	// The arguments were canonicalised before, for their key.
	text, _ := tape.Canonical(out.args)
	out.sum = sha256.Sum256(text)
	return out
}

func (l *loose) index(d *deck, at toolKey, args func(*step) json.RawMessage) map[[sha256.Size]byte]*queue {
	index := l.byTool[at]
	if index != nil {
		return index
	}
	index = map[[sha256.Size]byte]*queue{}
	l.byTool[at] = index
	if all := d.byTool[at]; all != nil {
		for _, i := range all.steps {
			push(index, l.compare(args(&d.steps[i])).sum, i)
		}
	}
	return index
}
