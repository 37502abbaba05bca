//go:build !race

// The race detector makes pools forget, and forgetting allocates.

package once_test

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/once"
)

func TestLightSpansCostAHandfulOfAllocationsABatch(t *testing.T) {
	// A collection empties the pools.
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	r := newRun()
	td, size := light(64)
	buf := make([]byte, 0, size+1)
	n := testing.AllocsPerRun(50, func() {
		if out, _, err := r.enc.Traces(buf, td, &r.table); err != nil || len(out) != size+1 {
			t.Fatal(len(out), err)
		}
	})
	assert.LessOrEqual(t, n, 4.0)
}

func TestKnownMessagesCostNoAllocationEach(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	turns := history(80, ",")
	last := turns[len(turns)-1]
	var table once.Table
	r := newRun()
	var buf []byte
	encode := func() {
		var err error
		buf, _, err = r.enc.Traces(buf[:0], clone(last), &table)
		require.NoError(t, err)
	}
	encode()
	copies := testing.AllocsPerRun(20, func() { clone(last) })
	assert.LessOrEqual(t, testing.AllocsPerRun(20, encode)-copies, 20.0)
	assert.Less(t, table.Size(), 160*64)
}
