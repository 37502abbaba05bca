package tapeprocessor

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/consumer/consumererror"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/processor"
	"go.opentelemetry.io/otel/metric"
	"go.uber.org/zap"

	"github.com/tapedeck/tapedeck/extension/tapestore"
	"github.com/tapedeck/tapedeck/internal/offload"
	"github.com/tapedeck/tapedeck/internal/recorder"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/internal/spool"
	"github.com/tapedeck/tapedeck/internal/store"
	"github.com/tapedeck/tapedeck/processor/tapeprocessor/internal/metadata"
	"github.com/tapedeck/tapedeck/tape"
)

const (
	// tick is how often due runs are looked for: small against every timeout that
	// makes sense, and cheap, because due runs are found without a scan.
	tick = 100 * time.Millisecond
	// deciders is how many decisions can wait for the next component at a time. No
	// more of them compute than there are cores.
	deciders = 16
)

type tapeProcessor struct {
	cfg  *Config
	set  processor.Settings
	next consumer.Traces

	builder    *metadata.TelemetryBuilder
	scrubber   *scrub.Scrubber
	recorder   *recorder.Recorder
	unregister func()
	// forLogs is the recorder once there is one. A logs pipeline may receive before
	// this component has started: nothing orders the two.
	forLogs atomic.Pointer[recorder.Recorder]

	stop context.CancelFunc
	done sync.WaitGroup
}

func newProcessor(set processor.Settings, cfg *Config, next consumer.Traces) (*tapeProcessor, error) {
	scrubber, builder, err := equip(set, cfg)
	if err != nil {
		return nil, err
	}
	p := &tapeProcessor{cfg: cfg, set: set, next: next, builder: builder, scrubber: scrubber}
	register(p)
	return p, nil
}

// equip makes what the processor needs in either kind of pipeline.
func equip(set processor.Settings, cfg *Config) (*scrub.Scrubber, *metadata.TelemetryBuilder, error) {
	policy, err := redact.New(cfg.Redaction)
	if err != nil {
		return nil, nil, fmt.Errorf("redaction: %w", err)
	}
	builder, err := metadata.NewTelemetryBuilder(set.TelemetrySettings)
	return scrub.New(policy), builder, err
}

func (*tapeProcessor) Capabilities() consumer.Capabilities {
	// What comes in is redacted where it is.
	return consumer.Capabilities{MutatesData: true}
}

func (p *tapeProcessor) Start(ctx context.Context, host component.Host) error {
	deps := recorder.Deps{
		Scrubber:  p.scrubber,
		Emit:      p.next.ConsumeTraces,
		Permanent: consumererror.IsPermanent,
		Telemetry: &telemetry{b: p.builder},
		Now:       time.Now,

		Logs:        hasLogs(p.cfg),
		CarryPolicy: p.cfg.Storage == nil,
	}
	var storage tapestore.Extension
	var err error
	if p.cfg.Storage != nil {
		if storage, err = tapestore.FromHost(host, *p.cfg.Storage); err != nil {
			return fmt.Errorf("storage: %w", err)
		}
		deps.Bodies = bodies{storage}
		deps.Translation = storage.Translation()
	}
	conditions, err := p.cfg.Keep.conditions(p.set.TelemetrySettings)
	if err != nil {
		return fmt.Errorf("keep::%w", err)
	}
	if conditions != nil {
		deps.Conditions = conditions
	}
	if p.recorder, err = recorder.Open(p.cfg.recorder(), deps); err != nil {
		return err
	}
	p.tellDamage()
	p.forLogs.Store(p.recorder)
	if storage != nil {
		p.unregister = storage.RegisterRuns(runs{p.recorder})
	}
	if err := observe(p.builder, p.recorder); err != nil {
		return err
	}
	// The context of Start ends with Start; the loop runs until Shutdown.
	loopCtx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p.stop = cancel
	for range deciders {
		p.done.Go(func() { p.loop(loopCtx) })
	}
	if storage != nil {
		p.done.Go(func() { p.storePolicy(loopCtx, storage.Store()) })
	}
	return nil
}

