package replay

import (
	"context"
	"errors"

	"github.com/tapedeck/tapedeck/tape"
)

// Observer is told of each call that a session runs live, such as to emit a span
// for it; see package replayotel. It is called by several goroutines at once.
type Observer interface {
	// Begin is told that a call begins, with its redacted arguments, and returns the
	// context that the call runs with and a function that is told of the whole record,
	// redacted, when it has ended. The record must not be changed or kept.
	Begin(ctx context.Context, r *tape.Record) (context.Context, func(r *tape.Record))
}

// WithObserver tells an observer of each call that runs live.
func WithObserver(o Observer) Option {
	return func(c *config) error {
		if o == nil {
			return errors.New("the observer is nil")
		}
		c.observers = append(c.observers, o)
		return nil
	}
}

func (s *Session) observe(ctx context.Context, r *tape.Record) (context.Context, func(*tape.Record)) {
	ends := make([]func(*tape.Record), len(s.cfg.observers))
	for i, o := range s.cfg.observers {
		ctx, ends[i] = o.Begin(ctx, r)
	}
	return ctx, func(r *tape.Record) {
		for i := len(ends) - 1; i >= 0; i-- {
			ends[i](r)
		}
	}
}
