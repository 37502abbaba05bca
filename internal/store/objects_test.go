package store

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWeekBoundsHoldTheDaysOfTheWeek(t *testing.T) {
	for at := time.Date(2019, 12, 20, 13, 0, 0, 0, time.UTC); at.Year() < 2033; at = at.AddDate(0, 0, 1) {
		from, to, ok := WeekBounds(blobWeek(at))
		require.True(t, ok, at)
		assert.False(t, at.Before(from), at)
		assert.True(t, at.Before(to), at)
		assert.Equal(t, 7*24*time.Hour, to.Sub(from))
		assert.Equal(t, blobWeek(from), blobWeek(to.Add(-time.Nanosecond)))
	}
	for _, s := range []string{"", "2026", "2026-W00", "2026-W54", "2025-W53", "2026-W1", "2026-W01x", "26-W01", "x026-W01"} {
		_, _, ok := WeekBounds(s)
		assert.False(t, ok, s)
	}
}

func FuzzWeekBounds(f *testing.F) {
	f.Add("2026-W01")
	f.Fuzz(func(t *testing.T, s string) {
		if from, _, ok := WeekBounds(s); ok {
			assert.Equal(t, s, blobWeek(from))
		}
	})
}
