// Package recorder decides about runs: it groups spans by trace id across
// requests, finds out when a run is over and how it ended, and hands on either
// the whole redacted run or one summary span.
//
// It has never heard of pipelines. Spans come in through [Recorder.Add], time
// passes through [Recorder.Tick], results leave through the function Emit; the
// processor component is a thin shell around it.
//
// Promises: a run is decided once and late spans follow that decision, except
// that a late failure turns a summary into a kept run; every span that came in
// is kept, summarised, let go, passed on or counted as dropped with a reason;
// memory stays under Config.MaxBytes, by deciding the oldest run early and then
// by refusing what does not fit. Spans wait as marshalled bytes, so a span costs
// its OTLP size and no pdata outlives a call.
package recorder

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/buffer"
	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/offload"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/tape"
)

// Config sets when runs are decided and what is kept. Every duration and size
// must be positive, except that Lookback 0 keeps nothing after a decision and
// OffloadThreshold 0 leaves bodies where they are.
type Config struct {
	// IdleTimeout ends a run after which no span came for that long.
	IdleTimeout time.Duration
	// MaxAge ends a run that long after its first span came.
	MaxAge time.Duration
	// RootSettle is how long stragglers are waited for once the root has ended.
	RootSettle time.Duration
	// Lookback is how long the spans of a summarised run are still held, so that
	// a late failure gets the whole run.
	Lookback time.Duration
	// MaxBytes bounds all buffered spans, MaxRunBytes those of one run.
	MaxBytes    int64
	MaxRunBytes int64
	// MaxRequestBytes is the size above which a kept run leaves in several
	// requests.
	MaxRequestBytes int
	// DecidedRuns is how many decisions are remembered for late spans.
	DecidedRuns int
	// KeepOutcomes are the outcomes whose runs are kept whole.
	KeepOutcomes []tape.Outcome
	// PassThrough hands on runs without any tool or model call instead of
	// letting them go.
	PassThrough bool
	// OffloadThreshold is the size in bytes above which a body leaves the trace.
	OffloadThreshold int
}

// Bodies takes the large bodies of kept runs.
type Bodies interface {
	// Class is the retention class of a run.
	Class(row tape.Row) string
	// PutBody stores a body of a run of that class, decided at the given time.
	PutBody(ctx context.Context, class string, decided time.Time, body offload.Body) error
}

// Deps are what a recorder works with. Bodies may be nil: bodies then stay in
// the trace.
type Deps struct {
	Buffer    buffer.Buffer
	Scrubber  *scrub.Scrubber
	Bodies    Bodies
	Emit      func(context.Context, ptrace.Traces) error
	Permanent func(error) bool
	Telemetry Telemetry
	Now       func() time.Time
	// Translation says how spans become tapes.
	Translation dialect.Options

	// CarryPolicy puts the rules of a redaction policy that is not the default one
	// on the first resource of each request, for want of a store to keep them in.
	CarryPolicy bool
}

// ErrTooLarge is returned by Add for a request that can never fit.
var ErrTooLarge = errors.New("request is larger than the whole buffer")

// ErrBusy is returned by Add when there is no room and nothing more can be
// decided to make some, because the next component does not accept. The sender
// should try again.
var ErrBusy = errors.New("buffer is full")

// ErrClosed is returned by Add after Close.
var ErrClosed = errors.New("recorder is closed")

// Recorder is safe for concurrent use.
type Recorder struct {
	cfg  Config
	deps Deps
	keep map[tape.Outcome]bool
	// policy is the id of the redaction policy, rules its rules where the spans
	// have to carry them.
	policy, rules string
	// translation says which results are failures.
	translation *dialect.Config

	mu       sync.Mutex
	idx      index
	reserved int64
	closed   bool
}

// New returns a recorder. Nothing runs by itself: call Tick.
func New(cfg Config, deps Deps) *Recorder {
	r := &Recorder{cfg: cfg, deps: deps, keep: make(map[tape.Outcome]bool), idx: newIndex()}
	if r.translation = deps.Translation.Config; r.translation == nil {
		r.translation = dialect.DefaultConfig()
	}
	policy := deps.Scrubber.Policy().Manifest()
	r.policy = policy.Policy
	if deps.CarryPolicy && r.policy != redact.Default().Manifest().Policy {
		r.rules = string(policy.Rules)
	}
	for _, o := range cfg.KeepOutcomes {
		r.keep[o] = true
	}
	return r
}

// Add takes the spans of a request. It does not keep td and does not change it.
// When it returns an error, the sender should send the whole request again:
// what was taken already is recognised by its span ids.
func (r *Recorder) Add(ctx context.Context, td ptrace.Traces) error {
	chunks, err := split(td, r.cfg.MaxBytes)
	if err != nil {
		return err
	}
	return r.addAll(ctx, chunks)
}

