package recorder

import "github.com/tapedeck/tapedeck/tape"

// Reasons for dropping spans.
const (
	// DropNoTraceID: a span without a trace id belongs to no run.
	DropNoTraceID = "no_trace_id"
	// DropRefused: the next component refused the run for good.
	DropRefused = "refused"
	// DropShutdown: the next component did not take the run before the end.
	DropShutdown = "shutdown"
	// DropDamaged: what the buffer returned could not be read.
	DropDamaged = "damaged"
)

// Telemetry counts what happens. Over any span of time
//
//	received + upgraded = kept + summarised + let go + passed + dropped + open
//
// where open are the spans of undecided runs; upgraded are spans that were
// counted as summarised and are kept after all.
type Telemetry interface {
	Received(spans int)
	Upgraded(spans int)
	Kept(spans int)
	Summarised(spans int)
	LetGo(spans int)
	Passed(spans int)
	Dropped(reason string, spans int)
	// Late counts spans that came after the decision about their run.
	Late(spans int)
	// Decided counts a decision. Runs let go or passed on have no outcome.
	Decided(outcome tape.Outcome, trigger tape.Trigger, kept bool)
	// Redacted counts replaced values by type.
	Redacted(byType map[string]int)
	// Offloaded counts bodies moved to the store; failed ones stayed inline.
	Offloaded(bodies int, bytes int64, failed int)
	// Retried counts decisions that the next component did not take at once.
	Retried()
}
