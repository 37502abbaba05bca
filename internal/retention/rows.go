package retention

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tapedeck/tapedeck/internal/store"
)

// rowSlack is how much longer the row of a kept run stays than the run: it is stored
// a while after its decision.
const rowSlack = time.Hour

// rows takes the rows out of the index that are due.
func (j *judge) rows(ctx context.Context) error {
	shortest, _ := j.standing.bounds()
	before := j.now()
	if len(j.cutoff) == 0 {
		if shortest == Forever {
			return nil
		}
		before = before.Add(-time.Duration(shortest))
	}
	due, skip := j.due(), j.seen.later(j.now())
	if len(j.cutoff) > 0 {
		// What is due has moved since.
		skip = func(string) bool { return false }
	}
	for old, err := range j.st.OldRows(ctx, before, j.now(), due, skip) {
		if err != nil {
			return err
		}
		if old.Old == 0 {
			j.seen.until(old.Name, old.Next)
			continue
		}
		item := Item{
			Kind: KindRows, Tenant: j.tenant, Name: old.Name, Count: old.Old, Stored: old.Hour,
			Reason: fmt.Sprintf("%d of %d rows are of runs that have gone or are longer ago than summaries stay (%s)", old.Old, old.Rows, j.standing.summaries()),
		}
		if old.Old == old.Rows {
			item.Bytes = old.Size
		}
		j.act.item(ctx, item, func(ctx context.Context) error {
			name, err := j.st.DropRows(ctx, old, j.now(), due)
			if err == nil && name != "" {
				j.seen.until(name, old.Next)
			}
			return err
		})
	}
	return nil
}

// due says when a row may go.
func (j *judge) due() store.Due {
	_, longest := j.standing.bounds()
	return func(e *store.Entry) time.Time {
		decided, err := time.Parse(time.RFC3339Nano, e.Decided)
		switch {
		case err != nil:
			return time.Time{}
		case e.Deleted:
			// It hides rows that are no younger.
			return longest.until(decided.Add(rowSlack))
		case !e.Kept:
			return j.standing.summaries().until(decided)
		}
		if _, pinned := slices.BinarySearch(j.pinned, e.TraceID); pinned {
			return time.Time{}
		}
		if e.Class == store.PinnedClass {
			// It was deleted since, and must be gone before what hides it.
			return longest.until(decided)
		}
		class, known := j.standing.class(e.Class)
		if cutoff := j.cutoff[e.Class]; known && !cutoff.IsZero() && !decided.After(cutoff.Add(-rowSlack)) {
			return decided
		}
		return class.Keep.until(decided.Add(rowSlack))
	}
}

// seenFiles remembers until when index files need not be opened again.
type seenFiles struct {
	mu   sync.Mutex
	next map[string]time.Time
}

// never stands for files of which nothing is ever due.
var never = time.Unix(1<<40, 0)

// maxSeen bounds what is remembered. Beyond it files are opened again.
const maxSeen = 100_000

func (s *seenFiles) until(name string, next time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if next.IsZero() {
		next = never
	}
	if s.next == nil || len(s.next) >= maxSeen {
		s.next = map[string]time.Time{}
	}
	s.next[name] = next
}

// later tells the files of which nothing is due at a time.
func (s *seenFiles) later(now time.Time) func(name string) bool {
	return func(name string) bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.next[name].After(now)
	}
}
