package tapereceiver

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v7"
	"github.com/tapedeck/tapedeck/internal/attr"
	"github.com/tapedeck/tapedeck/internal/cut"
	"github.com/tapedeck/tapedeck/internal/offload"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/internal/store/rebuild"
	"github.com/tapedeck/tapedeck/receiver/tapereceiver/internal/metadata"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver/receiverhelper"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"
)

// run sends one stored run. An error ends the reading: the receiver is shut down.
func (r *tapeReceiver) run(ctx context.Context, st *store.Store, id string) (verdict, error) {
	var stored *rebuild.Stored
	err := r.retried(ctx, func() (err error) {
		stored, err = r.stored(ctx, st, id)
		return err
	})
	switch {
	case ctx.Err() != nil:
		return pending, ctx.Err()
	case errors.Is(err, store.ErrNotFound):
		r.count("not_found")
		r.logger.Warn("A run is not in the store", zap.String("trace_id", id))
		return settled, nil
	case lasting(err):
		r.count("damaged")
		r.logger.Warn("A stored run cannot be read", zap.String("trace_id", id), zap.Error(err))
		return settled, nil
	case err != nil:
		r.count("failed")
		r.logger.Error("The store cannot be read, a run is left out", zap.String("trace_id", id), zap.Error(err))
		return pending, nil
	}
	r.trouble(ctx, stored)
	unmark(stored.Traces)
	if r.cfg.Time == TimeShift {
		shift(stored.Traces, time.Now())
	}
	err = r.deliver(ctx, r.fromStore, stored.Traces)
	switch {
	case ctx.Err() != nil:
		return pending, ctx.Err()
	case err == nil:
		r.count("sent")
		return sent, nil
	}
	r.logger.Error("Spans of a stored run were refused", zap.String("trace_id", id), zap.Error(err))
	if consumererror.IsPermanent(err) {
		r.count("dropped")
		return settled, nil
	}
	r.count("failed")
	return pending, nil
}

func (r *tapeReceiver) stored(ctx context.Context, st *store.Store, id string) (*rebuild.Stored, error) {
	if r.cfg.Bodies == BodiesRestore {
		return rebuild.Traces(ctx, st, id)
	}
	run, err := st.Trace(ctx, id)
	if err != nil {
		return nil, err
	}
	// What only looks like a reference was escaped, and is that text again; the
	// references stay, which is no error here.
	_, _ = offload.Restore(run.Traces, func(offload.Ref) ([]byte, error) { return nil, offload.ErrMissing })
	return &rebuild.Stored{Run: run}, nil
}

// trouble names what is missing of a run that is sent all the same.
func (r *tapeReceiver) trouble(ctx context.Context, stored *rebuild.Stored) {
	r.telemetry.TapeReceiverMissingBodies.Add(ctx, int64(len(stored.Missing)))
	r.telemetry.TapeReceiverDamagedParts.Add(ctx, int64(len(stored.Damaged)))
	if len(stored.Damaged) > 0 {
		r.logger.Warn("Parts of a stored run cannot be read, it is sent without them",
			zap.String("trace_id", stored.TraceID), zap.Errors("parts", stored.Damaged))
	}
	if len(stored.Missing) > 0 {
		bodies := make([]string, 0, len(stored.Missing))
		for _, ref := range stored.Missing {
			bodies = append(bodies, "sha256:"+ref.SHA256)
		}
		r.logger.Warn("Bodies of a stored run are not in the store, it is sent with their references",
			zap.String("trace_id", stored.TraceID), zap.Strings("bodies", bodies))
	}
}

func (r *tapeReceiver) count(result string) {
	r.telemetry.TapeReceiverRuns.Add(context.Background(), 1, metric.WithAttributes(attribute.String("result", result)))
}

// deliver sends a trace in parts under the size of a request. What is refused for
// good does not keep the rest from being sent; anything else ends it, for all of it
// comes again. The error is permanent when nothing of what was not taken will be.
func (r *tapeReceiver) deliver(ctx context.Context, report *receiverhelper.ObsReport, td ptrace.Traces) error {
	var refused error
	for _, part := range cut.Requests(td, r.cfg.MaxRequestBytes, nil) {
		err := r.send(ctx, report, part)
		if err != nil && !consumererror.IsPermanent(err) {
			return err
		}
		if refused == nil {
			refused = err
		}
	}
	return refused
}

// send hands spans to the next component until it takes or refuses them.
func (r *tapeReceiver) send(ctx context.Context, report *receiverhelper.ObsReport, td ptrace.Traces) error {
	return r.retried(ctx, func() error {
		// The next component may change what it is given, and it may come back.
		given := ptrace.NewTraces()
		td.CopyTo(given)
		err := r.offer(ctx, report, given)
		var part consumererror.Traces
		if errors.As(err, &part) {
			// Some of it was taken.
			td = part.Data()
		}
		return err
	})
}

// offer hands spans to the next component once.
func (r *tapeReceiver) offer(ctx context.Context, report *receiverhelper.ObsReport, td ptrace.Traces) error {
	spans := td.SpanCount()
	op := report.StartTracesOp(ctx)
	err := r.next.ConsumeTraces(op, td)
	report.EndTracesOp(op, metadata.Type.String(), spans, err)
	return err
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
