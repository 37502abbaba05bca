package replay

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tapedeck/tapedeck/tape"
)

// Tally counts how the trials of a fork ended.
type Tally struct {
	// Trials counts those that reached the fork: with a prefix that was not as
	// recorded there is no fork to speak of. Diverged counts the others.
	Trials   int `json:"trials"`
	Diverged int `json:"diverged"`
	// Outcomes are sorted, the most frequent first.
	Outcomes []OutcomeCount `json:"outcomes"`
}

// OutcomeCount is how often an outcome came, and between which shares its true
// frequency lies with 95 % confidence (Wilson's interval).
type OutcomeCount struct {
	Outcome string  `json:"outcome"`
	Count   int     `json:"count"`
	Share   float64 `json:"share"`
	Low     float64 `json:"low"`
	High    float64 `json:"high"`
}

// Count tallies outcomes.
func Count(outcomes []string, diverged int) Tally {
	counts := map[string]int{}
	for _, o := range outcomes {
		counts[o]++
	}
	t := Tally{Trials: len(outcomes), Diverged: diverged, Outcomes: []OutcomeCount{}}
	for o, n := range counts {
		low, high := Wilson(n, len(outcomes))
		t.Outcomes = append(t.Outcomes, OutcomeCount{o, n, float64(n) / float64(len(outcomes)), low, high})
	}
	slices.SortFunc(t.Outcomes, func(a, b OutcomeCount) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return map[bool]int{true: -1, false: 1}[a.Outcome < b.Outcome]
	})
	return t
}

// Text is the tally for people: a line an outcome, each with its interval.
func (t Tally) Text() string {
	text := fmt.Sprintf("%d trials", t.Trials)
	if t.Diverged > 0 {
		text += fmt.Sprintf(", and %d that did not come to the fork", t.Diverged)
	}
	text += "\n"
	for _, o := range t.Outcomes {
		text += fmt.Sprintf("  %s: %d of %d, %.0f %% (95 %% interval %.0f to %.0f %%)\n",
			o.Outcome, o.Count, t.Trials, 100*o.Share, 100*o.Low, 100*o.High)
	}
	return text
}

// Wilson is the interval in which a frequency lies with 95 % confidence that was
// seen n times in so many trials. Without trials it is everything.
func Wilson(n, trials int) (low, high float64) {
	if trials < 1 {
		return 0, 1
	}
	const z = 1.959963984540054
	all, p := float64(trials), float64(n)/float64(trials)
	middle := p + z*z/(2*all)
	half := z * math.Sqrt(p*(1-p)/all+z*z/(4*all*all))
	scale := 1 + z*z/all
	return max(0, (middle-half)/scale), min(1, (middle+half)/scale)
}

// Trials runs a fork of a tape several times, each in a session of its own, and
// counts how it ended. One trial says little about a model that answers anew each
// time: the tally has an interval, and never a bare pass. run makes the program
// run once and names the outcome in a word; an error of it is the outcome "error".
// It may be called until ctx ends; the tally counts what ended before. The error
// is that of ctx, or of a session that could not be started.
func Trials(ctx context.Context, t *tape.Tape, step int, live Live, n int, run func(ctx context.Context, s *Session) (outcome string, err error), options ...Option) (Tally, error) {
	if n < 1 {
		return Tally{}, fmt.Errorf("replay: %d trials", n)
	}
	var outcomes []string
	diverged := 0
	for range n {
		if err := ctx.Err(); err != nil {
			return Count(outcomes, diverged), err
		}
		s, err := New(t, append(slices.Clone(options), WithFork(step, live))...)
		if err != nil {
			return Count(outcomes, diverged), err
		}
		outcome, err := run(ctx, s)
		if err != nil {
			outcome = "error"
		}
		if closed := s.Close(); errors.Is(closed, ErrUnclean) {
			diverged++
			continue
		} else if closed != nil {
			return Count(outcomes, diverged), closed
		}
		outcomes = append(outcomes, outcome)
	}
	return Count(outcomes, diverged), nil
}
