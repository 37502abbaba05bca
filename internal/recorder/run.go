package recorder

import (
	"time"

	"github.com/tapedeck/tapedeck/internal/once"
	"github.com/tapedeck/tapedeck/internal/spool"
	"github.com/tapedeck/tapedeck/tape"
)

// ID is a trace id.
type ID = spool.ID

type position = spool.Position

type state uint8

const (
	// stateNew: somebody is about to give the run its first spans.
	stateNew state = iota
	stateOpen
	stateKept
	stateSummarised
	stateLetGo
	stateDropped
)

func (s state) decided() bool { return s > stateOpen }

// run is what is known about a trace id while anything of it is in the spool. It
// costs about 200 bytes and four for each record, so that times are numbers, lists
// go through the runs themselves, and what few runs need is behind a pointer.
//
// Whoever has set busy owns everything but the fields of the shard's lists, which
// its lock guards, as it does busy itself.
type run struct {
	id ID
	// records are the places of the run's records in the spool, in their order. A
	// run that was cut has its tail in cut.
	records []position

	// first and last are when spans came, rooted when one without parent did, in
	// nanoseconds; 0 is never.
	first, last, rooted int64
	// decided is when the run was.
	decided int64
	// retry is the time before which no decision is tried.
	retry int64
	// bytes are those of the spans as they came.
	bytes int64

	spans, logs uint32

	state state
	// trigger of the decision, or of one that could not be handed on.
	trigger  trigger
	outcome  outcome
	attempts uint8

	busy bool
	// asked: somebody wants the run kept, whatever its outcome.
	asked bool
	// session: some of its records came without a trace.
	session bool
	// stale: some of its records were redacted under another policy.
	stale bool
	// forced: trigger is that of a decision that is tried again.
	forced bool

	// due is where the run stands in the schedule, -1 when it does not.
	due int32
	// at is the time it stands there with.
	at int64
	// wait is closed when the owner is done; nil while nobody waits.
	wait chan struct{}
	// in is the list of open or of held runs that the run is in, prev and next are
	// its neighbours there.
	in         *queue
	prev, next *run
	// table knows the texts that are in the records.
	table once.Table
	// cut is what became of a run that outgrew its bounds.
	cut *cutting
}

func (r *run) amount() Amount { return Amount{int(r.spans), int(r.logs)} }

func (r *run) add(n Amount) {
	r.spans += uint32(n.Spans)
	r.logs += uint32(n.Records)
}

func (r *run) sub(n Amount) {
	r.spans -= uint32(n.Spans)
	r.logs -= uint32(n.Records)
}

// places are all records of the run in the spool, in the order in which they came.
func (r *run) places() []position {
	if r.cut == nil {
		return r.records
	}
	all := append([]position(nil), r.records...)
	for i := range r.cut.tail {
		all = append(all, r.cut.tail[i].records...)
	}
	return all
}

// fate is what stays of a run of which nothing is in the spool any more.
type fate struct {
	state   state
	trigger trigger
	outcome outcome
}

// Triggers and outcomes are one byte each in the index and in the spool.
// New ones are added at the end: the numbers are on disk.
type (
	trigger uint8
	outcome uint8
)

var triggers = []tape.Trigger{
	"", tape.TriggerRootEnded, tape.TriggerIdle, tape.TriggerMaxAge, tape.TriggerSize,
	tape.TriggerEvicted, tape.TriggerShutdown, tape.TriggerLateFailure, tape.TriggerAsked,
}

var outcomes = []tape.Outcome{
	"", tape.OutcomeFailed, tape.OutcomeRecovered, tape.OutcomeIncomplete, tape.OutcomeSucceeded,
}

func (t trigger) name() tape.Trigger { return nameOf(triggers, t) }
func (o outcome) name() tape.Outcome { return nameOf(outcomes, o) }

// nameOf is the name for a number, that of 0 for one which is not known here.
func nameOf[N ~uint8, S ~string](names []S, n N) S {
	if int(n) >= len(names) {
		return names[0]
	}
	return names[n]
}

// numberOf is the number of a name, 0 when there is none.
func numberOf[N ~uint8, S ~string](names []S, s S) N {
	for i, name := range names {
		if name == s {
			return N(i)
		}
	}
	return 0
}

func nanos(t time.Time) int64 { return t.UnixNano() }
