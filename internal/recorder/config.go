package recorder

import (
	"context"
	"errors"
	"time"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/offload"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/tape"
)

// Config sets when runs are decided and what is kept. Every duration and size
// must be positive, except that Lookback 0 keeps nothing after a decision,
// OffloadThreshold 0 leaves bodies where they are, and SyncInterval 0 leaves it to
// the system when the spool is on the disk for good.
type Config struct {
	// IdleTimeout ends a run after which no span came for that long.
	IdleTimeout time.Duration
	// MaxAge ends a run that long after its first span came.
	MaxAge time.Duration
	// RootSettle is how long stragglers are waited for once the root has ended.
	RootSettle time.Duration
	// Lookback is how long the spans of a decided run are still held.
	Lookback time.Duration
	// MaxRunBytes, of OTLP as it came, and MaxRunSpans, of spans and log records,
	// bound one run. Of a larger one the middle is left out.
	MaxRunBytes int64
	MaxRunSpans int
	// MaxRequestBytes is the size above which a kept run leaves in several
	// requests.
	MaxRequestBytes int
	// DecidedRuns is how many decisions are remembered for late spans.
	DecidedRuns int
	// Keep says which runs are kept whole.
	Keep Keep
	// PassThrough hands on runs without any tool or model call instead of
	// letting them go.
	PassThrough bool
	// OffloadThreshold is the size in bytes above which a body leaves the trace.
	OffloadThreshold int
	// Spool says where undecided runs are.
	Spool Spool
}

// Keep says which runs are kept whole; the first reason that holds is noted in the
// row.
type Keep struct {
	// Outcomes are the outcomes whose runs are kept.
	Outcomes []tape.Outcome
	// SuccessRatio is the share of the other runs that are kept, 0 to 1, chosen by
	// trace id.
	SuccessRatio float64
	// LastSuccessPer are members of a row (service, agent, environment, tenant): of
	// each combination of their values the latest run that succeeded is kept, once
	// there is a failure to compare with it or it would be lost. None keeps none.
	LastSuccessPer []string
}

// Spool says where runs wait.
type Spool struct {
	// Directory holds the files; "" is in memory.
	Directory string
	// MaxBytes bounds what is held, open runs and look-back together.
	MaxBytes int64
	// SegmentBytes is the size of one file.
	SegmentBytes int64
	// SyncInterval is how often files are synced.
	SyncInterval time.Duration
	// CacheBytes bounds what is remembered of texts, so as to write each once.
	CacheBytes int64
}

// Bodies takes the large bodies of kept runs.
type Bodies interface {
	// Class is the retention class of a run.
	Class(row tape.Row) string
	// PutBody stores a body of a tenant's run of that class, decided at the given
	// time.
	PutBody(ctx context.Context, tenant, class string, decided time.Time, body offload.Body) error
}

// Conditions say of the redacted spans of a run whether it is wanted.
type Conditions interface {
	Match(ctx context.Context, td ptrace.Traces) bool
}

// Deps are what a recorder works with. Bodies may be nil: bodies then stay in
// the trace. So may Conditions: then there are none.
type Deps struct {
	Scrubber   *scrub.Scrubber
	Bodies     Bodies
	Conditions Conditions
	Emit       func(context.Context, ptrace.Traces) error
	Permanent  func(error) bool
	Telemetry  Telemetry
	Now        func() time.Time
	// Translation says how spans become tapes.
	Translation dialect.Options
	// Logs: AddLogs will be called. Only then is remembered what spans say that
	// log records without a trace may refer to.
	Logs bool
	// CarryPolicy puts the rules of a redaction policy that is not the default one
	// on the first resource of each request, for want of a store to keep them in.
	CarryPolicy bool
}

// ErrTooLarge is returned by Add for a request that can never fit.
var ErrTooLarge = errors.New("request is larger than the whole spool")

// ErrBusy is returned by Add when there is no room and nothing more can be
// decided to make some, because the next component does not accept. The sender
// should try again.
var ErrBusy = errors.New("spool is full")

// ErrClosed is returned by Add after Close.
var ErrClosed = errors.New("recorder is closed")
