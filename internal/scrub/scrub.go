package scrub

import (
	"sync"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/walk"
)

// Scrubber redacts what pdata holds. It is safe for concurrent use.
type Scrubber struct {
	policy *redact.Policy
	clean  cleanValues
	// visitors are used again, with the names they remember.
	visitors sync.Pool
}

// New makes a Scrubber that follows policy.
func New(policy *redact.Policy) *Scrubber { return &Scrubber{policy: policy} }

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
	v := s.visitor(texts)
	walk.Traces(td, v)
	return s.done(v)
}

// LogsWith is Logs with another way to redact string values; nil is none.
func (s *Scrubber) LogsWith(ld plog.Logs, texts Texts) Stats {
	v := s.visitor(texts)
	walk.Logs(ld, v)
	return s.done(v)
}

func (s *Scrubber) visitor(texts Texts) *visitor {
	v, _ := s.visitors.Get().(*visitor)
	if v == nil {
		v = &visitor{s: s, p: s.policy}
	}
	v.texts = texts
	return v
}

// maxScratch bounds the hits and paths that a visitor keeps room for.
const maxScratch = 256

func (s *Scrubber) done(v *visitor) Stats {
	stats := v.stats
	v.stats, v.texts = Stats{}, nil
	if max(cap(v.hits.List), cap(v.paths), cap(v.levels)) > maxScratch {
		v.hits, v.paths, v.levels = redact.Hits{}, nil, nil
	}
	clear(v.hits.List[:cap(v.hits.List)])
	clear(v.paths[:cap(v.paths)])
	clear(v.levels[:cap(v.levels)])
	v.hits.List, v.paths, v.levels = v.hits.List[:0], v.paths[:0], v.levels[:0]
	s.visitors.Put(v)
	return stats
}
