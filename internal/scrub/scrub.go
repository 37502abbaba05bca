package scrub

import (
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/walk"
)

// Scrubber redacts what pdata holds. It is safe for concurrent use.
type Scrubber struct {
	policy *redact.Policy
}

// New makes a Scrubber that follows policy.
func New(policy *redact.Policy) *Scrubber { return &Scrubber{policy} }

// Policy is what the Scrubber follows.
func (s *Scrubber) Policy() *redact.Policy { return s.policy }

// Stats counts what one call replaced.
type Stats struct {
	// Values is the number of replaced ranges, names and leaves.
	Values int
	// Types counts them by rule type; nil when there are none.
	Types map[string]int
}

// Traces redacts td in place.
func (s *Scrubber) Traces(td ptrace.Traces) Stats {
	v := visitor{p: s.policy}
	walk.Traces(td, &v)
	return v.stats
}

// Logs redacts ld in place.
func (s *Scrubber) Logs(ld plog.Logs) Stats {
	v := visitor{p: s.policy}
	walk.Logs(ld, &v)
	return v.stats
}
