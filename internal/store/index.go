package store

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/tapedeck/tapedeck/internal/lru"
	"github.com/tapedeck/tapedeck/internal/store/rowfile"
	"github.com/tapedeck/tapedeck/tape"
)

// Entry is a row in the index, with what only the index needs to know of it.
type Entry = rowfile.Entry

// index is where rows are kept, in partitions of one hour by the time of the
// decision: Parquet files, and the journals of what is not yet in one.
type index struct {
	backend Backend
	writer  string
	now     func() time.Time
	damaged func(name string, err error)
	journal *journal
	names   sequence
	indexLocks
	blocks  *lru.Cache[block, []byte]
	filters *lru.Cache[string, *rowfile.Filter]
	// recently and journals spare those who look for one run after the other.
	recently listings
	journals journalIDs
}

func newIndex(backend Backend, opts *Options) *index {
	x := &index{
		backend: backend,
		writer:  opts.Writer,
		now:     opts.Now,
		damaged: opts.OnDamaged,
		blocks:  lru.New[block](maxBlocks, func(data []byte) int { return len(data) }),
		filters: lru.New[string](maxFilters, (*rowfile.Filter).Size),
	}
	to, local := opts.Journal, true
	if to == nil {
		to, _ = backend.(JournalBackend)
		local = false
	}
	if to != nil {
		x.journal = &journal{
			to: to, local: local, writer: opts.Writer, now: opts.Now, maxRows: opts.FlushRows,
			rotate: rotateAfter, full: make(chan struct{}, 1), open: map[time.Time]*journalFile{},
		}
	}
	return x
}

// AppendRows adds one row for each decided run, durably when it returns nil. A
// row without a time of decision gets the present. What several rows of one run
// come to is said in the documentation of the index.
func (s *Store) AppendRows(ctx context.Context, rows []tape.Row) error {
	entries := make([]Entry, len(rows))
	for i, row := range rows {
		entries[i].Row = row
	}
	return s.AppendEntries(ctx, entries)
}

// AppendEntries is AppendRows for those who know of fragments. Entries added
// again after an error are harmless.
func (s *Store) AppendEntries(ctx context.Context, entries []Entry) error {
	if len(entries) == 0 {
		return nil
	}
	list := slices.Clone(entries)
	for i := range list {
		if err := normalize(&list[i], s.now); err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	if err := s.index.add(ctx, list); err != nil {
		return fmt.Errorf("write index: %w", err)
	}
	return nil
}

// normalize gives every entry one spelling, so that it is the same in a journal
// and in a Parquet file, and texts sort like times.
func normalize(e *Entry, now func() time.Time) error {
	id, err := ParseTraceID(e.TraceID)
	if err != nil {
		return err
	}
	e.TraceID = id
	decided := parseTime(e.Decided)
	if decided.IsZero() {
		decided = now()
	}
	e.Decided = formatTime(decided)
	if start := parseTime(e.Start); start.IsZero() {
		e.Start = ""
	} else {
		e.Start = formatTime(start)
	}
	// Neither JSON nor a sum over a column takes what is no number.
	if math.IsNaN(e.DurationMS) || math.IsInf(e.DurationMS, 0) {
		e.DurationMS = 0
	}
	if e.Cost != nil && (math.IsNaN(*e.Cost) || math.IsInf(*e.Cost, 0)) {
		e.Cost = nil
	}
	return nil
}

// parseTime reads an RFC 3339 time; the zero time stands for what is none.
func parseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339Nano, s)
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// formatTime keeps the microseconds that the index keeps.
func formatTime(t time.Time) string {
	return t.UTC().Truncate(time.Microsecond).Format(time.RFC3339Nano)
}
