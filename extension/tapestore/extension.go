package tapestore

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/tapedeck/tapedeck/extension/tapestore/internal/metadata"
	"github.com/tapedeck/tapedeck/internal/attribution"
	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/retention"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/dir"
	"github.com/tapedeck/tapedeck/tape"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/extension"
	"go.uber.org/zap"
)

// Classes of runs where nothing else is configured.
const (
	// ClassFailures takes runs in which something went wrong.
	ClassFailures = retention.ClassFailures
	// ClassKept takes all others.
	ClassKept = retention.ClassKept
)

type storeExtension struct {
	cfg         *Config
	logger      *zap.Logger
	telemetry   *metadata.TelemetryBuilder
	translation dialect.Options
	store       atomic.Pointer[store.Store]
	upkeep      upkeep
	policy      *retention.Policy
	sweeping    sweeping

	Registry
}

var (
	_ extension.Extension = (*storeExtension)(nil)
	_ Extension           = (*storeExtension)(nil)
)

func newExtension(set extension.Settings, cfg *Config) (*storeExtension, error) {
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	attributor, err := attribution.New(cfg.Attribution)
	if err != nil {
		return nil, fmt.Errorf("attribution: %w", err)
	}
	return &storeExtension{
		cfg:         cfg,
		logger:      set.Logger,
		telemetry:   telemetry,
		translation: dialect.Options{Config: &cfg.Translation, Attribution: attributor},
		policy:      cfg.Retention.Policy(),
	}, nil
}

// Start opens the store. A bucket is not asked whether it is there: one that is
// out of reach must not keep a collector from starting.
func (e *storeExtension) Start(ctx context.Context, _ component.Host) error {
	backend, leftovers, err := e.open(ctx)
	if err != nil {
		return err
	}
	opts := store.Options{FlushRows: e.cfg.Index.FlushRows, OnDamaged: e.damaged}
	if opts.Journal, err = e.journal(); err != nil {
		return err
	}
	st, err := store.Open(backend, opts)
	if err != nil {
		return err
	}
	if old := e.store.Swap(st); old != nil {
		e.close(ctx, old)
	}
	e.upkeep = e.maintainIndex(st)
	e.sweeping = e.sweep(st, leftovers)
	return nil
}

func (e *storeExtension) open(ctx context.Context) (store.Backend, retention.Leftovers, error) {
	if e.cfg.S3.HasValue() {
		backend, err := e.cfg.S3.Get().open(ctx, e.requested)
		if err != nil {
			return nil, nil, err
		}
		return &observed{Backend: backend, telemetry: e.telemetry}, backend, nil
	}
	backend, err := dir.Open(e.cfg.Directory.Path)
	if err != nil {
		return nil, nil, err
	}
	return &observedAppender{
		observed: observed{Backend: backend, telemetry: e.telemetry},
		appender: backend,
	}, backend, nil
}

// Shutdown closes the store. The collector stops the components that use it
// before.
func (e *storeExtension) Shutdown(ctx context.Context) error {
	if st := e.store.Swap(nil); st != nil {
		e.close(ctx, st)
	}
	e.telemetry.Shutdown()
	return nil
}

func (e *storeExtension) close(ctx context.Context, st *store.Store) {
	e.sweeping.end()
	if err := e.upkeep.end(ctx, st); err != nil {
		e.logger.Warn("Rows of the tape store's index wait in the journal for the next start", zap.Error(err))
	}
	st.Close()
}

func (e *storeExtension) damaged(name string, err error) {
	e.telemetry.TapeStoreDamaged.Add(context.Background(), 1)
	e.logger.Warn("Damaged object in the tape store", zap.String("object", name), zap.Error(err))
}

// Store implements Extension.
func (e *storeExtension) Store() *store.Store { return e.store.Load() }

// Translation implements Extension.
func (e *storeExtension) Translation() dialect.Options { return e.translation }

// Class implements Extension.
func (e *storeExtension) Class(row tape.Row) string { return e.policy.ClassOf(row) }

// DefaultClass is the class of a kept run where nothing else is configured.
func DefaultClass(row tape.Row) string { return defaultPolicy().ClassOf(row) }

var defaultPolicy = sync.OnceValue(func() *retention.Policy {
	c := retention.DefaultConfig()
	return c.Policy()
})
