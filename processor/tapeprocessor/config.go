package tapeprocessor

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/collector/component"

	"github.com/tapedeck/tapedeck/internal/recorder"
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
	// Lookback is how long the spans of a summarised run are still held for a
	// late failure, space permitting; 0 holds none.
	Lookback time.Duration `mapstructure:"lookback"`
	// PassThrough hands on traces without any tool or model call, redacted but
	// otherwise unchanged, instead of letting them go.
	PassThrough bool `mapstructure:"pass_through"`

	Keep      KeepConfig    `mapstructure:"keep"`
	Buffer    BufferConfig  `mapstructure:"buffer"`
	Offload   OffloadConfig `mapstructure:"offload"`
	Redaction redact.Config `mapstructure:"redaction"`
	// MaxRequestBytes is the size above which a kept run leaves in several
	// requests.
	MaxRequestBytes int `mapstructure:"max_request_bytes"`
	// DecidedRuns is how many decisions are remembered for late spans.
	DecidedRuns int `mapstructure:"decided_runs"`
}

// KeepConfig says which runs are kept whole.
type KeepConfig struct {
	// Outcomes lists failed, recovered, incomplete or succeeded.
	Outcomes []tape.Outcome `mapstructure:"outcomes"`
}

// BufferConfig bounds what is held in memory.
type BufferConfig struct {
	// MaxBytes bounds all held spans. Over it, look-back spans go first, then the
	// oldest open run is decided with trigger "evicted".
	MaxBytes int64 `mapstructure:"max_bytes"`
	// MaxRunBytes bounds one run. Over it the run is decided with trigger "size".
	MaxRunBytes int64 `mapstructure:"max_run_bytes"`
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
	positive("buffer::max_bytes", c.Buffer.MaxBytes > 0)
	positive("buffer::max_run_bytes", c.Buffer.MaxRunBytes > 0)
	positive("max_request_bytes", c.MaxRequestBytes > 0)
	positive("decided_runs", c.DecidedRuns > 0)
	if c.Lookback < 0 {
		errs = append(errs, errors.New("lookback must not be negative"))
	}
	if c.Offload.Threshold < 0 {
		errs = append(errs, errors.New("offload::threshold must not be negative"))
	}
	for _, o := range c.Keep.Outcomes {
		if !slices.Contains(outcomes, o) {
			errs = append(errs, fmt.Errorf("keep::outcomes: %q is none of %q", o, outcomes))
		}
	}
	// The redaction section validates itself: the collector walks into it.
	return errors.Join(errs...)
}

func (c *Config) recorder() recorder.Config {
	return recorder.Config{
		IdleTimeout:      c.IdleTimeout,
		MaxAge:           c.MaxAge,
		RootSettle:       c.RootSettle,
		Lookback:         c.Lookback,
		MaxBytes:         c.Buffer.MaxBytes,
		MaxRunBytes:      c.Buffer.MaxRunBytes,
		MaxRequestBytes:  c.MaxRequestBytes,
		DecidedRuns:      c.DecidedRuns,
		KeepOutcomes:     c.Keep.Outcomes,
		PassThrough:      c.PassThrough,
		OffloadThreshold: c.Offload.Threshold,
	}
}
