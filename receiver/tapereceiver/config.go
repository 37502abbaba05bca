package tapereceiver

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/configretry"
)

// Modes of reading.
const (
	// ModeOnce reads what is stored when the collector starts, and ends.
	ModeOnce = "once"
	// ModeFollow goes on with what is stored later.
	ModeFollow = "follow"
)

const (
	defaultStorage      = "tape_store"
	defaultPollInterval = 10 * time.Second
	// defaultMaxRequest stays under the 4 MiB that gRPC receivers accept.
	defaultMaxRequest = 4_000_000
)

// Config of the receiver.
type Config struct {
	// Storage is the tape_store extension that holds the store.
	Storage component.ID `mapstructure:"storage"`
	// TraceIDs reads these runs and no others.
	TraceIDs []string `mapstructure:"trace_ids"`
	// Outcome, Class and Service select runs; of several values any matches.
	Outcome []tape.Outcome `mapstructure:"outcome"`
	Class   []string       `mapstructure:"class"`
	Service []string       `mapstructure:"service"`
	// Since and Until bound the time of the decision: RFC 3339, or a duration
	// before the start of the collector such as 24h.
	Since string `mapstructure:"since"`
	Until string `mapstructure:"until"`
	// Mode is once or follow.
	Mode string `mapstructure:"mode"`
	// PollInterval is the pause between two looks at the store in mode follow.
	PollInterval time.Duration `mapstructure:"poll_interval"`
	// MaxRequestBytes bounds what is sent at once; a run over it is sent in
	// several parts, a single span over it alone. 0 is no bound.
	MaxRequestBytes int `mapstructure:"max_request_bytes"`
	// RetryConfig is about errors of the store and of the next component.
	RetryConfig configretry.BackOffConfig `mapstructure:"retry_on_failure"`

	// prevent unkeyed literal initialization
	_ struct{}
}

var _ component.Config = (*Config)(nil)

func createDefaultConfig() component.Config {
	retry := configretry.NewDefaultBackOffConfig()
	// What is stored does not run away: it can wait for the next component.
	retry.MaxElapsedTime = 0
	return &Config{
		Storage:         component.MustNewID(defaultStorage),
		Mode:            ModeOnce,
		PollInterval:    defaultPollInterval,
		MaxRequestBytes: defaultMaxRequest,
		RetryConfig:     retry,
	}
}

// Validate reports every fault, each with its setting.
func (c *Config) Validate() error {
	var errs []error
	for _, id := range c.TraceIDs {
		if _, err := store.ParseTraceID(id); err != nil {
			errs = append(errs, fmt.Errorf("trace_ids: %q: %w", id, err))
		}
	}
	for _, o := range c.Outcome {
		if !slices.Contains([]tape.Outcome{tape.OutcomeFailed, tape.OutcomeRecovered, tape.OutcomeIncomplete, tape.OutcomeSucceeded}, o) {
			errs = append(errs, fmt.Errorf("outcome: %q is not one of failed, recovered, incomplete, succeeded", o))
		}
	}
	if _, err := parseTime(c.Since, time.Now()); err != nil {
		errs = append(errs, fmt.Errorf("since: %w", err))
	}
	if _, err := parseTime(c.Until, time.Now()); err != nil {
		errs = append(errs, fmt.Errorf("until: %w", err))
	}
	switch c.Mode {
	case ModeOnce:
	case ModeFollow:
		if c.Until != "" {
			errs = append(errs, errors.New("until: has no meaning in mode follow"))
		}
		if c.PollInterval <= 0 {
			errs = append(errs, errors.New("poll_interval: must be positive"))
		}
	default:
		errs = append(errs, fmt.Errorf("mode: %q is neither once nor follow", c.Mode))
	}
	if len(c.TraceIDs) > 0 {
		if c.Mode == ModeFollow {
			errs = append(errs, errors.New("trace_ids: has no meaning in mode follow"))
		}
		if len(c.Outcome)+len(c.Class)+len(c.Service) > 0 || c.Since != "" || c.Until != "" {
			errs = append(errs, errors.New("trace_ids: cannot be combined with outcome, class, service, since or until"))
		}
	}
	if c.MaxRequestBytes < 0 {
		errs = append(errs, errors.New("max_request_bytes: must not be negative"))
	}
	return errors.Join(errs...)
}

// parseTime reads a time, or a duration before now; "" is the zero time.
func parseTime(s string, now time.Time) (time.Time, error) {
	if s == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339Nano, s); err == nil {
		return t, nil
	}
	if d, err := time.ParseDuration(s); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%q is neither an RFC 3339 time nor a duration such as 24h", s)
}

// query is the selection, as of the start of the collector.
func (c *Config) query(now time.Time) (store.Query, error) {
	since, err := parseTime(c.Since, now)
	if err != nil {
		return store.Query{}, err
	}
	until, err := parseTime(c.Until, now)
	if err != nil {
		return store.Query{}, err
	}
	return store.Query{
		Outcome:  c.Outcome,
		Class:    c.Class,
		Service:  c.Service,
		KeptOnly: true,
		Since:    since,
		Until:    until,
	}, nil
}