func (r *Recorder) addAll(ctx context.Context, chunks []chunk) error {
	var total int64
	for i := range chunks {
		total += int64(len(chunks[i].data))
	}
	if err := r.makeRoom(ctx, total); err != nil {
		return err
	}
	defer r.release(total)
	for i := range chunks {
		if err := r.add(ctx, &chunks[i]); err != nil {
			return err
		}
	}
	return nil
}

func (r *Recorder) release(n int64) {
	r.mu.Lock()
	r.reserved -= n
	r.mu.Unlock()
}

// add gives one chunk to its run, in whatever state that is.
func (r *Recorder) add(ctx context.Context, c *chunk) error {
	if c.id == (buffer.ID{}) {
		r.deps.Telemetry.Received(c.amount())
		r.deps.Telemetry.Dropped(DropNoTraceID, c.amount())
		return nil
	}
	for {
		r.mu.Lock()
		if r.closed {
			r.mu.Unlock()
			return ErrClosed
		}
		rn := r.idx.get(c.id)
		if rn != nil && rn.state == stateDeciding {
			busy := rn.busy
			r.mu.Unlock()
			select {
			case <-busy:
				continue
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if rn != nil && c.seen == nil && (rn.state == stateLetGo || rn.state == stateSummarised) {
			// Not under the lock: others need not wait for the reading.
			r.mu.Unlock()
			c.look(r.translation)
			continue
		}
		if rn != nil && rn.state == stateLetGo && c.seen.calls {
			// The decision was about a trace that showed no call: it was let go
			// as none of ours, and this span says that it is.
			r.idx.remove(rn)
			rn = nil
		}
		if rn == nil || rn.state == stateOpen {
			return r.addOpen(ctx, rn, c)
		}
		return r.addLate(ctx, rn, c)
	}
}

// addOpen appends to an undecided run. It is entered with the lock held and
// leaves without.
func (r *Recorder) addOpen(ctx context.Context, rn *run, c *chunk) error {
	now := r.deps.Now()
	if err := r.deps.Buffer.Append(c.id, c.data); err != nil {
		r.mu.Unlock()
		return fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	if rn == nil {
		rn = r.idx.open(c.id, now)
	}
	rn.last = now
	rn.spans += c.spans
	rn.records += c.records
	r.idx.names(rn, c.callIDs)
	r.idx.relate(rn, c.kin)
	rn.session = rn.session || c.session
	rn.bytes += int64(len(c.data))
	if c.root && rn.rooted.IsZero() {
		rn.rooted = now
	}
	r.idx.schedule(rn, r.deadline(rn))
	tooLarge := rn.bytes > r.cfg.MaxRunBytes
	r.mu.Unlock()
	r.received(c)
	if tooLarge {
		// The spans are safe in the buffer: a failure to hand them on is retried
		// by Tick and is not this sender's.
		_ = r.decide(ctx, rn, tape.TriggerSize)
	}
	return nil
}

// received counts what came in, once.
func (r *Recorder) received(c *chunk) {
	if !c.moved {
		r.deps.Telemetry.Received(c.amount())
	}
}

// makeRoom reserves n bytes, dropping held look-back spans first and deciding
// the oldest open runs next.
func (r *Recorder) makeRoom(ctx context.Context, n int64) error {
	if n > r.cfg.MaxBytes {
		return fmt.Errorf("%w: %d bytes, buffer has %d", ErrTooLarge, n, r.cfg.MaxBytes)
	}
	r.mu.Lock()
	for r.deps.Buffer.Bytes()+r.reserved+n > r.cfg.MaxBytes {
		if held := r.idx.oldestHeld(); held != nil {
			r.dropHeld(held)
			continue
		}
		victim := r.idx.oldestOpen(r.deps.Now())
		if victim == nil {
			r.mu.Unlock()
			return fmt.Errorf("%w: %d bytes of spans are being handed on", ErrBusy, r.deps.Buffer.Bytes())
		}
		r.mu.Unlock()
		if err := r.decide(ctx, victim, tape.TriggerEvicted); err != nil {
			return fmt.Errorf("%w: %w", ErrBusy, err)
		}
		r.mu.Lock()
	}
	r.reserved += n
	r.mu.Unlock()
	return nil
}

func (r *Recorder) dropHeld(rn *run) {
	r.deps.Buffer.Drop(rn.id)
	r.idx.release(rn)
}

// Pending reports whether a run is open: its spans came in and nothing has been
// decided yet.
func (r *Recorder) Pending(id pcommon.TraceID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	rn := r.idx.get(buffer.ID(id))
	return rn != nil && (rn.state == stateOpen || rn.state == stateDeciding)
}

// OpenRuns is the number of undecided runs, Bytes what the buffer holds.
func (r *Recorder) OpenRuns() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.idx.openRuns()
}

// Bytes is what the buffer holds.
func (r *Recorder) Bytes() int64 { return r.deps.Buffer.Bytes() }
