package tapestore

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/tapedeck/tapedeck/internal/retention"
	"github.com/tapedeck/tapedeck/internal/store"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
)

// sweeping is the goroutine that removes what is to go. The zero value is none.
type sweeping struct {
	stop context.CancelFunc
	done *sync.WaitGroup
}

// firstSweep is when the first sweep begins at the latest, so that a collector that
// is restarted often sweeps too.
const firstSweep = 5 * time.Minute

// sweep removes what is to go every interval, until it is ended. Collectors of one
// store spread themselves: a random part of each pause is left out.
func (e *storeExtension) sweep(st *store.Store, leftovers retention.Leftovers) sweeping {
	interval := e.cfg.Retention.Interval
	if interval == 0 {
		return sweeping{}
	}
	ctx, cancel := context.WithCancel(context.Background())
	s := e.sweeper(st, leftovers)
	var done sync.WaitGroup
	done.Go(func() {
		first := min(interval, firstSweep)
		timer := time.NewTimer(first/2 + rand.N(first/2+1))
		defer timer.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-timer.C:
				e.sweepOnce(ctx, s)
				timer.Reset(interval - rand.N(interval/10+1))
			}
		}
	})
	return sweeping{stop: cancel, done: &done}
}

// end stops a sweep where it is, which does no harm, and waits for it.
func (s *sweeping) end() {
	if s.stop != nil {
		s.stop()
		s.done.Wait()
	}
	*s = sweeping{}
}

func (e *storeExtension) sweeper(st *store.Store, leftovers retention.Leftovers) *retention.Sweeper {
	// A finding is told once, and again when the process starts anew.
	var told sync.Map
	return &retention.Sweeper{
		Store: st, Policy: e.policy, Leftovers: leftovers,
		Removed: func(i retention.Item) {
			at := metric.WithAttributes(attribute.String("kind", string(i.Kind)), attribute.String("class", i.Class))
			n := int64(1)
			if i.Kind == retention.KindRows {
				n = int64(i.Count)
			}
			e.telemetry.TapeStoreRemoved.Add(context.Background(), n, at)
			e.telemetry.TapeStoreRemovedBytes.Add(context.Background(), i.Bytes, at)
			e.logger.Info("Audit", append(fieldsOf(&i), zap.String("action", "expire"), zap.String("subject", "retention"))...)
		},
		Failed: func(i retention.Item, err error) {
			e.telemetry.TapeStoreRemovalErrors.Add(context.Background(), 1,
				metric.WithAttributes(attribute.String("kind", string(i.Kind)), attribute.String("class", i.Class)))
			e.logger.Warn("Could not remove from the tape store", append(fieldsOf(&i), zap.Error(err))...)
		},
		Found: func(f retention.Finding) {
			if _, before := told.LoadOrStore(f, true); !before {
				e.logger.Warn("Retention of the tape store: "+f.Text, zap.String("tenant", f.Tenant), zap.String("class", f.Class))
			}
		},
	}
}

func fieldsOf(i *retention.Item) []zap.Field {
	fields := []zap.Field{
		zap.String("kind", string(i.Kind)), zap.String("object", i.Name), zap.String("reason", i.Reason),
		zap.Int("count", i.Count), zap.Int64("bytes", i.Bytes), zap.Time("stored", i.Stored),
	}
	for name, value := range map[string]string{"trace_id": i.TraceID, "class": i.Class, "tenant": i.Tenant} {
		if value != "" {
			fields = append(fields, zap.String(name, value))
		}
	}
	return fields
}

func (e *storeExtension) sweepOnce(ctx context.Context, s *retention.Sweeper) {
	report, err := s.Sweep(ctx)
	outcome := "ok"
	switch {
	case ctx.Err() != nil:
		// The collector stops.
		return
	case err != nil:
		outcome = "error"
		e.logger.Warn("A sweep of the tape store did not do all it should", zap.Error(err))
	default:
		e.telemetry.TapeStoreSweepLast.Record(ctx, time.Now().Unix())
	}
	e.telemetry.TapeStoreSweeps.Add(ctx, 1, metric.WithAttributes(attribute.String("outcome", outcome)))
	if !report.Waits.IsZero() {
		e.logger.Debug("Nothing goes from the tape store before a policy has stood for its grace period", zap.Time("until", report.Waits))
	}
}
