package tapeprocessor

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/open-telemetry/opentelemetry-collector-contrib/pkg/ottl"
	"go.opentelemetry.io/collector/component"

	"github.com/tapedeck/tapedeck/internal/recorder"
	"github.com/tapedeck/tapedeck/internal/recorder/condition"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/tape"
)

// Config of the processor.
type Config struct {
	// Storage names the tape_store extension that takes large bodies. Without it
	// bodies stay in the trace.
	Storage *component.ID `mapstructure:"storage"`
	// IdleTimeout ends a run after which no span came for that long. A run that
	// pauses for less is never cut in two.
	IdleTimeout time.Duration `mapstructure:"idle_timeout"`
	// MaxAge ends a run that long after its first span came.
	MaxAge time.Duration `mapstructure:"max_age"`
	// RootSettle is how long stragglers are waited for once the root span came.
	RootSettle time.Duration `mapstructure:"root_settle"`
	// Lookback is how long the spans of a decided run are still held for a late
	// failure or somebody who asks, space permitting; 0 holds none.
	Lookback time.Duration `mapstructure:"lookback"`
	// PassThrough hands on traces without any tool or model call, redacted but
	// otherwise unchanged, instead of letting them go.
	PassThrough bool `mapstructure:"pass_through"`

	Keep      KeepConfig    `mapstructure:"keep"`
	Spool     SpoolConfig   `mapstructure:"spool"`
	Offload   OffloadConfig `mapstructure:"offload"`
	Redaction redact.Config `mapstructure:"redaction"`
	// MaxRequestBytes is the size above which a kept run leaves in several
	// requests. 0 is 16 MiB with a storage, where the tape exporter takes the run,
	// which stores a run in one piece at a fraction of the size of its parts; and
	// without one 3 MiB, which receivers take that stop at 4 MiB.
	MaxRequestBytes int `mapstructure:"max_request_bytes"`
	// DecidedRuns is how many decisions are remembered for late spans.
	DecidedRuns int `mapstructure:"decided_runs"`
}

