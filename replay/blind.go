package replay

import (
	"slices"

	"github.com/tapedeck/tapedeck/tape"
)

// CannotSee is what a replay of a tape says nothing about: every program may
// read and write these without a call, and what is on no record of the tape has
// whatever value it has today. It is part of each report, so that a clean one is
// not taken for more than it is.
func CannotSee(t *tape.Tape) []string {
	list := []string{"files", "processes", "I/O that is no call of the session"}
	for _, of := range []struct {
		kind tape.Kind
		text string
	}{
		{tape.KindClock, "time (none recorded)"},
		{tape.KindRandom, "random numbers (none recorded)"},
		{tape.KindModel, "model calls (none recorded)"},
	} {
		if !slices.ContainsFunc(t.Records, func(r tape.Record) bool { return r.KindOf() == of.kind }) {
			list = append(list, of.text)
		}
	}
	return list
}
