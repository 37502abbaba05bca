package replay

import (
	"errors"

	"github.com/tapedeck/tapedeck/replay/rules"
)

// WithRules says what may differ between a call and the record that answers it,
// and what of model calls is compared. Given more than once, the rules of the
// earlier policy come first, and the parameters that the later one names count.
func WithRules(policy *rules.Policy) Option {
	return func(c *config) error {
		if policy == nil {
			return errors.New("the rules are nil")
		}
		c.rules.Add(policy)
		return nil
	}
}

// WithRedactedAsGap makes a record whose answer has a placeholder in place of a
// value a gap: what a program makes of a placeholder may not be what it made of
// the value. Without it such an answer is served and counted.
func WithRedactedAsGap() Option {
	return func(c *config) error {
		c.failRedacted = true
		return nil
	}
}

// compileRules makes the rules ready, once all options are known.
func (c *config) compileRules() (err error) {
	if len(c.rules.Rules)+len(c.rules.Presets) > 0 {
		c.set, err = rules.Compile(&c.rules)
	}
	return err
}

// rulesOrNil is the policy for reports.
func (c *config) rulesOrNil() *rules.Policy {
	if c.rules.Empty() {
		return nil
	}
	return &c.rules
}
