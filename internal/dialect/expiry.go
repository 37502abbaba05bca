package dialect

import (
	"errors"
	"fmt"
	"time"

	"github.com/tapedeck/tapedeck/tape"
)

// RecordedExpires is when a recorder said that an answer stops being true, in RFC 3339.
const RecordedExpires = "tape.member.expires"

// ExpiryRule says how long the answers of some tools stay true, such as a price, a
// balance or what is in stock:
//
//	{tool: "price_*", after: 15m}
type ExpiryRule struct {
	// Tool is a glob over names of tools, as path.Match has it.
	Tool string `mapstructure:"tool"`
	// After is how long after the end of the call.
	After time.Duration `mapstructure:"after"`
}

// Validate says why a rule can never work.
func (r *ExpiryRule) Validate() error {
	if err := checkGlob(r.Tool); err != nil {
		return fmt.Errorf("tool: %w", err)
	}
	if r.After <= 0 {
		return errors.New("after must be more than zero")
	}
	return nil
}

// expires sets when a replay of the record begins to warn: what its recorder said, else
// what the first rule for its tool says.
func (r *run) expires(n *node, rec *tape.Record) {
	if n.Span != nil {
		if said := n.Str(RecordedExpires); said != "" {
			if _, err := time.Parse(time.RFC3339Nano, said); err == nil {
				rec.Expires = said
				return
			}
		}
	}
	if n.kind != KindTool || n.end <= 0 {
		return
	}
	rules := r.opts.config().Expires
	for i := range rules {
		if matches(rules[i].Tool, n.call.Tool) {
			rec.Expires = stamp(n.end + int64(rules[i].After))
			return
		}
	}
}
