package retention

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/tapedeck/tapedeck/internal/store"
)

// weeks removes the bodies of weeks that no tape of the class can name any more: the
// week is over, and all tapes that are left were stored after that.
func (j *judge) weeks(ctx context.Context, class string) error {
	weeks, err := j.st.Weeks(ctx, class)
	if err != nil {
		return err
	}
	var errs []error
	for _, week := range weeks {
		at, isOver := j.over(week)
		if !isOver {
			continue
		}
		if dead, err := j.dead(ctx, class, week, at); err != nil || !dead {
			errs = append(errs, err)
			continue
		}
		j.gone[class+"/"+week] = true
		reason := fmt.Sprintf("no tape of class %s is left that was stored until %s", class, at.Format(time.RFC3339))
		errs = append(errs, j.blobs(ctx, class, week, reason, func(*store.StoredBlob) bool { return true }))
	}
	return errors.Join(errs...)
}

// dead reports whether no tape that is left can name a body of the week. A store
// that was copied has the times of the copy: then its bodies are as young as its
// tapes, and wait as long.
func (j *judge) dead(ctx context.Context, class, week string, at time.Time) (bool, error) {
	oldest, any := j.oldest[class]
	if any && !oldest.After(at) {
		return false, nil
	}
	for blob, err := range j.st.Blobs(ctx, class, week) {
		if err != nil {
			return false, err
		}
		until := blob.Modified.Add(j.standing.grace)
		if until.After(j.now()) || any && !oldest.After(until) {
			return false, nil
		}
	}
	return true, nil
}

// blobs removes those of a week that are to go.
func (j *judge) blobs(ctx context.Context, class, week, reason string, goes func(*store.StoredBlob) bool) error {
	for blob, err := range j.st.Blobs(ctx, class, week) {
		if err != nil {
			return err
		}
		if !goes(&blob) {
			continue
		}
		item := Item{
			Kind: KindBlob, Tenant: j.tenant, Class: class, Name: blob.Name, Count: 1, Bytes: blob.Size,
			Stored: blob.Modified, Reason: reason,
		}
		j.act.item(ctx, item, func(ctx context.Context) error { return j.st.Remove(ctx, blob.Object) })
	}
	return nil
}
