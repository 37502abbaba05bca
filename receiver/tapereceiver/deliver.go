package tapereceiver

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v7"
	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/cut"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/rebuild"
	"github.com/tapedeck/tapedeck/receiver/tapereceiver/internal/metadata"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
)

// run sends one stored run and reports whether it was sent whole. An error ends
// the reading: the receiver is shut down.
func (r *tapeReceiver) run(ctx context.Context, id string) (bool, error) {
	var stored *rebuild.Stored
	err := r.retried(ctx, func() (err error) {
		stored, err = rebuild.Traces(ctx, r.store, id)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case errors.Is(err, store.ErrNotFound):
		r.count("not_found")
		r.logger.Warn("A run is not in the store", zap.String("trace_id", id))
		return false, nil
	case lasting(err):
		r.count("damaged")
		r.logger.Warn("A stored run cannot be read", zap.String("trace_id", id), zap.Error(err))
		return false, nil
	case err != nil:
		r.count("dropped")
		r.logger.Error("The store cannot be read, a run is left out", zap.String("trace_id", id), zap.Error(err))
		return false, nil
	}
	r.telemetry.TapeReceiverMissingBodies.Add(ctx, int64(len(stored.Missing)))
	unmark(stored.Traces)
	whole := true
	for _, part := range cut.Requests(stored.Traces, r.cfg.MaxRequestBytes, nil) {
		if err := r.send(ctx, part); err != nil {
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			whole = false
			r.logger.Error("Spans of a stored run were refused", zap.String("trace_id", id), zap.Error(err))
		}
	}
	if whole {
		r.count("sent")
	} else {
		r.count("dropped")
	}
	return whole, nil
}

func (r *tapeReceiver) count(result string) {
	r.telemetry.TapeReceiverRuns.Add(context.Background(), 1, metric.WithAttributes(attribute.String("result", result)))
}

// send hands spans to the next component until it takes or refuses them.
func (r *tapeReceiver) send(ctx context.Context, td ptrace.Traces) error {
	return r.retried(ctx, func() error {
		spans := td.SpanCount()
		op := r.report.StartTracesOp(ctx)
		// The next component may change what it is given, and it may come back.
		given := ptrace.NewTraces()
		td.CopyTo(given)
		err := r.next.ConsumeTraces(op, given)
		r.report.EndTracesOp(op, metadata.Type.String(), spans, err)
		var part consumererror.Traces
		if errors.As(err, &part) {
			// Some of it was taken.
			td = part.Data()
		}
		return err
	})
}

// retried calls fn until it succeeds, fails for good, or the time for it is up.
func (r *tapeReceiver) retried(ctx context.Context, fn func() error) error {
	cfg := r.cfg.RetryConfig
	pause := backoff.ExponentialBackOff{
		InitialInterval:     cfg.InitialInterval,
		RandomizationFactor: cfg.RandomizationFactor,
		Multiplier:          cfg.Multiplier,
		MaxInterval:         cfg.MaxInterval,
	}
	pause.Reset()
	began := time.Now()
	for {
		err := fn()
		if err == nil || !cfg.Enabled || lasting(err) || consumererror.IsPermanent(err) {
			return err
		}
		wait := pause.NextBackOff()
		if cfg.MaxElapsedTime > 0 && time.Since(began)+wait > cfg.MaxElapsedTime {
			return err
		}
		r.telemetry.TapeReceiverRetries.Add(ctx, 1)
		r.logger.Info("Trying again", zap.Error(err), zap.Duration("in", wait))
		if err := sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// unmark takes off what says that the spans are redacted and their bodies
// safely taken out: with the bodies back, whoever stores them again must look
// again.
func unmark(td ptrace.Traces) {
	for _, rs := range td.ResourceSpans().All() {
		rs.Resource().Attributes().Remove(attr.Redaction)
		rs.Resource().Attributes().Remove(attr.RedactionRules)
	}
}
