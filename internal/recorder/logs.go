package recorder

import (
	"context"
	"fmt"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"
	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/buffer"
	"github.com/tapedeck/tapedeck/internal/cut"
	"github.com/tapedeck/tapedeck/internal/dialect"
)

// logsMark starts a chunk of log records. No protobuf message starts with a zero
// byte, so that such a chunk cannot be taken for one of spans.
const logsMark = 0

var (
	logsMarshaler   plog.ProtoMarshaler
	logsUnmarshaler plog.ProtoUnmarshaler
)

// AddLogs takes log records: they join the run whose trace they name, else a run
// of their session. It keeps nothing of ld and does not change it. The promises
// of Add hold.
func (r *Recorder) AddLogs(ctx context.Context, ld plog.Logs) error {
	chunks, homeless, err := splitLogs(ld, r.cfg.MaxBytes)
	if err != nil {
		return err
	}
	if err := r.addAll(ctx, chunks); err != nil {
		return err
	}
	r.deps.Telemetry.Received(Amount{Records: homeless})
	r.deps.Telemetry.Dropped(DropNoTraceID, Amount{Records: homeless})
	return nil
}

// splitLogs cuts log records by run and marshals the parts, in the order in which
// the runs first appear. Records that name neither a trace nor a session belong
// nowhere and are counted. The error is ErrTooLarge when the parts come to more
// than limit bytes.
func splitLogs(ld plog.Logs, limit int64) (chunks []chunk, homeless int, err error) {
	if n := cut.LogsByRunSize(ld, runOf); n > limit {
		return nil, 0, fmt.Errorf("%w: taken apart by run the log records come to %d bytes, buffer has %d", ErrTooLarge, n, limit)
	}
	at := make(map[buffer.ID]int, 1)
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
					i = len(chunks)
					at[id] = i
					chunks = append(chunks, chunk{id: id})
					split = append(split, logPart{ld: plog.NewLogs()})
				}
				// The records of one delivery stay together: a repeated delivery is
				// known by that.
				out := split[i].records(rl, sl).AppendEmpty()
				rec.CopyTo(out)
				out.SetTraceID(pcommon.TraceID(id))
				c := &chunks[i]
				c.records++
				if rec.TraceID().IsEmpty() {
					c.session = true
					if call := dialect.LogCallID(rec); call != "" {
						c.callIDs = append(c.callIDs, call)
					}
				}
			}
		}
	}
	for i := range chunks {
		data, err := marshalLogs(split[i].ld)
		if err != nil {
			return nil, 0, fmt.Errorf("marshal log records of %x: %w", chunks[i].id, err)
		}
		chunks[i].data = data
	}
	return chunks, homeless, nil
}

func marshalLogs(ld plog.Logs) ([]byte, error) {
	data, err := logsMarshaler.MarshalLogs(ld)
	if err != nil {
		return nil, err
	}
	return append([]byte{logsMark}, data...), nil
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
func runOf(rec plog.LogRecord) (id buffer.ID, ok bool) {
	if trace := rec.TraceID(); !trace.IsEmpty() {
		return buffer.ID(trace), true
	}
	session := dialect.LogSession(rec)
	if session == "" {
		return id, false
	}
	return buffer.ID(dialect.LogTraceID(session)), true
}

// parts are the spans and log records of a run. What cannot be read is left out;
// broken is the last reason.
type parts struct {
	td     ptrace.Traces
	ld     plog.Logs
	broken error
}

func (p *parts) amount() Amount { return Amount{p.td.SpanCount(), p.ld.LogRecordCount()} }

// decode reads the chunks of a run.
func decode(chunks [][]byte) parts {
	p := parts{td: ptrace.NewTraces(), ld: plog.NewLogs()}
	for _, data := range chunks {
		if len(data) > 0 && data[0] == logsMark {
			part, err := logsUnmarshaler.UnmarshalLogs(data[1:])
			if err != nil {
				p.broken = err
				continue
			}
			part.ResourceLogs().MoveAndAppendTo(p.ld.ResourceLogs())
			continue
		}
		part, err := unmarshaler.UnmarshalTraces(data)
		if err != nil {
			p.broken = err
			continue
		}
		part.ResourceSpans().MoveAndAppendTo(p.td.ResourceSpans())
	}
	return p
}
