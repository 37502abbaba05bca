package recorder

import (
	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/tape"
)

// Reasons for dropping spans.
const (
	// DropNoTraceID: a span without a trace id belongs to no run, and a log record
	// without a trace id and a session to none either.
	DropNoTraceID = "no_trace_id"
	// DropRefused: the next component refused the run for good.
	DropRefused = "refused"
	// DropShutdown: the next component did not take the run before the end.
	DropShutdown = "shutdown"
	// DropDamaged: what the buffer returned could not be read.
	DropDamaged = "damaged"
)

// Amount is how much of a request or a run is meant.
type Amount struct{ Spans, Records int }

// Telemetry counts what happens. Over any span of time
//
//	received + upgraded = kept + summarised + let go + passed + dropped + open
//
// where open is what belongs to undecided runs; upgraded is what was counted as
// summarised and is kept after all. It holds for spans and for log records.
type Telemetry interface {
	Received(Amount)
	Upgraded(Amount)
	Kept(Amount)
	Summarised(Amount)
	LetGo(Amount)
	Passed(Amount)
	Dropped(reason string, n Amount)
	// Late counts what came after the decision about its run.
	Late(Amount)
	// Decided counts a decision. Runs let go or passed on have no outcome.
	Decided(outcome tape.Outcome, trigger tape.Trigger, kept bool)
	// Examined is told how far the tape of a decided run can be replayed.
	Examined(doctor.Report)
	// Redacted counts replaced values by type.
	Redacted(byType map[string]int)
	// Offloaded counts bodies moved to the store; failed ones stayed inline.
	Offloaded(bodies int, bytes int64, failed int)
	// Retried counts decisions that the next component did not take at once.
	Retried()
}
