package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tapedeck/tapedeck/tape"
)

func TestGapsOfOneReasonAreSaidOnce(t *testing.T) {
	var gaps []tape.Gap
	for _, seq := range []int{1, 2, 3, 7, 9, 10} {
		gaps = append(gaps, tape.Gap{Seq: seq, What: "args", Why: "off", Fix: "X=1"}, tape.Gap{Seq: seq, What: "result", Why: "off"})
	}
	gaps = append(gaps, tape.Gap{What: "root", Why: "not seen"}, tape.Gap{Seq: 4, What: "result", Why: "cut"}, tape.Gap{What: "span"})
	assert.Equal(t, []string{
		"steps 1-3, 7, 9-10: args: off (to fix: X=1)",
		"steps 1-3, 7, 9-10: result: off",
		"root: not seen",
		"step 4: result: cut",
		"span",
	}, gapTexts(gaps))
	assert.Empty(t, gapTexts(nil))
}
