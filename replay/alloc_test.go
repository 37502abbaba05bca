//go:build !race

// The race detector makes pools forget, and forgetting allocates.

package replay

import (
	"context"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

// A hit costs the same whatever the length of the tape and of the arguments.
func TestAHitAllocatesNextToNothing(t *testing.T) {
	for _, c := range []struct {
		records, words int
		// space stands in what is asked and not on the tape.
		space string
	}{{100, 10, ""}, {100, 5_000, ""}, {20_000, 10, ""}, {100, 10, " "}, {100, 5_000, " "}, {20_000, 10, " "}} {
		body := `,"body":"` + strings.Repeat("word ", c.words) + `"}`
		args := func(i int, space string) []byte { return []byte(`{"id":` + space + strconv.Itoa(i) + body) }
		records := make([]tape.Record, c.records)
		for i := range records {
			records[i] = tape.Record{Seq: i + 1, Tool: "fetch", Result: raw(`{"status":200}`), Args: args(i, "")}
		}
		s := start(t, &tape.Tape{Records: records})
		asked := make([][]byte, c.records)
		for i := range asked {
			asked[i] = args(i, c.space)
		}
		next := 0
		ask := func() {
			_, err := s.Ask(ctx, Request{Tool: "fetch", Args: asked[next]})
			require.NoError(t, err)
			next++
		}
		ask()
		assert.LessOrEqual(t, testing.AllocsPerRun(80, ask), 3.0, "%+v", c)
	}
}

// madeUp is a source of one body, which is made whenever it is asked for.
type madeUp struct{}

func (madeUp) text() string { return `"` + strings.Repeat("x", 1<<20) + `"` }

func (m madeUp) Body(context.Context, tape.Body) ([]byte, error) { return []byte(m.text()), nil }

// A session holds no bodies: 100 MB of them, by reference, are opened and answered with
// in the memory of their records.
func TestBodiesByReferenceAreNotHeld(t *testing.T) {
	var lines []string
	hash := hashOf(madeUp{}.text())
	for i := range 100 {
		lines = append(lines, `{"seq":`+strconv.Itoa(i+1)+`,"tool":"fetch","args":`+strconv.Itoa(i)+`,"body":{"sha256":"`+hash+`","bytes":1048578,"media_type":"application/json"}}`)
	}
	held := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := held()
	s := start(t, parse(t, lines...), WithBodies(madeUp{}))
	for i := range lines {
		answer, err := s.Ask(ctx, Request{Tool: "fetch", Args: raw(strconv.Itoa(i))})
		require.NoError(t, err)
		require.Equal(t, 1<<20+2, len(answer.Result)) // Len would print it.
	}
	assert.Less(t, held()-before, 1<<20)
	runtime.KeepAlive(s)
}
