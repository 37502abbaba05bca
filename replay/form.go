package replay

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tapedeck/tapedeck/tape"
)

// WithForm rewrites the arguments of a kind to a neutral form before they are
// compared, on both sides: those on the tape when it is opened, those of a call
// when it comes. So a model request in a provider's words matches a record in the
// words of the tape, or of another provider. Keys, differences and what is
// recorded are then of that form; records keep their seq.
//
// The form must depend on nothing but the arguments, must not keep or change
// them, and is called by several goroutines at once. It is not called for null.
// An error refuses the tape or the call. One form a kind: the last one counts.
func WithForm(kind tape.Kind, form func(args json.RawMessage) (json.RawMessage, error)) Option {
	return func(c *config) error {
		if err := WithKinds(kind)(&config{}); err != nil {
			return err
		}
		if form == nil {
			return fmt.Errorf("the form of %s calls is nil", kind)
		}
		if c.forms == nil {
			c.forms = map[tape.Kind]func(json.RawMessage) (json.RawMessage, error){}
		}
		c.forms[kind] = form
		return nil
	}
}

// formed is arguments in the form of their kind.
func (c *config) formed(kind tape.Kind, args json.RawMessage) (json.RawMessage, error) {
	form := c.forms[kind]
	if form == nil || len(args) == 0 || string(args) == "null" {
		return args, nil
	}
	out, err := form(args)
	if err != nil {
		return nil, fmt.Errorf("neutral form: %w", err)
	}
	return out, nil
}

// recordArgs are the arguments of a record, whether they stand in it or are held
// by reference.
func (c *config) recordArgs(r *tape.Record) (json.RawMessage, error) {
	body := argsBody(r)
	if body == nil {
		return r.Args, nil
	}
	if c.bodies == nil {
		return nil, errNoBodies
	}
	return fetch(context.Background(), c.bodies, body)
}
