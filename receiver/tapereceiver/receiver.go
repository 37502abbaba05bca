package tapereceiver

import (
	"context"
	"errors"
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

// overlap is how far each look at the store goes back behind the one before: a
// row may be written minutes after its decision, when it had to wait in a queue.
const overlap = 10 * time.Minute

type tapeReceiver struct {
	cfg       *Config
	logger    *zap.Logger
	telemetry *metadata.TelemetryBuilder
	report    *receiverhelper.ObsReport
	next      consumer.Traces
	store     *store.Store

	cancel context.CancelFunc
	done   sync.WaitGroup
}

func newReceiver(set receiver.Settings, cfg *Config, next consumer.Traces) (*tapeReceiver, error) {
	telemetry, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	if err != nil {
		return nil, err
	}
	report, err := receiverhelper.NewObsReport(receiverhelper.ObsReportSettings{
		ReceiverID:             set.ID,
		Transport:              "store",
		ReceiverCreateSettings: set,
	})
	if err != nil {
		return nil, err
	}
	return &tapeReceiver{cfg: cfg, logger: set.Logger, telemetry: telemetry, report: report, next: next}, nil
}

// Start begins to read in the background.
func (r *tapeReceiver) Start(_ context.Context, host component.Host) error {
	ext, err := tapestore.FromHost(host, r.cfg.Storage)
	if err != nil {
		return err
	}
	r.store = ext.Store()
	now := time.Now()
	query, err := r.cfg.query(now)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	r.done.Go(func() {
		var err error
		switch {
		case len(r.cfg.TraceIDs) > 0:
			err = r.readIDs(ctx)
		case r.cfg.Mode == ModeFollow:
			err = r.follow(ctx, query, now)
		default:
			err = r.readAll(ctx, query)
		}
		if err != nil && ctx.Err() == nil {
			r.logger.Error("Reading stored runs has ended", zap.Error(err))
		}
	})
	return nil
}

// Shutdown stops reading. It may be called before Start and more than once.
func (r *tapeReceiver) Shutdown(ctx context.Context) error {
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
		r.telemetry.Shutdown()
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *tapeReceiver) readIDs(ctx context.Context) error {
	sent := 0
	for _, id := range r.cfg.TraceIDs {
		ok, err := r.run(ctx, id)
		if err != nil {
			return err
		}
		if ok {
			sent++
		}
	}
	r.ended(sent)
	return nil
}

func (r *tapeReceiver) readAll(ctx context.Context, query store.Query) error {
	sent, err := r.pages(ctx, query, func(string, string) bool { return true })
	if err != nil {
		return err
	}
	r.ended(sent)
	return nil
}

// ended says how much was read: a selection that fits nothing is usually a
// mistake.
func (r *tapeReceiver) ended(sent int) {
	if sent == 0 {
		r.logger.Warn("No stored run was sent: the store has none that fits the configuration")
		return
	}
	r.logger.Info("All stored runs that fit the configuration were sent", zap.Int("runs", sent))
}

// follow looks again and again for runs decided since the start, or since the
// time configured. A run whose row changed is sent again.
func (r *tapeReceiver) follow(ctx context.Context, query store.Query, now time.Time) error {
	from := query.Since
	if from.IsZero() {
		from = now
	}
	// seen has the decision of each run sent that the next look finds again.
	seen := map[string]string{}
	for looked := from; ; {
		query.Since = from
		if back := looked.Add(-overlap); back.After(from) {
			query.Since = back
		}
		looking := time.Now()
		_, err := r.pages(ctx, query, func(id, decided string) bool {
			if seen[id] == decided {
				return false
			}
			seen[id] = decided
			return true
		})
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			r.logger.Error("The store cannot be read, trying again at the next look", zap.Error(err))
		default:
			looked = looking
		}
		for id, decided := range seen {
			if t, err := time.Parse(time.RFC3339Nano, decided); err != nil || t.Before(query.Since) {
				delete(seen, id)
			}
		}
		if err := sleep(ctx, r.cfg.PollInterval); err != nil {
			return err
		}
	}
}

// pages sends the runs of a query that want agrees to, page by page, and counts
// them.
func (r *tapeReceiver) pages(ctx context.Context, query store.Query, want func(id, decided string) bool) (int, error) {
	sent := 0
	for {
		var page store.Page
		if err := r.retried(ctx, func() (err error) {
			page, err = r.store.Rows(ctx, query)
			return err
		}); err != nil {
			return sent, err
		}
		for _, row := range page.Rows {
			if !want(row.TraceID, row.Decided) {
				continue
			}
			ok, err := r.run(ctx, row.TraceID)
			if err != nil {
				return sent, err
			}
			if ok {
				sent++
			}
		}
		if page.Next == "" {
			return sent, nil
		}
		query.Cursor = page.Next
	}
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

// lasting reports errors of the store that will not go away.
func lasting(err error) bool {
	return errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrDamaged) || errors.Is(err, store.ErrTooLarge)
}
