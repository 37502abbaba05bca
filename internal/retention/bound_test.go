package retention

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

func TestTheSizeOfAClassIsBounded(t *testing.T) {
	w := newWorld(t)
	w.config.Default.MaxBytes = 1
	w.config.Default.Keep = Forever
	w.stand()
	var size int64
	for n := range 10 {
		w.run(n, tape.OutcomeSucceeded)
		w.wait(7 * time.Minute)
	}
	for _, o := range storetest.List(t, w.backend, "tapes/kept/") {
		size += o.Size
	}
	w.config.Default.MaxBytes = size * 45 / 100
	w.backendWithoutNotes()
	w.stand()
	w.sweep()
	for n := range 10 {
		assert.Equal(t, n >= 6, w.plays(id(n)), "the oldest go first, as many as must: %d", n)
	}
}

// backendWithoutNotes forgets the policies so far.
func (w *world) backendWithoutNotes() {
	for _, name := range w.below("retention/policies/") {
		require.NoError(w.t, w.backend.Delete(context.Background(), name))
	}
}

func TestBodiesCountToTheSizeAndGoByWholeWeeks(t *testing.T) {
	w := newWorld(t)
	w.config.Default = Class{Name: ClassKept, Keep: Forever, MaxBytes: 3000}
	w.sweep()
	random := rand.New(rand.NewPCG(1, 2))
	noise := func() string {
		b := make([]byte, 3000)
		for i := range b {
			b[i] = byte('a' + random.IntN(26))
		}
		return string(b)
	}
	w.wait(3 * day)
	old := w.run(1, tape.OutcomeSucceeded, noise())
	other := w.run(2, tape.OutcomeSucceeded, noise())
	_, findings, _ := w.plan()
	require.Len(t, findings, 1)
	assert.Contains(t, findings[0].Text, "weeks that are not over yet")
	assert.Empty(t, w.sweep(), "no run goes when that frees nothing")
	w.wait(8 * day)
	young := w.run(3, tape.OutcomeSucceeded, noise())
	w.sweep()
	assert.False(t, w.plays(old))
	assert.False(t, w.plays(other))
	assert.True(t, w.plays(young))
	assert.Len(t, w.below("blobs/"), 1)
}
