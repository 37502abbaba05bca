package recorder

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/buffer"
	"github.com/tapedeck/tapedeck/internal/cut"
	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/doctor"
	"github.com/tapedeck/tapedeck/internal/logfold"
	"github.com/tapedeck/tapedeck/internal/offload"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/tape"
)

// errDamaged marks a run of which the buffer returned nothing that can be read.
var errDamaged = errors.New("buffered spans cannot be read")

// verdict is what becomes of a run, ready to be handed on.
type verdict struct {
	fate state
	row  tape.Row
	out  []ptrace.Traces
	// amount is how much was judged, which is less than came when the buffer lost
	// some.
	amount Amount

	// report says how far the tape can be replayed; nil where there is no call.
	report *doctor.Report

	redacted  scrub.Stats
	offloaded offload.Stats
}

// count reports a decision that was handed on.
func (v verdict) count(t Telemetry) {
	t.Decided(v.row.Outcome, v.row.Trigger, v.fate == stateKept)
	if v.report != nil {
		t.Examined(*v.report)
	}
	v.countContent(t)
}

func (v verdict) countContent(t Telemetry) {
	t.Redacted(v.redacted.Types)
	t.Offloaded(v.offloaded.Bodies, v.offloaded.Bytes, v.offloaded.Failed)
}

// judge reads a run from the buffer and decides about it. Redaction comes before
// everything else: keys, names and summaries are made of what is left.
func (r *Recorder) judge(ctx context.Context, id buffer.ID, trigger tape.Trigger) (verdict, error) {
	chunks, err := r.deps.Buffer.Load(id)
	if err != nil {
		return verdict{}, fmt.Errorf("%w: trace %x: %w", errDamaged, id, err)
	}
	p := decode(chunks)
	if err := r.claimRecords(id, &p); err != nil {
		return verdict{}, err
	}
	if p.amount() == (Amount{}) {
		return verdict{}, fmt.Errorf("%w: trace %x: %w", errDamaged, id, p.broken)
	}
	td, v, t := r.examine(&p, trigger)
	switch {
	case len(t.Records) == 0:
		v.fate = stateLetGo
		if spans, _ := logfold.Unfold(td); r.cfg.PassThrough && spans.SpanCount() > 0 {
			v.out = r.requests(spans)
		}
	case r.keep[v.row.Outcome]:
		err = r.pack(ctx, td, t, &v)
	default:
		v.fate = stateSummarised
		v.out = r.requests(summary(td, v.row))
	}
	return v, err
}

var unmarshaler ptrace.ProtoUnmarshaler

// examine puts what is known of one run into one trace, redacts it and translates
// it.
func (r *Recorder) examine(p *parts, trigger tape.Trigger) (ptrace.Traces, verdict, *tape.Tape) {
	v := verdict{amount: p.amount()}
	rooted := rootSeen(p.td)
	strip(p.td)
	logfold.Fold(p.td, p.ld)
	td := p.td
	v.redacted = r.deps.Scrubber.Traces(td)
	opts := r.deps.Translation
	opts.Trigger = trigger
	// A decision needs keys and gaps, not the conversation over and over.
	opts.Lean = true
	runs := dialect.Runs(td, plog.NewLogs(), opts)
	if len(runs) == 0 {
		return td, v, &tape.Tape{}
	}
	t := runs[0].Tape
	v.row = runs[0].Row()
	v.row.Trigger = trigger
	if len(t.Records) == 0 {
		// The outcome of what is no agent's run is nobody's business.
		v.row.Outcome = ""
		return td, v, t
	}
	report := doctor.Examine(t)
	v.report = &report
	v.row.Decided = r.deps.Now().UTC().Format(time.RFC3339Nano)
	if cutShort(trigger) && !rooted {
		v.row.Outcome = tape.OutcomeIncomplete
	}
	return td, v, t
}

// cutShort tells the triggers that end a run which has not ended by itself.
func cutShort(t tape.Trigger) bool {
	switch t {
	case tape.TriggerMaxAge, tape.TriggerSize, tape.TriggerEvicted, tape.TriggerShutdown:
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

// moveBodies sends large bodies to the store. One that the store does not take
// stays where it is. Without a store nothing moves, but values that only look
// like references are escaped all the same.
func (r *Recorder) moveBodies(ctx context.Context, td ptrace.Traces, v *verdict) error {
	threshold := r.cfg.OffloadThreshold
	if r.deps.Bodies == nil {
		threshold = 0
	}
	now := r.deps.Now()
	stats, _ := offload.Traces(td, threshold, func(b offload.Body) error {
		return r.deps.Bodies.PutBody(ctx, v.row.Class, now, b)
	})
	v.offloaded = stats
	return ctx.Err()
}

// judgeChunk prepares late spans of a run whose outcome is settled; with an empty
// outcome, those of a trace that is passed on.
func (r *Recorder) judgeChunk(ctx context.Context, c *chunk, trigger tape.Trigger, outcome tape.Outcome) (verdict, error) {
	p := decode([][]byte{c.data})
	if p.broken != nil {
		return verdict{}, p.broken
	}
	td, v, t := r.examine(&p, trigger)
	if outcome == "" {
		if spans, _ := logfold.Unfold(td); spans.SpanCount() > 0 {
			v.out = r.requests(spans)
		}
		return v, nil
	}
	v.fate = stateKept
	v.row.Outcome = outcome
	if r.deps.Bodies != nil {
		v.row.Class = r.deps.Bodies.Class(v.row)
	}
	for i := range t.Records {
		// The position in a part says nothing about that in the run.
		t.Records[i].Seq = 0
	}
	if err := r.moveBodies(ctx, td, &v); err != nil {
		return verdict{}, err
	}
	mark(td, t, outcome, trigger)
	v.out = r.requests(td)
	return v, nil
}

// judgeFailure keeps late spans that tell of a failure in a run whose other spans
// are gone.
func (r *Recorder) judgeFailure(ctx context.Context, c *chunk) (verdict, error) {
	p := decode([][]byte{c.data})
	if p.broken != nil {
		return verdict{}, p.broken
	}
	td, v, t := r.examine(&p, tape.TriggerLateFailure)
	v.row.Outcome = tape.OutcomeFailed
	return v, r.pack(ctx, td, t, &v)
}
