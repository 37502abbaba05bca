package recorder

import (
	"time"

	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/tape"
)

// Reasons for dropping spans. Nothing is lost by a duplicate.
const (
	// DropNoTraceID: a span without a trace id belongs to no run, and a log record
	// without a trace id and a session to none either.
	DropNoTraceID = "no_trace_id"
	// DropRefused: the next component refused the run for good.
	DropRefused = "refused"
	// DropShutdown: the next component did not take the run before the end.
	DropShutdown = "shutdown"
	// DropDamaged: what the spool returned could not be read.
	DropDamaged = "damaged"
	// DropDuplicate: a span that came again while its run was open, and is in it once.
	DropDuplicate = "duplicate"
	// DropTruncated: the middle of a run that outgrew its bounds.
	DropTruncated = "truncated"
)

// Amount is how much of a request or a run is meant.
type Amount struct{ Spans, Records int }

func (a Amount) size() int { return a.Spans + a.Records }

// Telemetry counts what happens. Over any span of time
//
//	recovered + received + upgraded = kept + summarised + let go + passed + dropped + open
//
// where open is what belongs to undecided runs, and recovered what belonged to them
// when the recorder was opened; upgraded is what was counted before and is kept, or
// open, after all. It holds for spans and for log records.
type Telemetry interface {
	// Recovered counts what open runs had in the spool at the start.
	Recovered(Amount)
	Received(Amount)
	Upgraded(Amount)
	Kept(Amount)
	Summarised(Amount)
	LetGo(Amount)
	Passed(Amount)
	Dropped(reason string, n Amount)
	// Late counts what came after the decision about its run.
	Late(Amount)
	// Decided counts a decision and its row. Runs let go or passed on have no
	// outcome.
	Decided(tape.Row)
	// Took is told how long a decision took, from reading the run to the note that
	// it was handed on.
	Took(time.Duration)
	// Examined is told how far the tape of a decided run can be replayed.
	Examined(doctor.Report)
	// Redacted counts replaced values by type.
	Redacted(byType map[string]int)
	// Saved counts bytes of texts that were not stored again.
	Saved(bytes int64)
	// Offloaded counts bodies moved to the store; failed ones stayed inline.
	Offloaded(bodies int, bytes int64, failed int)
	// Retried counts decisions that the next component did not take at once.
	Retried()
}
