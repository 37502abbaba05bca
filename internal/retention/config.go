package retention

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/tape"
)

// Config is a policy as people write it.
type Config struct {
	// Rules are asked in order; the first that matches takes the run. Without any,
	// there is one, named failures, which keeps runs that failed, recovered or never
	// ended for 30 days.
	Rules []Rule `mapstructure:"rules"`
	// Default takes the runs that no rule takes, and says how long what lies under a
	// class stays that no rule has.
	Default Class `mapstructure:"default"`
	// Summaries says how long the rows of runs stay that were not kept.
	Summaries Summaries `mapstructure:"summaries"`
	// Grace is how long a policy stands before anything goes by it, and how long what
	// no tape names waits for one. It must be longer than runs may wait to be stored,
	// in a queue on disk for example.
	Grace time.Duration `mapstructure:"grace"`
	// Interval is the time between two sweeps; 0 is none at all.
	Interval time.Duration `mapstructure:"interval"`
}

// Class says how long something stays, under which name.
type Class struct {
	// Name of the class, which is a folder of the store.
	Name string `mapstructure:"name" json:"name"`
	// Keep says how long a run stays after it was stored.
	Keep Keep `mapstructure:"keep" json:"keep"`
	// MaxBytes bounds what the class takes in a directory, in bytes; 0 is no bound.
	// The oldest runs go first.
	MaxBytes int64 `mapstructure:"max_bytes" json:"max_bytes,omitempty"`
}

// Rule takes the runs for which everything it asks for is so. Of several values, any
// will do.
type Rule struct {
	Class `mapstructure:",squash"`
	// Outcome, FailureClass, Service and Tenant are those of the run.
	Outcome      []string `mapstructure:"outcome" json:"outcome,omitempty"`
	FailureClass []string `mapstructure:"failure_class" json:"failure_class,omitempty"`
	Service      []string `mapstructure:"service" json:"service,omitempty"`
	Tenant       []string `mapstructure:"tenant" json:"tenant,omitempty"`
	// Attributes are other members of the row of a run, by their names there or by
	// those of the attributes they come from.
	Attributes map[string][]string `mapstructure:"attributes" json:"attributes,omitempty"`
}

// Summaries is about runs of which only a row is left.
type Summaries struct {
	// Keep says how long a row stays after the decision.
	Keep Keep `mapstructure:"keep" json:"keep"`
}

// Defaults.
const (
	// ClassFailures takes runs in which something went wrong, ClassKept all others.
	ClassFailures = "failures"
	ClassKept     = "kept"

	DefaultGrace    = 72 * time.Hour
	DefaultInterval = time.Hour
	// minGrace is longer than a writer remembers which bodies are there.
	minGrace = time.Hour
)

// DefaultConfig keeps failures and what was kept for another reason for 30 days,
// and summaries for 7.
func DefaultConfig() Config {
	return Config{
		Default:   Class{Name: ClassKept, Keep: Keep(30 * day)},
		Summaries: Summaries{Keep: Keep(7 * day)},
		Grace:     DefaultGrace,
		Interval:  DefaultInterval,
	}
}

// defaultRules stand where no rules are configured.
func defaultRules() []Rule {
	return []Rule{{
		Class:   Class{Name: ClassFailures, Keep: Keep(30 * day)},
		Outcome: []string{string(tape.OutcomeFailed), string(tape.OutcomeRecovered), string(tape.OutcomeIncomplete)},
	}}
}

// Validate checks names, times and what rules ask for. Each error names the rule.
func (c *Config) Validate() error {
	var errs []error
	names := map[string]bool{}
	check := func(where string, class *Class) {
		if err := class.check(names); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", where, err))
		}
	}
	for i := range c.Rules {
		r := &c.Rules[i]
		where := fmt.Sprintf("rules::%d", i)
		check(where, &r.Class)
		if err := r.check(); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", where, err))
		}
	}
	check("default", &c.Default)
	if err := c.Summaries.Keep.check(); err != nil {
		errs = append(errs, fmt.Errorf("summaries: %w", err))
	}
	if c.Grace < minGrace {
		errs = append(errs, fmt.Errorf("grace must be at least %v: %v", minGrace, c.Grace))
	}
	if c.Interval < 0 {
		errs = append(errs, fmt.Errorf("interval must not be negative: %v", c.Interval))
	}
	return errors.Join(errs...)
}

func (c *Class) check(names map[string]bool) error {
	if err := store.CheckClass(c.Name); err != nil {
		return fmt.Errorf("name: %w", err)
	}
	var errs []error
	if names[c.Name] {
		errs = append(errs, fmt.Errorf("name: there is another class %s", c.Name))
	}
	names[c.Name] = true
	if c.Name == store.PinnedClass {
		errs = append(errs, fmt.Errorf("name: the class %s is for runs that were asked for, which stay", c.Name))
	}
	errs = append(errs, c.Keep.check())
	if c.MaxBytes < 0 {
		errs = append(errs, fmt.Errorf("max_bytes must not be negative: %d", c.MaxBytes))
	}
	return errors.Join(errs...)
}

var outcomes = []string{
	string(tape.OutcomeFailed), string(tape.OutcomeRecovered), string(tape.OutcomeIncomplete), string(tape.OutcomeSucceeded),
}

func (r *Rule) check() error {
	var errs []error
	if len(r.Outcome)+len(r.FailureClass)+len(r.Service)+len(r.Tenant)+len(r.Attributes) == 0 {
		errs = append(errs, errors.New("it asks for nothing: what takes all runs is the default"))
	}
	for _, o := range r.Outcome {
		if !slices.Contains(outcomes, o) {
			errs = append(errs, fmt.Errorf("outcome: %q is none of %s", o, strings.Join(outcomes, ", ")))
		}
	}
	for _, c := range r.FailureClass {
		if !slices.Contains(tape.FailureClasses, c) {
			errs = append(errs, fmt.Errorf("failure_class: %q is none of %s", c, strings.Join(tape.FailureClasses, ", ")))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Attributes)) {
		if _, ok := members[name]; !ok {
			errs = append(errs, fmt.Errorf("attributes: a row has no %q, but %s", name,
				strings.Join(slices.Sorted(maps.Keys(members)), ", ")))
		}
		if len(r.Attributes[name]) == 0 {
			errs = append(errs, fmt.Errorf("attributes: %s: no value is given", name))
		}
	}
	return errors.Join(errs...)
}

// HasBounds reports whether any class has a bound in bytes.
func (c *Config) HasBounds() bool {
	return c.Default.MaxBytes > 0 || slices.ContainsFunc(c.Rules, func(r Rule) bool { return r.MaxBytes > 0 })
}
