package retention

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"
)

// A class that is over its size loses its oldest runs, and the weeks of bodies that
// nothing can name then. Bodies of a week that is not over stay with it.

// step is what is freed when everything that was stored until a time goes.
type step struct {
	at    time.Time
	bytes int64
	// week: it is one of bodies, not an hour of runs.
	week bool
}

// bound gives the time until which stored runs must go for a class to have at most
// max bytes; zero when it has no more.
func (j *judge) bound(ctx context.Context, class string, most int64) (time.Time, error) {
	byHour := map[int64]int64{}
	var total int64
	for run, err := range j.runs(ctx, class) {
		if err != nil {
			return time.Time{}, err
		}
		byHour[run.last.Truncate(time.Hour).Unix()] += run.bytes
		total += run.bytes
	}
	weeks, blobs, err := j.freeable(ctx, class)
	if err != nil {
		return time.Time{}, err
	}
	total += blobs
	excess := total - most
	if excess <= 0 {
		return time.Time{}, nil
	}
	// Runs of an hour go at its end at the latest, weeks when they are over.
	var steps []step
	for hour, bytes := range byHour {
		steps = append(steps, step{time.Unix(hour, 0).Add(time.Hour), bytes, false})
	}
	steps = append(steps, weeks...)
	slices.SortFunc(steps, func(a, b step) int { return a.at.Compare(b.at) })
	for _, s := range steps {
		if excess -= s.bytes; excess > 0 {
			continue
		}
		if s.week {
			return s.at, nil
		}
		return j.withinHour(ctx, class, s.at.Add(-time.Hour), excess+s.bytes)
	}
	// The bodies that cannot go yet are too many by themselves.
	j.act.finding(Finding{j.tenant, class, fmt.Sprintf(
		"over its %d bytes by the bodies of weeks that are not over yet: no run goes for them", most)})
	if len(weeks) == 0 {
		return time.Time{}, nil
	}
	return slices.MaxFunc(weeks, func(a, b step) int { return a.at.Compare(b.at) }).at, nil
}

// freeable gives the weeks of bodies of a class that are over, and the size of all.
func (j *judge) freeable(ctx context.Context, class string) (steps []step, total int64, err error) {
	weeks, err := j.st.Weeks(ctx, class)
	if err != nil {
		return nil, 0, err
	}
	for _, week := range weeks {
		at, isOver := j.over(week)
		var bytes int64
		for blob, err := range j.st.Blobs(ctx, class, week) {
			if err != nil {
				return nil, 0, err
			}
			bytes += blob.Size
			if late := blob.Modified.Add(j.standing.grace); late.After(at) {
				at = late
			}
		}
		total += bytes
		if isOver && !at.After(j.now()) {
			steps = append(steps, step{at, bytes, true})
		}
	}
	return steps, total, nil
}

// withinHour finds the moment of an hour until which runs must go to free as many
// bytes.
func (j *judge) withinHour(ctx context.Context, class string, hour time.Time, bytes int64) (time.Time, error) {
	at := map[time.Time]int64{}
	for run, err := range j.runs(ctx, class) {
		if err != nil {
			return time.Time{}, err
		}
		if run.last.Truncate(time.Hour).Equal(hour) {
			at[run.last] += run.bytes
		}
	}
	moments := slices.SortedFunc(maps.Keys(at), time.Time.Compare)
	cutoff := hour
	for _, m := range moments {
		if bytes <= 0 {
			break
		}
		bytes -= at[m]
		cutoff = m
	}
	return cutoff, nil
}
