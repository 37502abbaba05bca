package store

import (
	"context"
	"fmt"
	"iter"
	"time"

	"github.com/tapedeck/tapedeck/tape"
)

// index is where rows are kept, in partitions of one hour by the time of the
// decision. The format of its files is its own affair.
type index interface {
	// add stores entries durably. Entries added again after an error may then
	// be there twice.
	add(ctx context.Context, entries []entry) error
	// hours yields the partitions that exist, newest first, listing only as far
	// as the caller goes.
	hours(ctx context.Context) iter.Seq2[time.Time, error]
	// scan shows every entry of a partition, in no particular order.
	scan(ctx context.Context, hour time.Time, fn func(lazyEntry) error) error
}

// entry is a row in the index. A deleted entry hides all entries of its trace
// that were decided before it.
type entry struct {
	tape.Row
	Deleted bool `json:"deleted,omitempty"`
}

// lazyEntry tells its trace id without reading the rest.
type lazyEntry interface {
	traceID() string
	entry() (entry, error)
}

// AppendRows adds one row for each decided run. A row without a time of
// decision gets the present. Several rows for one trace are fine: a kept one
// outranks the others, then the newest wins.
func (s *Store) AppendRows(ctx context.Context, rows []tape.Row) error {
	if len(rows) == 0 {
		return nil
	}
	entries := make([]entry, len(rows))
	for i, row := range rows {
		id, err := ParseTraceID(row.TraceID)
		if err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
		row.TraceID = id
		decided := parseTime(row.Decided)
		if decided.IsZero() {
			decided = s.now()
		}
		// One spelling for all, so that texts sort like times.
		row.Decided = formatTime(decided)
		entries[i] = entry{Row: row}
	}
	if err := s.index.add(ctx, entries); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}

// verdicts gathers what is known of one trace within a partition. Entries come
// in any order.
type verdicts struct {
	newest     *decided
	newestKept *decided
	grave      time.Time
}

// decided is an entry with its time parsed.
type decided struct {
	at  time.Time
	row tape.Row
}

func (v *verdicts) add(e entry) {
	at := parseTime(e.Decided)
	if e.Deleted {
		if at.After(v.grave) {
			v.grave = at
		}
		return
	}
	d := &decided{at: at, row: e.Row}
	if v.newest == nil || !at.Before(v.newest.at) {
		v.newest = d
	}
	if e.Kept && (v.newestKept == nil || !at.Before(v.newestKept.at)) {
		v.newestKept = d
	}
}

// winner is the entry that counts: a kept one before a summary, then the
// newest. It is nil when the trace was deleted after all of them.
func (v *verdicts) winner() *decided {
	for _, d := range []*decided{v.newestKept, v.newest} {
		if d != nil && d.at.After(v.grave) {
			return d
		}
	}
	return nil
}

// final reports whether no older partition can change the winner: a kept row
// and a deletion stand.
func (v *verdicts) final() bool {
	w := v.winner()
	return w == nil || w.row.Kept
}

// parseTime reads an RFC 3339 time; the zero time stands for what is none.
func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

func formatTime(t time.Time) string { return t.UTC().Format(time.RFC3339Nano) }
