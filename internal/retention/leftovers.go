package retention

import (
	"context"
	"iter"

	"github.com/tapedeck/tapedeck/internal/store"
)

// Leftovers is a backend that knows what writes left that were never finished:
// temporary files, or uploads in parts.
type Leftovers interface {
	// Leftovers yields them. Names mean something to RemoveLeftover alone.
	Leftovers(ctx context.Context) iter.Seq2[store.Object, error]
	// RemoveLeftover removes one; that it is gone is no error.
	RemoveLeftover(ctx context.Context, name string) error
}

// unfinished removes what unfinished writes left that began before the grace period.
func (j *judge) unfinished(ctx context.Context) error {
	if j.leftovers == nil {
		return nil
	}
	for object, err := range j.leftovers.Leftovers(ctx) {
		if err != nil {
			return err
		}
		if object.Modified.Add(j.standing.grace).After(j.now()) {
			continue
		}
		item := Item{
			Kind: KindLeftover, Name: object.Name, Count: 1, Bytes: object.Size, Stored: object.Modified,
			Reason: "a write that was never finished",
		}
		j.act.item(ctx, item, func(ctx context.Context) error { return j.leftovers.RemoveLeftover(ctx, object.Name) })
	}
	return nil
}
