package recorder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/cut"
	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/internal/logfold"
	"github.com/tapedeck/tapedeck/internal/offload"
	"github.com/tapedeck/tapedeck/tape"
)

// errDamaged marks a run of which the spool returned nothing that can be read.
var errDamaged = errors.New("spans in the spool cannot be read")

// verdict is what becomes of a run, ready to be handed on.
type verdict struct {
	fate state
	row  tape.Row
	out  []ptrace.Traces
	// amount is how much was judged, which is less than came when the spool lost
	// some, or when there were duplicates.
	amount, duplicates Amount
	// report says how far the tape can be replayed; nil where there is no call.
	report *doctor.Report
	// tape is that of the run.
	tape *tape.Tape

	offloaded offload.Stats
}

// count reports a decision that was handed on.
func (v verdict) count(t Telemetry) {
	t.Decided(v.row)
	if v.report != nil {
		t.Examined(*v.report)
	}
	v.countContent(t)
}

func (v verdict) countContent(t Telemetry) {
	t.Offloaded(v.offloaded.Bodies, v.offloaded.Bytes, v.offloaded.Failed)
}

// judge reads a run that the caller owns from the spool and decides about it. With
// wanted, that is why it is kept.
func (r *Recorder) judge(ctx context.Context, rn *run, trigger tape.Trigger, wanted tape.Reason) (verdict, error) {
	p := r.load(rn)
	if err := r.claimRecords(rn, &p); err != nil {
		return verdict{}, err
	}
	if p.amount() == (Amount{}) && !rn.truncated() {
		return verdict{}, fmt.Errorf("%w: trace %x: %w", errDamaged, rn.id, p.broken)
	}
	r.refresh(rn, &p)
	duplicates := Amount{Spans: dropDuplicates(p.td)}
	td, v, t := r.examine(&p, trigger, rn)
	v.tape, v.duplicates = t, duplicates
	if v.row.Outcome == "" {
		v.fate = stateLetGo
		v.amount.Spans += duplicates.Spans
		v.duplicates = Amount{}
		if !r.cfg.PassThrough {
			return v, nil
		}
		spans, _ := logfold.Unfold(td)
		if duplicates.Spans > 0 {
			// What is nobody's run goes on as it came.
			p = r.load(rn)
			r.refresh(rn, &p)
			spans = p.td
		}
		if spans.SpanCount() > 0 {
			v.out = r.requests(spans)
		}
		return v, nil
	}
	if v.row.KeptBecause = wanted; wanted == "" {
		v.row.KeptBecause = r.reason(ctx, rn, td, v.row)
	}
	if v.row.KeptBecause != "" {
		return v, r.pack(ctx, td, t, &v)
	}
	v.fate = stateSummarised
	v.out = r.requests(r.ofTenant(td, summary(td, v.row)))
	return v, nil
}

// refresh gives what waited under another policy the one that its spans will name.
func (r *Recorder) refresh(rn *run, p *parts) {
	if rn.stale {
		r.deps.Scrubber.Traces(p.td)
		r.deps.Scrubber.Logs(p.ld)
	}
}

// examine puts what is known of one run into one trace and translates it. The
// outcome is empty where no call is in it: of what is no agent's run it is nobody's
// business.
func (r *Recorder) examine(p *parts, trigger tape.Trigger, rn *run) (ptrace.Traces, verdict, *tape.Tape) {
	v := verdict{amount: p.amount()}
	v.row.Trigger = trigger
	rooted := rootSeen(p.td)
	logfold.Fold(p.td, p.ld)
	td := p.td
	opts := r.deps.Translation
	opts.Trigger = trigger
	// A decision needs keys and gaps, not the conversation over and over.
	opts.Lean = true
	runs := dialect.Runs(td, plog.NewLogs(), opts)
	if len(runs) == 0 {
		return td, v, &tape.Tape{}
	}
	t := runs[0].Tape
	r.good.compare(r.deps.Translation.Attribution, t)
	row := runs[0].Row()
	row.Trigger = trigger
	cutOut := rn != nil && rn.truncated()
	agents := len(t.Records) > 0 || cutOut && rn.cut.signs.calls
	if !agents && (rn == nil || !rn.asked) {
		return td, v, t
	}
	v.row = row
	report := doctor.Examine(t)
	v.report = &report
	v.row.Decided = r.deps.Now().UTC().Format(time.RFC3339Nano)
	if cutShort(trigger) && !rooted {
		v.row.Outcome = tape.OutcomeIncomplete
	}
	if cutOut {
		v.row.TruncatedSpans = rn.cut.lost.Spans
		if v.row.Trigger != tape.TriggerAsked && v.row.Trigger != tape.TriggerLateFailure {
			v.row.Trigger = tape.TriggerSize
		}
		if rn.cut.signs.failed && v.row.Outcome == tape.OutcomeSucceeded {
			v.row.Outcome = tape.OutcomeRecovered
		}
	}
	return td, v, t
}

// cutShort tells the triggers that end a run which has not ended by itself.
func cutShort(t tape.Trigger) bool {
	switch t {
	case tape.TriggerMaxAge, tape.TriggerEvicted, tape.TriggerShutdown:
		return true
	default:
		return false
	}
}

func rootSeen(td ptrace.Traces) bool {
	seen := false
	forEachSpan(td, func(_ ptrace.ResourceSpans, _ ptrace.ScopeSpans, span ptrace.Span) {
		seen = seen || span.ParentSpanID().IsEmpty()
	})
	return seen
}

// pack makes a kept run ready: marks, row, bodies, requests.
func (r *Recorder) pack(ctx context.Context, td ptrace.Traces, t *tape.Tape, v *verdict) error {
	v.fate = stateKept
	v.row.Kept = true
	if r.deps.Bodies != nil {
		v.row.Class = r.deps.Bodies.Class(v.row)
	}
	// Before the marks are there, which must stay however small the threshold is.
	if err := r.moveBodies(ctx, td, v); err != nil {
		return err
	}
	mark(td, t, v.row.Outcome, v.row.Trigger)
	attr.PutRow(findHead(td).span.Attributes(), v.row)
	v.out = r.requests(td)
	if len(v.out) > 1 {
		stampClass(v.out, v.row.Class)
	}
	return nil
}

// requests cuts what leaves into parts that receivers with a message limit take.
// Each names the policy it was redacted by, and has its rules if it has to carry
// them. The span with the row comes last, so that a row seldom tells of spans yet
// to come.
func (r *Recorder) requests(td ptrace.Traces) []ptrace.Traces {
	stampResources(td, r.policy)
	out := cut.Requests(td, r.cfg.MaxRequestBytes, carriesRow)
	if r.rules != "" {
		for _, part := range out {
			part.ResourceSpans().At(0).Resource().Attributes().PutStr(attr.RedactionRules, r.rules)
		}
	}
	return out
}

func carriesRow(span ptrace.Span) bool {
	_, ok := attr.RowFrom(span.Attributes())
	return ok
}
