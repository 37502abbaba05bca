package tapeprocessor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/component/componentstatus"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/processor"

	"github.com/tapedeck/tapedeck/internal/recorder"
	"github.com/tapedeck/tapedeck/internal/scrub"
	"github.com/tapedeck/tapedeck/processor/tapeprocessor/internal/metadata"
)

// A run is decided in one place. In a logs pipeline the processor therefore hands
// its records to the processor of the same name in a traces pipeline, and the run
// leaves by that one. The collector gives both the same Config, by which they find
// each other.
var twins = struct {
	sync.Mutex
	traces map[*Config][]*tapeProcessor
	// logs counts the processors in logs pipelines. All are made before any starts.
	logs map[*Config]int
}{traces: map[*Config][]*tapeProcessor{}, logs: map[*Config]int{}}

// hasLogs reports whether log records come in too.
func hasLogs(cfg *Config) bool {
	twins.Lock()
	defer twins.Unlock()
	return twins.logs[cfg] > 0
}

func countLogs(cfg *Config, n int) {
	twins.Lock()
	defer twins.Unlock()
	if twins.logs[cfg] += n; twins.logs[cfg] <= 0 {
		delete(twins.logs, cfg)
	}
}

func register(p *tapeProcessor) {
	twins.Lock()
	defer twins.Unlock()
	twins.traces[p.cfg] = append(twins.traces[p.cfg], p)
}

func unregister(p *tapeProcessor) {
	twins.Lock()
	defer twins.Unlock()
	left := slices.DeleteFunc(twins.traces[p.cfg], func(o *tapeProcessor) bool { return o == p })
	if len(left) == 0 {
		delete(twins.traces, p.cfg)
		return
	}
	twins.traces[p.cfg] = left
}

// errNoTwin says that there is nothing to hand log records to.
var errNoTwin = errors.New("the processor is in a logs pipeline and in no traces pipeline: runs leave by the traces pipeline, so that it must be in one")

// dropNoTwin is the reason under which such records are counted.
const dropNoTwin = "no_traces_pipeline"

// errManyTwins says that it is not clear which of several is meant.
var errManyTwins = errors.New("the processor is in a logs pipeline and in several traces pipelines: give each pair a name of its own")

// errNotStarted goes to senders that are there before the traces pipeline is.
var errNotStarted = errors.New("the processor in the traces pipeline has not started yet")

func twinOf(cfg *Config) (*tapeProcessor, error) {
	twins.Lock()
	defer twins.Unlock()
	switch list := twins.traces[cfg]; len(list) {
	case 0:
		return nil, errNoTwin
	case 1:
		return list[0], nil
	default:
		return nil, errManyTwins
	}
}

// logsProcessor is the processor in a logs pipeline. Records go to runs; with
// pass_through they go on in their own pipeline too.
type logsProcessor struct {
	cfg      *Config
	set      processor.Settings
	next     consumer.Logs
	builder  *metadata.TelemetryBuilder
	scrubber *scrub.Scrubber
	twin     *tapeProcessor
	uncount  sync.Once
}

func newLogsProcessor(set processor.Settings, cfg *Config, next consumer.Logs) (*logsProcessor, error) {
	scrubber, builder, err := equip(set, cfg)
	if err != nil {
		return nil, err
	}
	countLogs(cfg, 1)
	return &logsProcessor{cfg: cfg, set: set, next: next, builder: builder, scrubber: scrubber}, nil
}

func (*logsProcessor) Capabilities() consumer.Capabilities {
	return consumer.Capabilities{MutatesData: false}
}

func (p *logsProcessor) Start(_ context.Context, host component.Host) error {
	twin, err := twinOf(p.cfg)
	if errors.Is(err, errManyTwins) {
		return err
	}
	if err != nil {
		// Not a reason to stop a collector: the records are counted as lost.
		p.set.Logger.Error(err.Error())
		componentstatus.ReportStatus(host, componentstatus.NewPermanentErrorEvent(err))
	}
	p.twin = twin
	return nil
}

func (p *logsProcessor) ConsumeLogs(ctx context.Context, ld plog.Logs) error {
	if ld.LogRecordCount() == 0 {
		return nil
	}
	if err := p.record(ctx, ld); err != nil {
		return err
	}
	if !p.cfg.PassThrough {
		return nil
	}
	out := plog.NewLogs()
	ld.CopyTo(out)
	p.scrubber.Logs(out)
	if err := p.next.ConsumeLogs(ctx, out); err != nil {
		return fmt.Errorf("pass on log records: %w", err)
	}
	return nil
}

// record hands log records to the twin.
func (p *logsProcessor) record(ctx context.Context, ld plog.Logs) error {
	if p.twin == nil {
		t := &telemetry{b: p.builder}
		n := recorder.Amount{Records: ld.LogRecordCount()}
		t.Received(n)
		t.Dropped(dropNoTwin, n)
		return nil
	}
	rec := p.twin.forLogs.Load()
	if rec == nil {
		return errNotStarted
	}
	return refused(rec.AddLogs(ctx, ld), p.builder.ProcessorTapeRefusedLogRecords, ld.LogRecordCount())
}

// Shutdown may come twice, and without Start.
func (p *logsProcessor) Shutdown(context.Context) error {
	p.uncount.Do(func() { countLogs(p.cfg, -1) })
	p.builder.Shutdown()
	return nil
}
