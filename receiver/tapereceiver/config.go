package tapereceiver

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/config/confighttp"
	"go.opentelemetry.io/collector/config/configoptional"
	"go.opentelemetry.io/collector/config/configretry"
)

// Modes of reading.
const (
	// ModeOnce reads what is stored when the collector starts, and ends.
	ModeOnce = "once"
	// ModeFollow goes on with what is stored later.
	ModeFollow = "follow"
	// ModeNone reads nothing that is stored, for a receiver that only takes in what
	// plain recorders wrote.
	ModeNone = "none"
)

// Times of what is sent.
const (
	// TimeOriginal leaves all times as they are stored.
	TimeOriginal = "original"
	// TimeShift moves all times of a run by the same distance, so that it ends when
	// it is sent.
	TimeShift = "shift"
)

// Bodies of what is sent.
const (
	// BodiesRestore puts large bodies back.
	BodiesRestore = "restore"
	// BodiesReference leaves their references.
	BodiesReference = "reference"
)

const (
	defaultStorage      = "tape_store"
	defaultPollInterval = 10 * time.Second
	defaultLookBack     = 10 * time.Minute
	defaultEndpoint     = "127.0.0.1:4381"
	defaultService      = "unknown_service"
	defaultWatchPoll    = 5 * time.Second
	defaultQuiet        = 5 * time.Second
	defaultMaxFile      = 64 << 20
	// defaultMaxRequest stays under the 4 MiB that gRPC receivers accept.
	defaultMaxRequest = 4_000_000
)

// Config of the receiver.
type Config struct {
	// Storage is the tape_store extension that holds the store.
	Storage component.ID `mapstructure:"storage"`
	// TraceIDs reads these runs and no others.
	TraceIDs []string `mapstructure:"trace_ids"`
	// Outcome, Class, Service, Tool and Tenant select runs; of several values any
	// matches. Without a tenant, those of all tenants are read.
	Outcome []tape.Outcome `mapstructure:"outcome"`
	Class   []string       `mapstructure:"class"`
	Service []string       `mapstructure:"service"`
	Tool    []string       `mapstructure:"tool"`
	Tenant  []string       `mapstructure:"tenant"`
	// Since and Until bound the time of the decision: RFC 3339, or a duration
	// before the start of the collector such as 24h.
	Since string `mapstructure:"since"`
	Until string `mapstructure:"until"`
	// Mode is once, follow or none.
	Mode string `mapstructure:"mode"`
	// PollInterval is the pause between two looks at the store in mode follow.
	PollInterval time.Duration `mapstructure:"poll_interval"`
	// LookBack is how far each look in mode follow goes back behind the one before:
	// a row may be stored that much later than its decision, when it had to wait in
	// a queue.
	LookBack time.Duration `mapstructure:"look_back"`
	// Checkpoint is a storage extension that remembers what was sent and taken in,
	// for mode follow and for watched files.
	Checkpoint *component.ID `mapstructure:"checkpoint"`
	// Time is original or shift, Bodies restore or reference.
	Time   string `mapstructure:"time"`
	Bodies string `mapstructure:"bodies"`
	// MaxRequestBytes bounds what is sent at once; a run over it is sent in
	// several parts, a single span over it alone. 0 is no bound.
	MaxRequestBytes int `mapstructure:"max_request_bytes"`
	// RetryConfig is about errors of the store and of the next component.
	RetryConfig configretry.BackOffConfig `mapstructure:"retry_on_failure"`

	// HTTP takes in tapes of plain recorders, Watch those that they leave in a
	// directory.
	HTTP  configoptional.Optional[confighttp.ServerConfig] `mapstructure:"http"`
	Watch configoptional.Optional[WatchConfig]             `mapstructure:"watch"`
	// DefaultService is the name of the service of tapes that have none.
	DefaultService string `mapstructure:"default_service"`

	// prevent unkeyed literal initialization
	_ struct{}
}

// WatchConfig is about a directory into which plain recorders write tapes.
type WatchConfig struct {
	// Directory is where they are. What lies in directories below is not looked at.
	Directory string `mapstructure:"directory"`
	// PollInterval is the pause between two looks.
	PollInterval time.Duration `mapstructure:"poll_interval"`
	// Quiet is how long a file must not have changed before it is taken in.
	Quiet time.Duration `mapstructure:"quiet"`
	// MaxFileBytes bounds a file, unpacked.
	MaxFileBytes int64 `mapstructure:"max_file_bytes"`
	// MoveTo is where files go once they are taken in; without it they stay.
	MoveTo string `mapstructure:"move_to"`

	// prevent unkeyed literal initialization
	_ struct{}
}

