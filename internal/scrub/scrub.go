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
func (s *Scrubber) Traces(td ptrace.Traces) Stats { return s.TracesWith(td, nil) }

// Logs redacts ld in place.
func (s *Scrubber) Logs(ld plog.Logs) Stats { return s.LogsWith(ld, nil) }

// Texts redacts string values in the place of the Scrubber, which still works
// out their context, counts and notes.
type Texts interface {
	// Text gives what shall stand in place of the string value s of an attribute
	// or a body, and appends to hits what [redact.Policy.Leaf] would for the same
	// context and string.
	Text(at *walk.Path, c redact.Context, s string, hits *redact.Hits) string
}

// TracesWith is Traces with another way to redact string values; nil is none.
func (s *Scrubber) TracesWith(td ptrace.Traces, texts Texts) Stats {
	v := visitor{p: s.policy, texts: texts}
	walk.Traces(td, &v)
	return v.stats
}

// LogsWith is Logs with another way to redact string values; nil is none.
func (s *Scrubber) LogsWith(ld plog.Logs, texts Texts) Stats {
	v := visitor{p: s.policy, texts: texts}
	walk.Logs(ld, &v)
	return v.stats
}
