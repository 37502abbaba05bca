// Package attr holds the names of the attributes Tapedeck adds to spans and
// resources, and carries a run's row on a span.
//
// It is the one place where the processor, which writes these attributes, and
// the exporter, the dialects and the API, which read them, agree on spelling.
// Writing a row costs one attribute for each member that is set; reading one
// from a span that has none costs a single lookup.
package attr

import (
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/pdata/pcommon"
)

// Prefix starts the name of every attribute of this package.
const Prefix = "tape."

// Attributes of a span that stands for a call.
const (
	// Kind is the record's kind: tool, model, clock or random.
	Kind = "tape.kind"
	// Seq is the record's 1-based position in the tape, an integer.
	Seq = "tape.seq"
	// Key is the record's key.
	Key = "tape.key"
	// Dialect names the translator that read the span.
	Dialect = "tape.dialect"
	// FailureClass is the class of a failed call.
	FailureClass = "tape.failure_class"
	// FailureEvidence is what shows why the run failed, a slice of strings: on the
	// call that made it fail, else on the span that carries the row.
	FailureEvidence = "tape.failure_evidence"
)

// Attributes of every span of a kept run.
const (
	// Outcome is the run's outcome. A span without it has not been decided.
	Outcome = "tape.outcome"
	// Trigger is what caused the decision.
	Trigger = "tape.trigger"
)

// Attributes about redaction.
const (
	// Redacted lists, on a span, the paths whose value was replaced; a slice of
	// strings.
	Redacted = "tape.redacted"
	// Redaction is, on a resource, the id of the policy that redacted all its
	// spans. Spans below a resource without it must be redacted before they are
	// stored.
	Redaction = "tape.redaction"
	// RedactionRules is, on a resource, the rules of that policy as JSON, where
	// it is not the default one: a replay needs them to redact live arguments
	// the same way.
	RedactionRules = "tape.redaction.rules"
)

// Class is, on a resource, the class of the kept run whose spans are below it, where
// no span of the request carries the row that says so.
const Class = "tape.class"

// Summary is true on the single span that stands for a run that was not kept.
const Summary = "tape.summary"

// RunPrefix starts the name of every member of a row on a span; the rest of
// the name is the member's JSON name.
const RunPrefix = "tape.run."

// IsSummary reports whether the attributes are those of a summary span.
func IsSummary(m pcommon.Map) bool {
	v, ok := m.Get(Summary)
	return ok && v.Type() == pcommon.ValueTypeBool && v.Bool()
}

// OutcomeOf is the outcome marked on a span, or "" on a span that has not been
// decided.
func OutcomeOf(m pcommon.Map) tape.Outcome {
	if v, ok := m.Get(Outcome); ok && v.Type() == pcommon.ValueTypeStr {
		return tape.Outcome(v.Str())
	}
	return ""
}
