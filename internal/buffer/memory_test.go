package buffer

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMemoryKeepsChunksInOrder(t *testing.T) {
	b := NewMemory(1 << 20)
	id := ID{1}
	require.NoError(t, b.Append(id, []byte("a")))
	require.NoError(t, b.Append(ID{2}, []byte("x")))
	require.NoError(t, b.Append(id, []byte("b")))

	got, err := b.Load(id)
	require.NoError(t, err)
	assert.Equal(t, [][]byte{[]byte("a"), []byte("b")}, got)

	require.NoError(t, b.Append(id, []byte("c")))
	assert.Len(t, got, 2, "a loaded run does not change under its reader")
}

func TestMemoryReturnsToItsStart(t *testing.T) {
	b := NewMemory(1 << 20)
	for i := range 1000 {
		require.NoError(t, b.Append(ID{byte(i), byte(i >> 8)}, make([]byte, i)))
	}
	assert.Positive(t, b.Bytes())
	for i := range 1000 {
		assert.Positive(t, b.Drop(ID{byte(i), byte(i >> 8)}))
	}
	assert.Zero(t, b.Bytes())
	assert.Zero(t, b.Drop(ID{1}), "an unknown run frees nothing")
	got, err := b.Load(ID{1})
	require.NoError(t, err)
	assert.Empty(t, got)
}

func TestMemoryRefusesAChunkLargerThanItself(t *testing.T) {
	b := NewMemory(64)
	require.ErrorIs(t, b.Append(ID{1}, make([]byte, 100)), ErrFull)
	assert.Zero(t, b.Bytes())
}

func TestMemoryCloseForgets(t *testing.T) {
	b := NewMemory(1 << 20)
	require.NoError(t, b.Append(ID{1}, []byte("a")))
	require.NoError(t, b.Close())
	assert.Zero(t, b.Bytes())
}
