package spool

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A mark that cannot be taken back would be believed of whatever comes in later
// under its id.
func TestAMarkIsForgottenAlsoWhereThereIsNoRoom(t *testing.T) {
	dir := t.TempDir()
	marks := map[ID]string{}
	cfg := Config{Directory: dir, MaxBytes: 64 << 10, SegmentBytes: 8 << 10, OnMark: func(id ID, mark []byte) { marks[id] = string(mark) }}
	s, err := Open(cfg)
	require.NoError(t, err)
	require.NoError(t, s.Mark(ID{1}, []byte("old")))
	require.NoError(t, s.Mark(ID{1}, []byte(strings.Repeat("a long one ", 20))))
	require.NoError(t, s.Mark(ID{2}, []byte("stays")))
	require.NoError(t, s.Mark(ID{3}, nil))
	for err == nil {
		err = s.Append([]Record{{ID: ID{9}, Payload: make([]byte, 512)}})
	}
	require.ErrorIs(t, err, ErrFull)
	err = nil
	for i := byte(10); err == nil && i < 250; i++ {
		err = s.Mark(ID{i}, make([]byte, 512))
	}
	require.ErrorIs(t, err, ErrFull)

	require.NoError(t, s.Unmark(ID{1}, ID{3}, ID{5}))
	require.NoError(t, s.Close())
	s, err = Open(cfg)
	require.NoError(t, err)
	assert.NotContains(t, marks, ID{1})
	assert.NotContains(t, marks, ID{3})
	assert.Equal(t, "stays", marks[ID{2}])
	assert.Zero(t, s.Stats().Damage)
	require.NoError(t, s.Close())
}
