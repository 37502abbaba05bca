package retention

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"github.com/tapedeck/tapedeck/internal/offload"
	"github.com/tapedeck/tapedeck/internal/store"
	"go.opentelemetry.io/collector/pdata/ptrace"
)

// scannedFolder has one note for each week whose bodies were compared with the
// fragments: <week>.json.
const scannedFolder = "scanned/"

// skew is how far the clocks of collectors and the store may be apart.
const skew = day

// bodySet holds hashes, at some 50 bytes each.
type bodySet map[[sha256.Size]byte]struct{}

func hashOf(sha string) (h [sha256.Size]byte) {
	_, _ = hex.Decode(h[:], []byte(sha)) // a listing gives none that is none
	return h
}

func (s bodySet) add(sha string)    { s[hashOf(sha)] = struct{}{} }
func (s bodySet) strike(sha string) { delete(s, hashOf(sha)) }

func (s bodySet) has(sha string) bool {
	_, ok := s[hashOf(sha)]
	return ok
}

// Bodies lists the hashes of the bodies that spans name.
func Bodies(td ptrace.Traces) []string {
	var list []string
	for _, ref := range offload.Refs(td) {
		list = append(list, ref.SHA256)
	}
	return list
}

// orphans removes bodies that no fragment names, which a run left that was never
// stored or was deleted. It looks through each week once, when it is over.
func (j *judge) orphans(ctx context.Context, tapes, blobs []string) error {
	weeks, err := j.unscanned(ctx, blobs)
	if err != nil || len(weeks) == 0 {
		return err
	}
	var since time.Time
	unnamed := bodySet{}
	for week, classes := range weeks {
		if from, _, _ := store.WeekBounds(week); since.IsZero() || from.Before(since) {
			since = from
		}
		for _, class := range classes {
			for blob, err := range j.st.Blobs(ctx, class, week) {
				if err != nil {
					return err
				}
				unnamed.add(blob.SHA256)
			}
		}
	}
	whole, err := j.strike(ctx, tapes, since.Add(-skew), unnamed)
	if err != nil {
		return err
	}
	for week, classes := range weeks {
		for _, class := range classes {
			err := j.blobs(ctx, class, week, "no tape names it", func(b *store.StoredBlob) bool {
				return whole && unnamed.has(b.SHA256) && !b.Modified.Add(j.standing.grace).After(j.now())
			})
			if err != nil {
				return err
			}
		}
		if err := j.scanned(ctx, week); err != nil {
			return err
		}
	}
	return nil
}

// strike takes what fragments name off the list. It reports false when a fragment
// could not be read, which may name anything.
func (j *judge) strike(ctx context.Context, classes []string, since time.Time, unnamed bodySet) (bool, error) {
	whole := true
	for _, class := range classes {
		for f, err := range j.st.Fragments(ctx, class) {
			if err != nil {
				return false, err
			}
			if f.Modified.Before(since) || len(unnamed) == 0 {
				continue
			}
			td, err := j.st.ReadFragment(ctx, f)
			switch {
			case errors.Is(err, store.ErrNotFound):
			case errors.Is(err, store.ErrDamaged), errors.Is(err, store.ErrTooLarge):
				j.act.finding(Finding{j.tenant, class, f.Name + " cannot be read, so that bodies that no tape names stay: " + err.Error()})
				whole = false
			case err != nil:
				return false, err
			default:
				for _, sha := range Bodies(td) {
					unnamed.strike(sha)
				}
			}
		}
	}
	return whole, nil
}

// unscanned gives the weeks that are over and were not looked through, with the
// classes that have bodies of them.
func (j *judge) unscanned(ctx context.Context, classes []string) (map[string][]string, error) {
	var done []string
	for object, err := range j.st.Notes(ctx, scannedFolder) {
		if err != nil {
			return nil, err
		}
		done = append(done, store.NoteName(object))
	}
	weeks := map[string][]string{}
	for _, class := range classes {
		if class == store.PinnedClass {
			continue
		}
		list, err := j.st.Weeks(ctx, class)
		if err != nil {
			return nil, err
		}
		for _, week := range list {
			_, isOver := j.over(week)
			if isOver && !j.gone[class+"/"+week] && !slices.Contains(done, noteOfWeek(week)) {
				weeks[week] = append(weeks[week], class)
			}
		}
	}
	return weeks, nil
}

func noteOfWeek(week string) string { return scannedFolder + week + ".json" }

// scanned notes that a week was looked through.
func (j *judge) scanned(ctx context.Context, week string) error {
	if !j.acts() {
		return nil
	}
	text, err := json.Marshal(struct {
		Scanned time.Time `json:"scanned"`
	}{j.now().UTC()})
	if err != nil {
		return err
	}
	return j.st.PutNote(ctx, noteOfWeek(week), text)
}

// unpinned removes bodies of pinned runs that were deleted since.
func (j *judge) unpinned(ctx context.Context) error {
	weeks, err := j.st.Weeks(ctx, store.PinnedClass)
	if err != nil {
		return err
	}
	unnamed := bodySet{}
	for _, week := range weeks {
		for blob, err := range j.st.Blobs(ctx, store.PinnedClass, week) {
			if err != nil {
				return err
			}
			if !blob.Modified.Add(j.standing.grace).After(j.now()) {
				unnamed.add(blob.SHA256)
			}
		}
	}
	if len(unnamed) == 0 {
		return nil
	}
	whole, err := j.strike(ctx, []string{store.PinnedClass}, time.Time{}, unnamed)
	if err != nil || !whole || len(unnamed) == 0 {
		return err
	}
	// A run that was pinned meanwhile may name what was there.
	if now, err := j.st.Runs(ctx, store.PinnedClass); err != nil || !slices.Equal(now, j.pinned) {
		return err
	}
	for _, week := range weeks {
		err := j.blobs(ctx, store.PinnedClass, week, "no pinned tape names it", func(b *store.StoredBlob) bool { return unnamed.has(b.SHA256) })
		if err != nil {
			return err
		}
	}
	return nil
}
