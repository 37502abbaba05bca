package tapereceiver

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/tapedeck/tapedeck/extension/tapestore"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/receiver/tapereceiver/internal/metadata"
	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.uber.org/zap"
)

type tapeReceiver struct {
	id        component.ID
	cfg       *Config
	logger    *zap.Logger
	settings  component.TelemetrySettings
	telemetry *metadata.TelemetryBuilder
	// Each way in is a transport of its own in the metrics of all receivers.
	fromStore, fromHTTP, fromFiles *receiverhelper.ObsReport
	next                           consumer.Traces
	store                          *store.Store

	cancel     context.CancelFunc
	done       sync.WaitGroup
	checkpoint *checkpoint
	server     *server
	posted     firsts
}

func newReceiver(set receiver.Settings, cfg *Config, next consumer.Traces) (*tapeReceiver, error) {
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	r := &tapeReceiver{id: set.ID, cfg: cfg, logger: set.Logger, settings: set.TelemetrySettings, telemetry: telemetry, next: next}
	for transport, report := range map[string]**receiverhelper.ObsReport{"store": &r.fromStore, "http": &r.fromHTTP, "file": &r.fromFiles} {
		*report, err = receiverhelper.NewObsReport(receiverhelper.ObsReportSettings{
			ReceiverID:             set.ID,
			Transport:              transport,
			ReceiverCreateSettings: set,
		})
		if err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Start begins to read and to take in, in the background.
func (r *tapeReceiver) Start(ctx context.Context, host component.Host) error {
	if err := r.start(ctx, host); err != nil {
		return errors.Join(err, r.Shutdown(ctx))
	}
	return nil
}

func (r *tapeReceiver) start(ctx context.Context, host component.Host) error {
	now := time.Now()
	query, err := r.cfg.query(now)
	if err != nil {
		return err
	}
	if r.cfg.Mode != ModeNone {
		ext, err := tapestore.FromHost(host, r.cfg.Storage)
		if err != nil {
			return err
		}
		r.store = ext.Store()
	}
	if r.checkpoint, err = openCheckpoint(ctx, host, r.cfg.Checkpoint, r.id); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	var state *followState
	if r.cfg.Mode == ModeFollow {
		if state, err = r.resume(ctx, query.Since, now); err != nil {
			return err
		}
	}
	background, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	if r.cfg.HTTP.HasValue() {
		if r.server, err = r.serve(ctx, host, r.cfg.HTTP.Get()); err != nil {
			return err
		}
	}
	if r.cfg.Watch.HasValue() {
		w, err := r.newWatcher(ctx, r.cfg.Watch.Get())
		if err != nil {
			return fmt.Errorf("watch: %w", err)
		}
		r.done.Go(func() { w.run(background) })
	}
	r.done.Go(func() {
		if err := r.read(background, query, state); err != nil && background.Err() == nil {
			r.logger.Error("Reading stored runs has ended", zap.Error(err))
		}
	})
	return nil
}

// read reads what the configuration selects.
func (r *tapeReceiver) read(ctx context.Context, query store.Query, state *followState) error {
	switch {
	case r.cfg.Mode == ModeNone:
		return nil
	case len(r.cfg.TraceIDs) > 0:
		return r.readIDs(ctx)
	case r.cfg.Mode == ModeFollow:
		return r.follow(ctx, query, state)
	default:
		return r.readAll(ctx, query)
	}
}

// Shutdown takes in nothing more and stops reading. It may be called before Start
// and more than once.
func (r *tapeReceiver) Shutdown(ctx context.Context) error {
	var err error
	if r.server != nil {
		err = r.server.shutdown(ctx)
		r.server = nil
	}
	if r.cancel != nil {
		r.cancel()
	}
	stopped := make(chan struct{})
	go func() {
		r.done.Wait()
		close(stopped)
	}()
	select {
	case <-stopped:
	case <-ctx.Done():
		return errors.Join(err, ctx.Err())
	}
	if r.checkpoint != nil {
		err = errors.Join(err, r.checkpoint.close(ctx))
		r.checkpoint = nil
	}
	r.telemetry.Shutdown()
	return err
}

// sleep waits, or returns why it stopped to.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
