package cli

import (
	"fmt"
	"strings"

	"github.com/tapedeck/tapedeck/tape"
)

func gapTitle(m *tape.Manifest) string {
	switch {
	case len(m.Gaps) == 0:
		return "the tape is not complete"
	case m.Complete:
		return "the tape is complete, but:"
	}
	return "the tape is not complete:"
}

// gapTexts says what a tape lacks. What many steps lack for one reason is said
// once.
func gapTexts(gaps []tape.Gap) []string {
	type reason struct{ what, why, fix string }
	var order []reason
	seqs := map[reason][]int{}
	for _, g := range gaps {
		r := reason{g.What, g.Why, g.Fix}
		if _, seen := seqs[r]; !seen {
			order = append(order, r)
		}
		seqs[r] = append(seqs[r], g.Seq)
	}
	out := make([]string, len(order))
	for i, r := range order {
		out[i] = stepRanges(seqs[r]) + r.what
		if r.why != "" {
			out[i] += ": " + oneLine(r.why)
		}
		if r.fix != "" {
			out[i] += " (to fix: " + oneLine(r.fix) + ")"
		}
	}
	return out
}

// stepRanges names steps, neighbours as a range: "steps 1-3, 7: ". The step 0
// stands for the run as a whole and has no name.
func stepRanges(seqs []int) string {
	var parts []string
	steps := 0
	for i := 0; i < len(seqs); {
		j := i + 1
		for j < len(seqs) && seqs[j] == seqs[j-1]+1 {
			j++
		}
		switch {
		case seqs[i] == 0:
			i++
			continue
		case j == i+1:
			parts = append(parts, fmt.Sprint(seqs[i]))
		default:
			parts = append(parts, fmt.Sprintf("%d-%d", seqs[i], seqs[j-1]))
		}
		steps += j - i
		i = j
	}
	switch steps {
	case 0:
		return ""
	case 1:
		return "step " + parts[0] + ": "
	}
	return "steps " + strings.Join(parts, ", ") + ": "
}