// tellDamage says what of the spool could not be read at the start.
func (p *tapeProcessor) tellDamage() {
	d := p.recorder.Status().Spool.Damage
	if d == (spool.Damage{}) {
		return
	}
	p.set.Logger.Warn("Parts of the spool are damaged or missing; everything else in it goes on",
		zap.String("directory", p.cfg.Spool.Directory),
		zap.Int64("lost_spans_and_log_records", d.Lost()),
		zap.Int64("of_which_without_a_trace", d.Missing),
		zap.Int64("damaged_regions", d.Regions),
		zap.Int64("damaged_bytes", d.Bytes))
}

// Pauses between attempts to store the policy.
const (
	policyPauseFirst = time.Second
	policyPauseMost  = time.Minute
)

// storePolicy stores the rules of redaction: whoever replays a tape redacts live
// arguments by the rules of its spans. A store that is away must neither keep the
// collector from starting nor runs from going on to a queue, so that it is tried
// until it succeeds.
func (p *tapeProcessor) storePolicy(ctx context.Context, st *store.Store) {
	for pause := policyPauseFirst; ; pause = min(2*pause, policyPauseMost) {
		err := st.PutPolicy(ctx, p.scrubber.Policy().Manifest())
		if err == nil || ctx.Err() != nil {
			return
		}
		p.set.Logger.Warn("The rules of redaction could not be stored, which is tried again", zap.Error(err), zap.Duration("after", pause))
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

func (p *tapeProcessor) loop(ctx context.Context) {
	t := time.NewTicker(tick)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			p.recorder.Tick(ctx)
		}
	}
}

// runs tells the extension, and through it the API, of runs in the spool.
type runs struct{ *recorder.Recorder }

func (r runs) Pending(ctx context.Context, tenant, traceID string) bool {
	id, err := parseTraceID(traceID)
	if err != nil || !r.Recorder.Pending(id) {
		return false
	}
	of, err := r.Of(ctx, tenant, id)
	return err == nil && of
}

func (r runs) Keep(ctx context.Context, tenant, traceID string) (tapestore.Kept, error) {
	id, err := parseTraceID(traceID)
	if err != nil {
		return tapestore.NotThere, err
	}
	if of, err := r.Of(ctx, tenant, id); err != nil || !of {
		return tapestore.NotThere, err
	}
	answer, err := r.Recorder.Keep(ctx, id)
	switch answer {
	case recorder.Waiting:
		return tapestore.KeptOnceDecided, err
	case recorder.Kept:
		return tapestore.KeptNow, err
	default:
		return tapestore.NotThere, err
	}
}

func parseTraceID(s string) (id pcommon.TraceID, err error) {
	if len(s) != hex.EncodedLen(len(id)) {
		return id, hex.ErrLength
	}
	_, err = hex.Decode(id[:], []byte(s))
	return id, err
}

func (p *tapeProcessor) ConsumeTraces(ctx context.Context, td ptrace.Traces) error {
	return refused(p.recorder.Add(ctx, td), p.builder.ProcessorTapeRefusedSpans, td.SpanCount())
}

// refused counts what the recorder did not take, and tells senders whether to try again.
func refused(err error, counter metric.Int64Counter, n int) error {
	if err != nil {
		add(counter, n)
	}
	if errors.Is(err, recorder.ErrTooLarge) {
		return consumererror.NewPermanent(err)
	}
	return err
}

// Shutdown decides what is open, or leaves it on disk. It may come twice, and
// without Start.
func (p *tapeProcessor) Shutdown(ctx context.Context) error {
	unregister(p)
	if p.stop == nil {
		p.builder.Shutdown()
		return nil
	}
	p.stop()
	p.done.Wait()
	err := p.recorder.Close(ctx)
	if p.unregister != nil {
		p.unregister()
		p.unregister = nil
	}
	p.builder.Shutdown()
	return err
}

// bodies stores large bodies through the extension.
type bodies struct{ storage tapestore.Extension }

func (b bodies) Class(row tape.Row) string { return b.storage.Class(row) }

func (b bodies) PutBody(ctx context.Context, tenant, class string, decided time.Time, body offload.Body) error {
	st, err := b.storage.Store().Tenant(tenant)
	if err != nil {
		return err
	}
	return st.PutBlob(ctx, class, decided, body.SHA256, body.Data)
}
