package recorder

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/spool"
)

func TestNotesComeBack(t *testing.T) {
	n := note{
		fate: fate{stateKept, 3, 2}, flags: markHeld | markCalls, decided: 1 << 60, parts: 300,
		lost: Amount{70_000, 3}, kind: "svc\x00agent",
	}
	got, err := readNote(n.append(nil))
	require.NoError(t, err)
	assert.Equal(t, n, got)

	e := extra{policy: 1 << 31, bytes: 1 << 40, part: 200, kin: &kin{
		sessions: []ID{{1}, {2}}, calls: []name{1}, logCalls: []name{2, 3}, service: 4, start: 5, spans: true,
	}}
	back, err := readExtra(&spool.Record{Flags: flagKin, Extra: e.append(nil)})
	require.NoError(t, err)
	assert.Equal(t, e, back)
}

// Notes are read from disk: whatever is there must be an error at worst.
func FuzzNotes(f *testing.F) {
	n := note{fate: fate{stateOpen, 0, 0}, flags: markAsked, kind: "k"}
	f.Add(n.append(nil))
	e := extra{bytes: 5, kin: &kin{sessions: []ID{{1}}, calls: []name{1}}}
	f.Add(e.append(nil))
	f.Add([]byte{noteVersion})
	f.Fuzz(func(t *testing.T, b []byte) {
		if n, err := readNote(b); err == nil {
			again, err := readNote(n.append(nil))
			require.NoError(t, err)
			assert.Equal(t, n, again)
		}
		_, _ = readExtra(&spool.Record{Flags: flagKin, Extra: b})
	})
}