// KeepConfig says which runs are kept whole.
type KeepConfig struct {
	// Outcomes lists failed, recovered, incomplete or succeeded.
	Outcomes []tape.Outcome `mapstructure:"outcomes"`
	// SuccessRatio is the share of the other good runs that is kept, 0 to 1, chosen
	// by trace id.
	SuccessRatio float64 `mapstructure:"success_ratio"`
	// LastSuccessPer names what tells runs apart (service, agent, environment,
	// tenant): of each combination the last good run is kept, with the next failure
	// of its kind or when it would leave the spool.
	LastSuccessPer []string `mapstructure:"last_success_per"`
	// Conditions are OTTL conditions over spans, with paths such as
	// span.attributes["x"] and resource.attributes["y"]. A run is kept when one of
	// them holds for one of its redacted spans.
	Conditions []Condition `mapstructure:"conditions"`
	// ErrorMode says what a condition that fails for a span means: ignore (logged)
	// and silent, that it does not hold; propagate, that the run is kept.
	ErrorMode ottl.ErrorMode `mapstructure:"error_mode"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// SpoolConfig says where runs wait, and bounds what is held.
type SpoolConfig struct {
	// Directory holds undecided runs, look-back and decisions. Without one they are
	// in memory and a restart forgets them.
	Directory string `mapstructure:"directory"`
	// MaxBytes bounds what is held. Over it, look-back goes first, then the oldest
	// open run is decided with trigger "evicted", then requests are refused.
	MaxBytes int64 `mapstructure:"max_bytes"`
	// MaxRunBytes, of OTLP as it came, and MaxRunSpans, of spans and log records,
	// bound one run. Of a larger one the middle is left out, and it is decided with
	// trigger "size".
	MaxRunBytes int64 `mapstructure:"max_run_bytes"`
	MaxRunSpans int   `mapstructure:"max_run_spans"`
	// SegmentBytes is the size of one file.
	SegmentBytes int64 `mapstructure:"segment_bytes"`
	// SyncInterval is how often files are synced, which bounds what a loss of power
	// can cost; 0 leaves it to the system. A kill of the process costs nothing.
	SyncInterval time.Duration `mapstructure:"sync_interval"`
	// CacheBytes bounds the memory in which texts are remembered, so that each is
	// redacted and written once.
	CacheBytes int64 `mapstructure:"cache_bytes"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// OffloadConfig says which bodies leave the trace.
type OffloadConfig struct {
	// Threshold in bytes; larger values are moved to the store. 0 moves none.
	Threshold int `mapstructure:"threshold"`
}

var outcomes = []tape.Outcome{
	tape.OutcomeFailed, tape.OutcomeRecovered, tape.OutcomeIncomplete, tape.OutcomeSucceeded,
}

// Validate reports every setting that cannot be.
func (c *Config) Validate() error {
	var errs []error
	positive := func(name string, ok bool) {
		if !ok {
			errs = append(errs, fmt.Errorf("%s must be positive", name))
		}
	}
	positive("idle_timeout", c.IdleTimeout > 0)
	positive("max_age", c.MaxAge > 0)
	positive("root_settle", c.RootSettle > 0)
	if c.MaxRequestBytes < 0 {
		errs = append(errs, errors.New("max_request_bytes must not be negative"))
	}
	positive("decided_runs", c.DecidedRuns > 0)
	if c.Lookback < 0 {
		errs = append(errs, errors.New("lookback must not be negative"))
	}
	if c.Offload.Threshold < 0 {
		errs = append(errs, errors.New("offload::threshold must not be negative"))
	}
	if len(c.Keep.LastSuccessPer) > 0 && c.Lookback == 0 {
		errs = append(errs, errors.New("keep::last_success_per needs a lookback, in which the last good run is found"))
	}
	// The sections validate themselves: the collector walks into them.
	return errors.Join(errs...)
}

// Validate reports every setting that cannot be.
func (c *KeepConfig) Validate() error {
	var errs []error
	for _, o := range c.Outcomes {
		if !slices.Contains(outcomes, o) {
			errs = append(errs, fmt.Errorf("outcomes: %q is none of %q", o, outcomes))
		}
	}
	if !(c.SuccessRatio >= 0 && c.SuccessRatio <= 1) {
		errs = append(errs, errors.New("success_ratio must be between 0 and 1"))
	}
	for _, name := range c.LastSuccessPer {
		if !slices.Contains(recorder.LastSuccessMembers, name) {
			errs = append(errs, fmt.Errorf("last_success_per: %q is none of %q", name, recorder.LastSuccessMembers))
		}
	}
	// The conditions validate themselves, each with its place in the list.
	return errors.Join(errs...)
}

// Condition is an OTTL condition over a span.
type Condition string

// Validate quotes a condition that cannot be compiled.
func (c Condition) Validate() error { return condition.Check(string(c)) }

func (c *KeepConfig) conditions(set component.TelemetrySettings) (*condition.Conditions, error) {
	if len(c.Conditions) == 0 {
		return nil, nil
	}
	texts := make([]string, 0, len(c.Conditions))
	for _, text := range c.Conditions {
		texts = append(texts, string(text))
	}
	return condition.New(texts, c.ErrorMode, set)
}

// minSpool is the least that a spool can hold, and minRun a run: less cuts every run
// to pieces.
const (
	minSpool = 1 << 20
	minRun   = 64 << 10
)

// Validate reports every setting that cannot be.
func (c *SpoolConfig) Validate() error {
	var errs []error
	atLeast := func(name string, value, least int64) {
		if value < least {
			errs = append(errs, fmt.Errorf("%s must be at least %d", name, least))
		}
	}
	atLeast("max_bytes", c.MaxBytes, minSpool)
	atLeast("max_run_bytes", c.MaxRunBytes, minRun)
	atLeast("max_run_spans", int64(c.MaxRunSpans), 64)
	atLeast("segment_bytes", c.SegmentBytes, minRun)
	atLeast("cache_bytes", c.CacheBytes, 0)
	atLeast("sync_interval", int64(c.SyncInterval), 0)
	within := func(name string, value int64) {
		if c.MaxBytes >= minSpool && value > c.MaxBytes {
			errs = append(errs, fmt.Errorf("%s is %d, more than the %d of max_bytes: lower it, or raise max_bytes", name, value, c.MaxBytes))
		}
	}
	within("max_run_bytes", c.MaxRunBytes)
	within("segment_bytes", c.SegmentBytes)
	return errors.Join(errs...)
}

const (
	storedRequest = 16 << 20
	sentRequest   = 3 << 20
)

func (c *Config) requestBytes() int {
	switch {
	case c.MaxRequestBytes > 0:
		return c.MaxRequestBytes
	case c.Storage != nil:
		return storedRequest
	default:
		return sentRequest
	}
}

func (c *Config) recorder() recorder.Config {
	return recorder.Config{
		IdleTimeout:     c.IdleTimeout,
		MaxAge:          c.MaxAge,
		RootSettle:      c.RootSettle,
		Lookback:        c.Lookback,
		MaxRunBytes:     c.Spool.MaxRunBytes,
		MaxRunSpans:     c.Spool.MaxRunSpans,
		MaxRequestBytes: c.requestBytes(),
		DecidedRuns:     c.DecidedRuns,
		Keep: recorder.Keep{
			Outcomes:       c.Keep.Outcomes,
			SuccessRatio:   c.Keep.SuccessRatio,
			LastSuccessPer: c.Keep.LastSuccessPer,
		},
		PassThrough:      c.PassThrough,
		OffloadThreshold: c.Offload.Threshold,
		Spool: recorder.Spool{
			Directory:    c.Spool.Directory,
			MaxBytes:     c.Spool.MaxBytes,
			SegmentBytes: c.Spool.SegmentBytes,
			SyncInterval: c.Spool.SyncInterval,
			CacheBytes:   c.Spool.CacheBytes,
		},
	}
}
