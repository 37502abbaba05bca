package replay

import (
	"cmp"
	"slices"

	"github.com/tapedeck/tapedeck/tape"
)

// Claim is something that a report takes for granted: what differed there, or
// was on one side only, cannot matter.
type Claim struct {
	Kind tape.Kind `json:"kind"`
	Path string    `json:"path"`
	// Calls counts the calls for which it was taken for granted.
	Calls int    `json:"calls"`
	Why   string `json:"why"`
}

// claims counts what was taken for granted, for at most [maxListed] places.
type claims struct {
	list []Claim
}

func (l *claims) uncompared(path, why string) {
	i := slices.IndexFunc(l.list, func(c Claim) bool { return c.Path == path })
	if i < 0 {
		if len(l.list) == maxListed {
			return
		}
		i = len(l.list)
		l.list = append(l.list, Claim{Kind: tape.KindModel, Path: path, Why: why})
	}
	l.list[i].Calls++
}

// sorted lists the claims in an order that does not depend on that of calls.
func (l *claims) sorted() []Claim {
	list := slices.Clone(l.list)
	slices.SortFunc(list, func(a, b Claim) int { return cmp.Compare(a.Path, b.Path) })
	return list
}
