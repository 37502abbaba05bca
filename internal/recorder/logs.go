package recorder

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/cut"
	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/once"
	"github.com/tapedeck/tapedeck/internal/spool"
)

var logsSizer plog.ProtoMarshaler

// AddLogs takes log records: they join the run whose trace they name, else a run
// of their session. It keeps nothing of ld and does not change it. The promises
// of Add hold.
func (r *Recorder) AddLogs(ctx context.Context, ld plog.Logs) error {
	pieces, homeless, err := splitLogs(ld, r.cfg.Spool.MaxBytes)
	if err != nil {
		return err
	}
	if err := r.take(ctx, pieces); err != nil {
		return err
	}
	r.deps.Telemetry.Received(Amount{Records: homeless})
	r.deps.Telemetry.Dropped(DropNoTraceID, Amount{Records: homeless})
	return nil
}

// splitLogs cuts log records by run, in the order in which the runs first appear.
// Records that name neither a trace nor a session belong nowhere and are counted.
// The error is ErrTooLarge when the parts come to more than limit bytes.
func splitLogs(ld plog.Logs, limit int64) (pieces []piece, homeless int, err error) {
	if n := cut.LogsByRunSize(ld, runOf); n > limit {
		return nil, 0, fmt.Errorf("%w: taken apart by run the log records come to %d bytes, the spool has %d", ErrTooLarge, n, limit)
	}
	at := make(map[ID]int, 1)
	var split []logPart
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, rec := range sl.LogRecords().All() {
				id, ok := runOf(rec)
				if !ok {
					homeless++
					continue
				}
				i, known := at[id]
				if !known {
					i = len(pieces)
					at[id] = i
					pieces = append(pieces, piece{id: id, logs: true})
					split = append(split, logPart{ld: plog.NewLogs()})
				}
				// The records of one delivery stay together: a repeated delivery is
				// known by that.
				out := split[i].records(rl, sl).AppendEmpty()
				rec.CopyTo(out)
				out.SetTraceID(pcommon.TraceID(id))
				p := &pieces[i]
				p.amount.Records++
				if rec.TraceID().IsEmpty() {
					p.session = true
					if call := dialect.LogCallID(rec); call != "" {
						if p.kin == nil {
							p.kin = &kin{}
						}
						p.kin.logCalls = appendNew(p.kin.logCalls, nameOfText(call))
					}
				}
			}
		}
	}
	for i := range pieces {
		pieces[i].ld = split[i].ld
		pieces[i].bytes = int64(logsSizer.LogsSize(split[i].ld))
	}
	return pieces, homeless, nil
}

// logPart is a copy of some log records that are visited in their order, with the
// resources and scopes above them opened as they come.
type logPart struct {
	ld plog.Logs

	fromRL, toRL plog.ResourceLogs
	fromSL, toSL plog.ScopeLogs
	begun        bool
}

// records is where a record that stands below rl and sl belongs.
func (p *logPart) records(rl plog.ResourceLogs, sl plog.ScopeLogs) plog.LogRecordSlice {
	newResource := !p.begun || p.fromRL != rl
	if newResource {
		p.toRL = p.ld.ResourceLogs().AppendEmpty()
		rl.Resource().CopyTo(p.toRL.Resource())
		p.toRL.SetSchemaUrl(rl.SchemaUrl())
	}
	if newResource || p.fromSL != sl {
		p.toSL = p.toRL.ScopeLogs().AppendEmpty()
		sl.Scope().CopyTo(p.toSL.Scope())
		p.toSL.SetSchemaUrl(sl.SchemaUrl())
	}
	p.fromRL, p.fromSL, p.begun = rl, sl, true
	return p.toSL.LogRecords()
}

// runOf is the run a record belongs to.
func runOf(rec plog.LogRecord) (id ID, ok bool) {
	if trace := rec.TraceID(); !trace.IsEmpty() {
		return ID(trace), true
	}
	session := dialect.LogSession(rec)
	if session == "" {
		return id, false
	}
	return ID(dialect.LogTraceID(session)), true
}

// parts are the spans and log records of a run. What cannot be read is left out;
// broken is the last reason.
type parts struct {
	td     ptrace.Traces
	ld     plog.Logs
	broken error
}

func (p *parts) amount() Amount { return Amount{p.td.SpanCount(), p.ld.LogRecordCount()} }

// load reads a run that the caller owns.
func (r *Recorder) load(rn *run) parts {
	p := parts{td: ptrace.NewTraces(), ld: plog.NewLogs()}
	d := once.NewDecoder()
	_, err := r.spool.Read(rn.places(), func(_ int, rec *spool.Record) error {
		var err error
		if rec.Kind == kindLogs {
			var ld plog.Logs
			if ld, err = d.Logs(rec.Payload); err == nil {
				ld.ResourceLogs().MoveAndAppendTo(p.ld.ResourceLogs())
			}
		} else {
			var td ptrace.Traces
			if td, err = d.Traces(rec.Payload); err == nil {
				td.ResourceSpans().MoveAndAppendTo(p.td.ResourceSpans())
			}
		}
		if err != nil {
			p.broken = err
		}
		return nil
	})
	if err != nil {
		p.broken = err
	}
	return p
}
