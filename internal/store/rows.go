package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/tapedeck/tapedeck/tape"
)

// keptReach is how far back a kept row outranks a newer summary of the same
// run. Two collectors that each hold a part of a run decide within minutes of
// each other; looking further would mean reading the whole index for each
// page.
const keptReach = time.Hour

// Rows answers a query, newest decision first. It reads the hours it shows,
// one older hour, and the ids of the hours it has shown before. The error is
// ErrBadCursor for a cursor that is none.
func (s *Store) Rows(ctx context.Context, q Query) (Page, error) {
	l := lister{query: q, limit: q.Limit, seen: map[string]struct{}{}}
	if l.limit <= 0 {
		l.limit = DefaultLimit
	}
	l.limit = min(l.limit, MaxLimit)
	if q.Cursor != "" {
		c, err := parseCursor(q.Cursor)
		if err != nil {
			return Page{}, err
		}
		l.cursor = c
		l.asOf = c.asOf
	}
	for hour, err := range s.index.hours(ctx) {
		if err != nil {
			return Page{}, err
		}
		if l.done(hour) {
			break
		}
		if err := l.read(ctx, s.index, hour); err != nil {
			return Page{}, err
		}
	}
	l.emit()
	return l.page(), nil
}

// Row is the row of a run. The error is ErrNotFound when there is none or it
// was deleted.
func (s *Store) Row(ctx context.Context, traceID string) (tape.Row, error) {
	id, err := ParseTraceID(traceID)
	if err != nil {
		return tape.Row{}, err
	}
	found, err := s.verdicts(ctx, id)
	if err != nil {
		return tape.Row{}, err
	}
	if w := found.winner(); w != nil {
		return w.row, nil
	}
	return tape.Row{}, fmt.Errorf("row of %s: %w", id, ErrNotFound)
}

// verdicts reads what the index knows of one run, as far back as it matters.
func (s *Store) verdicts(ctx context.Context, id string) (*verdicts, error) {
	var found verdicts
	var first time.Time
	for hour, err := range s.index.hours(ctx) {
		if err != nil {
			return nil, err
		}
		if !first.IsZero() && (found.final() || first.Sub(hour) > keptReach) {
			break
		}
		err := s.index.scan(ctx, hour, func(l lazyEntry) error {
			if l.traceID() != id {
				return nil
			}
			e, err := l.entry()
			if err != nil {
				return err
			}
			found.add(e)
			if first.IsZero() {
				first = hour
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return &found, nil
}

// lister walks the hours of the index from new to old. It holds back the rows
// of one hour until it has seen the next older one, because a kept row there
// outranks a summary here.
type lister struct {
	query  Query
	limit  int
	cursor *cursor
	// asOf hides rows decided later; zero hides none.
	asOf   time.Time
	newest time.Time

	hour time.Time
	held map[string]*verdicts
	seen map[string]struct{}
	out  []*decided
}

// done reports whether the hour and all older ones cannot add to the answer.
func (l *lister) done(hour time.Time) bool {
	if len(l.out) > l.limit {
		return true
	}
	end := hour.Add(time.Hour)
	return !l.query.Since.IsZero() && !end.After(l.query.Since.Add(-keptReach))
}

// idsOnly reports whether all rows of the hour come before the page, so that
// only their ids matter.
func (l *lister) idsOnly(hour time.Time) bool {
	if l.cursor != nil && hour.After(l.cursor.at) {
		// The summaries of the cursor's next newer hour may still lose to kept
		// rows of the cursor's own.
		return hour.Sub(l.cursor.at) > keptReach && !l.asOf.Before(hour.Add(time.Hour))
	}
	return false
}

func (l *lister) read(ctx context.Context, x index, hour time.Time) error {
	if !l.asOf.IsZero() && hour.After(l.asOf) {
		return nil
	}
	if l.idsOnly(hour) {
		return x.scan(ctx, hour, func(e lazyEntry) error {
			l.seen[e.traceID()] = struct{}{}
			return nil
		})
	}
	found := map[string]*verdicts{}
	err := x.scan(ctx, hour, func(lazy lazyEntry) error {
		id := lazy.traceID()
		if _, ok := l.seen[id]; ok {
			return nil
		}
		e, err := lazy.entry()
		if err != nil {
			return err
		}
		at := parseTime(e.Decided)
		if !l.asOf.IsZero() && at.After(l.asOf) {
			return nil
		}
		if at.After(l.newest) {
			l.newest = at
		}
		v := found[e.TraceID]
		if v == nil {
			v = &verdicts{}
			found[e.TraceID] = v
		}
		v.add(e)
		return nil
	})
	if err != nil {
		return err
	}
	adjacent := l.hour.Sub(hour) <= keptReach
	for id, older := range found {
		newer, ok := l.held[id]
		if !ok {
			continue
		}
		w := older.winner()
		if adjacent && !newer.final() && w != nil && w.row.Kept && w.at.After(newer.grave) {
			delete(l.held, id)
		} else {
			delete(found, id)
		}
	}
	l.emit()
	l.hour, l.held = hour, found
	return nil
}

// emit moves the held rows that match to the answer.
func (l *lister) emit() {
	start := len(l.out)
	for id, v := range l.held {
		l.seen[id] = struct{}{}
		w := v.winner()
		if w == nil || !l.query.match(w) || (l.cursor != nil && !l.cursor.passed(w)) {
			continue
		}
		l.out = append(l.out, w)
	}
	slices.SortFunc(l.out[start:], newestFirst)
	l.held = nil
}

func (l *lister) page() Page {
	more := len(l.out) > l.limit
	shown := l.out[:min(len(l.out), l.limit)]
	page := Page{Rows: make([]tape.Row, len(shown))}
	for i, d := range shown {
		page.Rows[i] = d.row
	}
	if more {
		last := shown[len(shown)-1]
		asOf := l.asOf
		if asOf.IsZero() {
			asOf = l.newest
		}
		next := cursor{asOf: asOf, at: last.at, id: last.row.TraceID}
		page.Next = next.String()
	}
	return page
}
