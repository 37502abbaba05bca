package retention

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/tapedeck/tapedeck/internal/store"
	"golang.org/x/sync/errgroup"
)

// judge looks through one store: that of a tenant, or of runs without one.
type judge struct {
	st       *store.Store
	tenant   string
	standing *Standing
	act      actor
	// leftovers is what unfinished writes left, nil where the backend has none.
	leftovers Leftovers
	// seen remembers index files of which nothing is due yet.
	seen *seenFiles
	// workers is how many things are removed at a time.
	workers int

	// pinned are the ids of pinned runs, sorted.
	pinned []string
	// oldest is when the oldest fragment that stays was stored, by class.
	oldest map[string]time.Time
	// cutoff is until when stored runs of a class go because of its size.
	cutoff map[string]time.Time
	// gone are the weeks that go as a whole, as <class>/<week>.
	gone map[string]bool
}

func (j *judge) now() time.Time { return j.standing.now }

// run judges everything, in the order in which it may go.
func (j *judge) run(ctx context.Context) error {
	tapes, blobs, err := j.st.Classes(ctx)
	if err != nil {
		return err
	}
	if j.pinned, err = j.st.Runs(ctx, store.PinnedClass); err != nil {
		return err
	}
	j.oldest, j.cutoff, j.gone = map[string]time.Time{}, map[string]time.Time{}, map[string]bool{}
	var errs []error
	failed := map[string]bool{}
	for _, class := range tapes {
		if err := j.tapes(ctx, class); err != nil {
			// What could not be listed may still name bodies.
			failed[class] = true
			errs = append(errs, err)
		}
	}
	for _, class := range blobs {
		if class != store.PinnedClass && !failed[class] {
			errs = append(errs, j.weeks(ctx, class))
		}
	}
	if len(failed) == 0 {
		errs = append(errs, j.orphans(ctx, tapes, blobs), j.unpinned(ctx))
	}
	errs = append(errs, j.rows(ctx), j.unfinished(ctx))
	return errors.Join(errs...)
}

// storedRun is what a class holds of a run.
type storedRun struct {
	id        string
	fragments []store.StoredFragment
	// first and last are when its fragments were stored.
	first, last time.Time
	bytes       int64
}

// runs yields what a class holds, a run at a time.
func (j *judge) runs(ctx context.Context, class string) iter.Seq2[storedRun, error] {
	return func(yield func(storedRun, error) bool) {
		var run storedRun
		for f, err := range j.st.Fragments(ctx, class) {
			if err != nil {
				yield(storedRun{}, err)
				return
			}
			if run.id != "" && f.TraceID != run.id {
				if !yield(run, nil) {
					return
				}
				run = storedRun{}
			}
			run.add(f)
		}
		if run.id != "" {
			yield(run, nil)
		}
	}
}

func (r *storedRun) add(f store.StoredFragment) {
	if r.id == "" || f.Modified.Before(r.first) {
		r.first = f.Modified
	}
	if f.Modified.After(r.last) {
		r.last = f.Modified
	}
	r.id = f.TraceID
	r.bytes += f.Size
	r.fragments = append(r.fragments, f)
}

// tapes judges the runs of a class by their age and by the size of the class.
func (j *judge) tapes(ctx context.Context, name string) error {
	class, known := j.standing.class(name)
	if !known {
		j.act.finding(Finding{j.tenant, name, fmt.Sprintf(
			"the policy has no class %s: its runs are kept as those of class %s, %s", name, class.Name, class.Keep)})
	}
	if class.MaxBytes > 0 && known {
		cutoff, err := j.bound(ctx, name, class.MaxBytes)
		if err != nil {
			return err
		}
		if !cutoff.IsZero() {
			j.cutoff[name] = cutoff
		}
	}
	var mu sync.Mutex
	stays := func(run *storedRun) {
		mu.Lock()
		defer mu.Unlock()
		if at, ok := j.oldest[name]; !ok || run.first.Before(at) {
			j.oldest[name] = run.first
		}
	}
	var group errgroup.Group
	group.SetLimit(j.workers)
	var failed error
	for run, err := range j.runs(ctx, name) {
		if err != nil {
			failed = err
			break
		}
		reason := j.reason(&run, class, known)
		if reason == "" {
			stays(&run)
			continue
		}
		item := Item{
			Kind: KindTape, Tenant: j.tenant, Class: name, TraceID: run.id, Name: "tapes/" + name + "/" + run.id,
			Count: len(run.fragments), Bytes: run.bytes, Stored: run.last, Reason: reason,
		}
		group.Go(func() error {
			if !j.act.item(ctx, item, func(ctx context.Context) error { return j.removeRun(ctx, &run) }) {
				stays(&run)
			}
			return nil
		})
	}
	_ = group.Wait() // none of them fails
	return failed
}

// reason says why a run goes, "" when it stays.
func (j *judge) reason(run *storedRun, class Class, known bool) string {
	of := "class " + class.Name
	if !known {
		of = "class " + class.Name + ", as its own is not configured"
	}
	if until := class.Keep.until(run.last); !until.IsZero() && !until.After(j.now()) {
		return fmt.Sprintf("older than %s (%s)", class.Keep, of)
	}
	if cutoff := j.cutoff[class.Name]; known && !cutoff.IsZero() && !run.last.After(cutoff) {
		return fmt.Sprintf("over %d bytes (%s)", class.MaxBytes, of)
	}
	return ""
}

// removeRun deletes the fragments that were judged, and no later ones. Of a pinned
// run the pinned copy gets first what came after it was pinned.
func (j *judge) removeRun(ctx context.Context, run *storedRun) error {
	if _, ok := slices.BinarySearch(j.pinned, run.id); ok && run.fragments[0].Class != store.PinnedClass {
		if _, err := j.st.Pin(ctx, run.id, Bodies); err != nil && !errors.Is(err, store.ErrDamaged) {
			return err
		}
	}
	var errs []error
	for _, f := range run.fragments {
		errs = append(errs, j.st.Remove(ctx, f.Object))
	}
	return errors.Join(errs...)
}

// over is from when on nothing new comes to a week, or rather: nothing that waited
// for less than the grace period to be stored.
func (j *judge) over(week string) (time.Time, bool) {
	_, end, ok := store.WeekBounds(week)
	end = end.Add(j.standing.grace)
	return end, ok && !end.After(j.now())
}
