package lru_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/tapedeck/tapedeck/internal/lru"
)

func TestWhatWasUsedLastStays(t *testing.T) {
	c := lru.New[string](10, func(s string) int { return len(s) })
	c.Put("a", "1234")
	c.Put("b", "1234")
	_, ok := c.Get("a")
	assert.True(t, ok)
	c.Put("c", "1234")
	_, ok = c.Get("b")
	assert.False(t, ok, "it was used longest ago")
	v, ok := c.Get("a")
	assert.True(t, ok)
	assert.Equal(t, "1234", v)
	assert.Equal(t, 8, c.Used())
}

func TestAnotherValueTakesThePlaceOfTheFirst(t *testing.T) {
	c := lru.New[string](10, func(s string) int { return len(s) })
	c.Put("a", "1")
	c.Put("a", "22")
	v, _ := c.Get("a")
	assert.Equal(t, "22", v)
	assert.Equal(t, 2, c.Used())
	c.Remove("a")
	c.Remove("a")
	_, ok := c.Get("a")
	assert.False(t, ok)
	assert.Zero(t, c.Used())
}

func TestOneValueMayBeLargerThanTheBound(t *testing.T) {
	c := lru.New[string](10, func(s string) int { return len(s) })
	c.Put("a", "123456789012345")
	_, ok := c.Get("a")
	assert.True(t, ok)
	c.Put("b", "1")
	_, ok = c.Get("a")
	assert.False(t, ok)
	c.Put("c", "123456789")
	c.Resize(5)
	_, ok = c.Get("b")
	assert.False(t, ok)
}
