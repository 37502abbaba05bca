package replay

import (
	"fmt"
	"path"
	"time"

	"github.com/tapedeck/tapedeck/tape"
)

// expiry is how long the answers of some tools stay true.
type expiry struct {
	tools string
	after time.Duration
}

// WithExpiry says how long what is recorded of some tools stays true, such as a
// price, a balance or what is in stock; tools is a pattern of names as in path.Match.
// Of several that fit the first counts. A replay past that time serves the record
// and counts it, or refuses it with [WithExpiredAsGap].
func WithExpiry(tools string, after time.Duration) Option {
	return func(c *config) error {
		if _, err := path.Match(tools, ""); err != nil || tools == "" {
			return fmt.Errorf("expiry of %q: no pattern of names", tools)
		}
		if after <= 0 {
			return fmt.Errorf("expiry of %s after %v: want a time to come", tools, after)
		}
		c.expiries = append(c.expiries, expiry{tools, after})
		return nil
	}
}

// expire sets when a record that began at start expires.
func (s *Session) expire(r *tape.Record, start time.Time) {
	for _, e := range s.cfg.expiries {
		if ok, _ := path.Match(e.tools, r.Tool); ok {
			r.Expires = start.Add(e.after).UTC().Format(time.RFC3339Nano)
			return
		}
	}
}
