package store

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"
)

// PinnedClass holds copies of the runs that are to stay whatever the rules of
// retention say. They are copies with bodies of their own, so that neither the rule
// of another class nor a bucket that deletes by age can take anything from them.
const PinnedClass = "pinned"

// Pinned says what Pin has done.
type Pinned struct {
	// Fragments and Bodies were copied or there already.
	Fragments, Bodies int
	// Missing are the hashes of bodies that were gone before.
	Missing []string
}

// Pin copies what is stored of a run, and its bodies, to the class of pinned runs.
// refs lists the hashes of the bodies that spans name. Pinning again adds what came
// since. The error is ErrNotFound when nothing is stored of the run. A pinned run
// goes by [Store.Delete] alone.
func (s *Store) Pin(ctx context.Context, traceID string, refs func(ptrace.Traces) []string) (Pinned, error) {
	id, err := ParseTraceID(traceID)
	if err != nil {
		return Pinned{}, err
	}
	objects, err := s.allFragments(ctx, id)
	if err != nil {
		return Pinned{}, err
	}
	run := &Run{}
	objects = run.distinct(objects)
	at, err := s.decidedAt(ctx, id)
	if err != nil {
		return Pinned{}, err
	}
	places := []Place{{PinnedClass, at}}
	for _, class := range run.Classes {
		places = append(places, Place{class, at})
	}
	var p Pinned
	var damaged error
	done := map[string]bool{}
	for _, object := range objects {
		td, err := s.fragment(ctx, object.Name)
		switch {
		case errors.Is(err, ErrNotFound):
			continue
		case errors.Is(err, ErrDamaged), errors.Is(err, ErrTooLarge):
			s.damaged(object.Name, err)
			damaged = err
			continue
		case err != nil:
			return p, err
		}
		// Bodies go first, as always.
		for _, sha := range refs(td) {
			if done[sha] {
				continue
			}
			done[sha] = true
			if err := s.pinBody(ctx, sha, places, &p); err != nil {
				return p, fmt.Errorf("pin %s: %w", id, err)
			}
		}
		if err := s.copyObject(ctx, object, runFolder(PinnedClass, id)+path.Base(object.Name)); err != nil {
			return p, fmt.Errorf("pin %s: %w", id, err)
		}
		p.Fragments++
	}
	switch {
	case p.Fragments > 0:
		return p, nil
	case damaged != nil:
		return p, damaged
	default:
		return p, fmt.Errorf("pin %s: %w", id, ErrNotFound)
	}
}

func (s *Store) pinBody(ctx context.Context, sha string, places []Place, p *Pinned) error {
	data, err := s.Blob(ctx, sha, places...)
	switch {
	case err == nil:
		p.Bodies++
		return s.PutBlob(ctx, PinnedClass, places[0].At, sha, data)
	case errors.Is(err, ErrNotFound), errors.Is(err, ErrDamaged), errors.Is(err, ErrTooLarge), errors.Is(err, ErrBadName):
		p.Missing = append(p.Missing, sha)
		return nil
	default:
		return err
	}
}

// copyObject gives an object, byte for byte, a second name.
func (s *Store) copyObject(ctx context.Context, from Object, to string) error {
	if from.Name == to {
		return nil
	}
	data, err := s.backend.GetRange(ctx, from.Name, 0, from.Size)
	if err != nil {
		return err
	}
	return s.backend.Put(ctx, to, data)
}

// decidedAt is when a run was decided, and the present when nothing tells.
func (s *Store) decidedAt(ctx context.Context, id string) (time.Time, error) {
	row, err := s.Row(ctx, id)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return time.Time{}, err
	}
	if at := parseTime(row.Decided); !at.IsZero() {
		return at, nil
	}
	return s.now(), nil
}
