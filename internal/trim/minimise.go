package trim

import (
	"errors"
	"slices"

	"github.com/tapedeck/tapedeck/tape"
)

// ErrNotTheSame is a failure that the tape to begin with does not show.
var ErrNotTheSame = errors.New("the command does not fail that way on the tape to begin with")

// Minimise finds a smallest set of records, by delta debugging, with which fails still
// says yes: none of them alone can be left out. Keep is the set to begin with, as
// ascending indexes; must is one that always stays. At most runs times is fails asked;
// when that is not enough, done is false and the set is the smallest so far. An error
// of fails ends it.
func Minimise(t *tape.Tape, keep []int, must, runs int, fails func(*tape.Tape) (bool, error)) (set []int, used int, done bool, err error) {
	ask := func(set []int) (bool, error) {
		used++
		return fails(Subset(t, set))
	}
	with := func(set []int) []int {
		out := append(slices.Clone(set), must)
		slices.Sort(out)
		return slices.Compact(out)
	}
	ok, err := ask(with(keep))
	switch {
	case err != nil:
		return nil, used, false, err
	case !ok:
		return nil, used, false, ErrNotTheSame
	}
	set = slices.DeleteFunc(slices.Clone(keep), func(i int) bool { return i == must })
	for parts := 2; len(set) > 0; {
		reduced := false
		for part := range slices.Chunk(set, max(1, (len(set)+parts-1)/parts)) {
			if used >= runs {
				return with(set), used, false, nil
			}
			rest := slices.DeleteFunc(slices.Clone(set), func(i int) bool { return slices.Contains(part, i) })
			ok, err := ask(with(rest))
			if err != nil {
				return nil, used, false, err
			}
			if ok {
				set, reduced = rest, true
				parts = max(2, parts-1)
				break
			}
		}
		if !reduced {
			if parts >= len(set) {
				break
			}
			parts = min(len(set), 2*parts)
		}
	}
	return with(set), used, true, nil
}
