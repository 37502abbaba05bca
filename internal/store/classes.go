package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	// classesFor is for how long the list of classes is remembered. A class is a
	// rule of the configuration, and comes and goes as seldom.
	classesFor = 10 * time.Second
	// parallel bounds the requests of one read that are under way together.
	parallel = 16
)

// classes remembers which classes a folder of the store has, so that a read need
// not list them first.
type classes struct {
	backend Reader
	folder  string
	now     func() time.Time

	mu    sync.Mutex
	names []string
	at    time.Time
}

// list gives the classes, sorted. fresh reports that they were asked for now.
func (c *classes) list(ctx context.Context) (names []string, fresh bool, err error) {
	c.mu.Lock()
	names, at := c.names, c.at
	c.mu.Unlock()
	if age := c.now().Sub(at); len(names) > 0 && age >= 0 && age < classesFor {
		return names, false, nil
	}
	names, err = c.again(ctx)
	return names, true, err
}

// again asks for the classes now.
func (c *classes) again(ctx context.Context) ([]string, error) {
	at := c.now()
	names, err := c.backend.Folders(ctx, c.folder)
	if err != nil {
		return nil, fmt.Errorf("list classes: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.names, c.at = names, at
	return names, nil
}

// add is for a class that was just written to.
func (c *classes) add(class string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at, ok := slices.BinarySearch(c.names, class); !ok && len(c.names) > 0 {
		// Whoever has the old list goes on reading it.
		c.names = slices.Insert(slices.Clone(c.names), at, class)
	}
}

// fragments lists the objects of a run in all classes, in parallel, those too that are
// no fragments by their names: what is read says so, and what is deleted is gone. A class that
// another process has begun since they were remembered is found when the run is in
// no other, and else within classesFor.
func (s *Store) fragments(ctx context.Context, id string) ([]Object, error) {
	names, fresh, err := s.tapeClasses.list(ctx)
	if err != nil {
		return nil, err
	}
	objects, err := s.fragmentsIn(ctx, names, id)
	if err != nil || len(objects) > 0 || fresh {
		return objects, err
	}
	all, err := s.tapeClasses.again(ctx)
	if err != nil {
		return nil, err
	}
	return s.fragmentsIn(ctx, without(all, names), id)
}

// allFragments is fragments for those who must not miss any.
func (s *Store) allFragments(ctx context.Context, id string) ([]Object, error) {
	names, err := s.tapeClasses.again(ctx)
	if err != nil {
		return nil, err
	}
	return s.fragmentsIn(ctx, names, id)
}

func (s *Store) fragmentsIn(ctx context.Context, classes []string, id string) ([]Object, error) {
	found := make([][]Object, len(classes))
	err := each(ctx, len(classes), func(ctx context.Context, i int) error {
		for object, err := range s.backend.List(ctx, runFolder(classes[i], id)) {
			if err != nil {
				return fmt.Errorf("list fragments of %s: %w", id, err)
			}
			if err := CheckName(object.Name); err != nil {
				// No backend would read or delete it.
				s.damaged(object.Name, err)
				continue
			}
			found[i] = append(found[i], object)
		}
		return nil
	})
	return slices.Concat(found...), err
}

// each calls fn with 0 to n-1, some at a time, until one fails.
func each(ctx context.Context, n int, fn func(ctx context.Context, i int) error) error {
	if n == 1 {
		return fn(ctx, 0)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(parallel)
	for i := range n {
		group.Go(func() error { return fn(groupCtx, i) })
	}
	err := group.Wait()
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return context.Cause(ctx)
	}
	return err
}

func without(list, but []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(but, s) })
}
