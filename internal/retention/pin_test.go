package retention

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/storetest"
	"github.com/tapedeck/tapedeck/tape"
)

func TestPinsSurviveEveryRule(t *testing.T) {
	w := newWorld(t)
	w.stand()
	pinned := w.run(1, tape.OutcomeFailed, body("wanted"))
	other := w.run(2, tape.OutcomeFailed, body("unwanted"))
	asked := w.runIn(w.store, 3, tape.Row{Outcome: tape.OutcomeSucceeded, KeptBecause: tape.KeptAsked}, body("asked for"))
	for range 2 {
		got, err := w.store.Pin(t.Context(), pinned, Bodies)
		require.NoError(t, err)
		assert.Equal(t, store.Pinned{Fragments: 1, Bodies: 1}, got)
	}
	// Spans that come after it was pinned are pinned too.
	w.wait(day)
	late := storetest.AgentRun(t, pinned, w.now, storetest.Call{Tool: "late", Args: "{}"})
	_, err := w.store.PutFragment(t.Context(), ClassFailures, pinned, late)
	require.NoError(t, err)
	for range 30 {
		w.wait(7 * day)
		w.sweep()
	}
	assert.False(t, w.plays(other))
	for _, run := range []string{pinned, asked} {
		assert.True(t, w.plays(run))
		assert.True(t, w.listed(run))
	}
	stored, err := w.store.Trace(t.Context(), pinned)
	require.NoError(t, err)
	assert.Equal(t, 2, stored.Fragments)
	assert.Equal(t, []string{store.PinnedClass}, stored.Classes)
	assert.Len(t, w.below("blobs/"), 2)

	require.NoError(t, w.store.Delete(t.Context(), pinned))
	w.sweep()
	assert.Len(t, w.below("blobs/"), 1, "the body of a pin that was deleted goes")
	assert.True(t, w.plays(asked))
	assert.False(t, w.listed(pinned))

	require.NoError(t, w.store.Delete(t.Context(), asked))
	for range 8 {
		w.wait(7 * day)
		w.sweep()
		assert.False(t, w.listed(asked), "what was deleted does not come back")
	}
	assert.Empty(t, w.below("tapes/"))
	assert.Empty(t, w.below("index/"))

	_, err = w.store.Pin(t.Context(), other, Bodies)
	require.ErrorIs(t, err, store.ErrNotFound)
}

func TestAPinSaysWhichBodiesWereGone(t *testing.T) {
	w := newWorld(t)
	run := w.run(1, tape.OutcomeFailed, body("gone"))
	require.NoError(t, w.backend.Delete(t.Context(), w.below("blobs/")[0]))
	got, err := w.store.Pin(t.Context(), run, Bodies)
	require.NoError(t, err)
	assert.Equal(t, store.Pinned{Fragments: 1, Missing: []string{shaOf(body("gone"))}}, got)
}
