package store

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestKnownIsBoundedInNumberAndTime(t *testing.T) {
	now := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	k := newKnown(func() time.Time { return now })
	for i := range 2 * maxKnown {
		k.add(strconv.Itoa(i), now)
		k.add(strconv.Itoa(i), now)
	}
	assert.Len(t, k.items, maxKnown)
	assert.Equal(t, maxKnown, k.order.Len())
	assert.False(t, k.has("0"), "the oldest made room")
	last := strconv.Itoa(2*maxKnown - 1)
	assert.True(t, k.has(last))
	k.forget(last)
	k.forget("never there")
	assert.False(t, k.has(last))

	other := strconv.Itoa(2*maxKnown - 2)
	now = now.Add(knownFor - 1)
	assert.True(t, k.has(other))
	now = now.Add(1)
	assert.False(t, k.has(other))
	k.add("ahead", now.Add(time.Hour))
	assert.False(t, k.has("ahead"), "a clock that was set back proves nothing")
}
