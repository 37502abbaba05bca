package main

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestThePaceOfTheGarbageCollector(t *testing.T) {
	for live, want := range map[uint64]int{
		0:          1000,
		1 << 20:    1000,
		8 << 20:    700,
		room:       100,
		2 * room:   50,
		100 * room: 50,
	} {
		assert.Equal(t, want, percent(live), live)
	}
}