var _ component.Config = (*Config)(nil)

func createDefaultConfig() component.Config {
	retry := configretry.NewDefaultBackOffConfig()
	// What is stored does not run away: it can wait for the next component.
	retry.MaxElapsedTime = 0
	server := confighttp.NewDefaultServerConfig()
	server.NetAddr.Endpoint = defaultEndpoint
	return &Config{
		Storage:         component.MustNewID(defaultStorage),
		Mode:            ModeOnce,
		PollInterval:    defaultPollInterval,
		LookBack:        defaultLookBack,
		Time:            TimeOriginal,
		Bodies:          BodiesRestore,
		MaxRequestBytes: defaultMaxRequest,
		RetryConfig:     retry,
		HTTP:            configoptional.Default(server),
		Watch: configoptional.Default(WatchConfig{
			PollInterval: defaultWatchPoll,
			Quiet:        defaultQuiet,
			MaxFileBytes: defaultMaxFile,
		}),
		DefaultService: defaultService,
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
	errs = append(errs, c.validateMode())
	if !slices.Contains([]string{TimeOriginal, TimeShift}, c.Time) {
		errs = append(errs, fmt.Errorf("time: %q is neither original nor shift", c.Time))
	}
	if !slices.Contains([]string{BodiesRestore, BodiesReference}, c.Bodies) {
		errs = append(errs, fmt.Errorf("bodies: %q is neither restore nor reference", c.Bodies))
	}
	if c.MaxRequestBytes < 0 {
		errs = append(errs, errors.New("max_request_bytes: must not be negative"))
	}
	if c.Checkpoint != nil && c.Mode != ModeFollow && !c.Watch.HasValue() {
		errs = append(errs, errors.New("checkpoint: has no meaning without mode follow or watch"))
	}
	return errors.Join(errs...)
}

func (c *Config) validateMode() error {
	var errs []error
	filtered := len(c.Outcome)+len(c.Class)+len(c.Service)+len(c.Tool)+len(c.Tenant) > 0 || c.Since != "" || c.Until != ""
	switch c.Mode {
	case ModeOnce:
	case ModeFollow:
		if c.Until != "" {
			errs = append(errs, errors.New("until: has no meaning in mode follow"))
		}
		if c.PollInterval <= 0 {
			errs = append(errs, errors.New("poll_interval: must be positive"))
		}
		if c.LookBack < 0 {
			errs = append(errs, errors.New("look_back: must not be negative"))
		}
	case ModeNone:
		if !c.HTTP.HasValue() && !c.Watch.HasValue() {
			errs = append(errs, errors.New("mode: none needs http or watch: there would be nothing to do"))
		}
		if filtered {
			errs = append(errs, errors.New("mode: none reads nothing that outcome, class, service, tool, tenant, since or until could select"))
		}
	default:
		errs = append(errs, fmt.Errorf("mode: %q is none of once, follow, none", c.Mode))
	}
	if len(c.TraceIDs) > 0 {
		if c.Mode != ModeOnce {
			errs = append(errs, fmt.Errorf("trace_ids: has no meaning in mode %s", c.Mode))
		}
		if filtered {
			errs = append(errs, errors.New("trace_ids: cannot be combined with outcome, class, service, tool, tenant, since or until"))
		}
	}
	return errors.Join(errs...)
}

// Validate reports every fault, each with its setting.
func (c *WatchConfig) Validate() error {
	var errs []error
	if c.Directory == "" {
		errs = append(errs, errors.New("directory: is missing"))
	}
	if c.PollInterval <= 0 {
		errs = append(errs, errors.New("poll_interval: must be positive"))
	}
	if c.Quiet < 0 {
		errs = append(errs, errors.New("quiet: must not be negative"))
	}
	if c.MaxFileBytes <= 0 {
		errs = append(errs, errors.New("max_file_bytes: must be positive"))
	}
	if c.MoveTo != "" && filepath.Clean(c.MoveTo) == filepath.Clean(c.Directory) {
		errs = append(errs, errors.New("move_to: is the directory that is watched"))
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
		Tool:     c.Tool,
		KeptOnly: true,
		Since:    since,
		Until:    until,
	}, nil
}
