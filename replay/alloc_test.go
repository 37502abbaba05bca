//go:build !race

// The race detector makes pools forget, and forgetting allocates.

package replay

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// A hit costs the same whatever the length of the tape and of the arguments.
func TestAHitAllocatesNextToNothing(t *testing.T) {
	for _, c := range []struct{ records, words int }{{100, 10}, {100, 5_000}, {20_000, 10}} {
		body := `,"body":"` + strings.Repeat("word ", c.words) + `"}`
		args := func(i int) []byte { return []byte(`{"id":` + strconv.Itoa(i) + body) }
		records := make([]tape.Record, c.records)
		for i := range records {
			records[i] = tape.Record{Seq: i + 1, Tool: "fetch", Result: raw(`{"status":200}`), Args: args(i)}
		}
		s := start(t, &tape.Tape{Records: records})
		asked := make([][]byte, c.records)
		for i := range asked {
			asked[i] = args(i)
		}
		next := 0
		ask := func() {
			_, err := s.Ask(ctx, Request{Tool: "fetch", Args: asked[next]})
			require.NoError(t, err)
			next++
		}
		ask()
		assert.LessOrEqual(t, testing.AllocsPerRun(80, ask), 3.0, "%d records, %d words", c.records, c.words)
	}
}
