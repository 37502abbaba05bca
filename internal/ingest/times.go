package ingest

import (
	"time"

	"github.com/tapedeck/tapedeck/tape"
)

type interval struct{ start, end time.Time }

// maxCall bounds how long a call is taken to have lasted.
const maxCall = 365 * 24 * time.Hour

// schedule says when each call was. Those without a start follow the one before
// them; without any start the run began when the manifest says, or else ends now.
func schedule(m *tape.Manifest, records []*tape.Record, now time.Time) []interval {
	var total time.Duration
	first := -1
	var begin time.Time
	for i, r := range records {
		if start, ok := instant(r.Start); ok && first < 0 {
			first, begin = i, start.Add(-total)
		}
		total = min(total+max(lasted(r), time.Nanosecond), maxCall)
	}
	if first < 0 {
		var ok bool
		if begin, ok = instant(m.Started); !ok {
			begin = now.Add(-total)
		}
	}
	out := make([]interval, len(records))
	next := begin
	for i, r := range records {
		start, ok := instant(r.Start)
		if !ok {
			start = next
		}
		end := start.Add(lasted(r))
		out[i] = interval{start, end}
		// Two calls of one moment would be in no order.
		next = end
		if !end.After(start) {
			next = start.Add(time.Nanosecond)
		}
	}
	return out
}

func lasted(r *tape.Record) time.Duration {
	ns := r.MS * float64(time.Millisecond)
	switch {
	case ns <= 0:
		return 0
	case ns >= float64(maxCall):
		return maxCall
	}
	return time.Duration(ns + 0.5)
}

// instant reads a time that a span can have.
func instant(text string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || t.Year() < 1971 || t.Year() > 2250 {
		return time.Time{}, false
	}
	return t, true
}
