package replay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"slices"
	"time"

	"github.com/tapedeck/tapedeck/replay/rules"
	"github.com/tapedeck/tapedeck/tape"
)

// Option changes a session. A bad value makes [New] and [Open] fail.
type Option func(*config) error

type config struct {
	mode            Mode
	order           Order
	completion      Completion
	completionGuard time.Duration
	failExpired     bool
	kinds           []tape.Kind
	forms           map[tape.Kind]func(json.RawMessage) (json.RawMessage, error)
	rules           rules.Policy
	// set is the rules made ready, nil if there are none.
	set          *rules.Set
	failRedacted bool
	// failElsewhere makes requests to other places unclean.
	failElsewhere bool
	// unserved are the tools that may be run by somebody else.
	unserved     []string
	experiment   Experiment
	codeVersion  string
	bodies       BodySource
	overrides    overrides
	surrogateKey string
	recordTo     io.Writer
	audit        *slog.Logger
	// live says which calls of a replay may run, nil for none; fork is the step
	// from which on they do.
	live      *Live
	observers []Observer
	fork      int
	derived   string
	breakStep int
	breakAt   func(context.Context, Break) Action
	expiries  []expiry
	now       func() time.Time
	// places names differences in words.
	places map[tape.Kind]Place
	// path is the file the tape came from.
	path string
}

// DefaultCompletionGuard is how long an answer is held back for another.
const DefaultCompletionGuard = 2 * time.Second

func newConfig(options []Option) (*config, error) {
	c := &config{completionGuard: DefaultCompletionGuard, now: time.Now, audit: slog.Default()}
	for _, option := range options {
		if err := option(c); err != nil {
			return nil, fmt.Errorf("replay: %w", err)
		}
	}
	if err := c.compileRules(); err != nil {
		return nil, fmt.Errorf("replay: rules: %w", err)
	}
	return c, nil
}

// WithSurrogateKey gives the key that the tape's redaction makes surrogates with.
// A tape does not hold it, and one that needs it cannot be opened without: live
// arguments could not be redacted as the recorded ones were.
func WithSurrogateKey(key string) Option {
	return func(c *config) error {
		c.surrogateKey = key
		return nil
	}
}

// WithMode sets the mode; the default is [ModeStrict].
func WithMode(mode Mode) Option {
	return func(c *config) error {
		c.mode = mode
		_, err := ParseMode(mode.String())
		return err
	}
}

// WithOrder sets the order; the default is [OrderContent].
func WithOrder(order Order) Option {
	return func(c *config) error {
		c.order = order
		_, err := ParseOrder(order.String())
		return err
	}
}

// WithCompletion sets the order of completion; the default is
// [CompletionFree]. An answer is held back for no longer than guard, 0 being
// [DefaultCompletionGuard].
func WithCompletion(completion Completion, guard time.Duration) Option {
	return func(c *config) error {
		c.completion = completion
		if guard < 0 {
			return fmt.Errorf("completion guard %v is negative", guard)
		}
		if guard > 0 {
			c.completionGuard = guard
		}
		_, err := ParseCompletion(completion.String())
		return err
	}
}

// WithKinds replays the records of some kinds only, such as the tool calls of a
// program whose model calls are answered elsewhere. The others are as if they
// were not on the tape, and the report says so.
func WithKinds(kinds ...tape.Kind) Option {
	return func(c *config) error {
		c.kinds = kinds
		for _, kind := range kinds {
			if !slices.Contains(tape.Kinds, kind) {
				return fmt.Errorf("unknown kind %q", kind)
			}
		}
		return nil
	}
}

// WithExpiredAsGap makes a record past its expiry a gap. Without it such a
// record is served and counted.
func WithExpiredAsGap() Option {
	return func(c *config) error {
		c.failExpired = true
		return nil
	}
}

// WithCodeVersion says which version of the code runs. Where it is the one the
// manifest names, the report calls the replay [Historical], else
// [CodeRegression].
func WithCodeVersion(version string) Option {
	return func(c *config) error {
		c.codeVersion = version
		return nil
	}
}

// WithExperiment names the experiment in the report, in place of what
// [WithCodeVersion] would.
func WithExperiment(experiment Experiment) Option {
	return func(c *config) error {
		c.experiment = experiment
		if !slices.Contains(experiments, experiment) {
			return fmt.Errorf("unknown experiment %q, want one of %q", experiment, experiments)
		}
		return nil
	}
}

// WithBodies says where bodies are that the tape holds by reference. Without
// it, answers held by reference are gaps.
func WithBodies(source BodySource) Option {
	return func(c *config) error {
		c.bodies = source
		return nil
	}
}

// WithName names the tape in reports where it is not opened by its path.
func WithName(name string) Option {
	return func(c *config) error {
		c.path = name
		return nil
	}
}

// WithRecordTo writes what a recording session appends to out, one line in one
// Write, beginning with a manifest if the session had no tape. Without it, and
// without a file, what is appended stays in memory; see [Session.Tape].
func WithRecordTo(out io.Writer) Option {
	return func(c *config) error {
		c.recordTo = out
		return nil
	}
}

// WithAuditLog says where each call that a replay runs live is logged: tool,
// key, side effect, duration and whether it failed, never content. The default
// is slog.Default(). [ModeRecord] is no replay and logs nothing.
func WithAuditLog(logger *slog.Logger) Option {
	return func(c *config) error {
		if logger == nil {
			return errors.New("the audit log is nil; live calls must be logged")
		}
		c.audit = logger
		return nil
	}
}

// WithTime sets the clock by which records start, last and expire.
func WithTime(now func() time.Time) Option {
	return func(c *config) error {
		if now == nil {
			return errors.New("the clock is nil")
		}
		c.now = now
		return nil
	}
}

// CallOption says more about one call.
type CallOption func(*Request)

// WithKind says that the call is not a tool call.
func WithKind(kind tape.Kind) CallOption {
	return func(r *Request) { r.Kind = kind }
}

// WithSideEffect says whether the call changes the world. Without it the tape
// is believed, if it knows the tool.
func WithSideEffect(yes bool) CallOption {
	return func(r *Request) { r.SideEffect = &yes }
}

// WithToolCallID records the id the model gave the call. It selects nothing.
func WithToolCallID(id string) CallOption {
	return func(r *Request) { r.ToolCallID = id }
}
