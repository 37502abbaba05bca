package recorder

import (
	"context"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/tapedeck/tapedeck/internal/buffer"
	"github.com/tapedeck/tapedeck/internal/dialect"
)

// claimRecords moves log records into a run that is being decided: those that
// name no trace, but a session or a call that the run's spans name too, up to the
// run's end and the time it settles in. Records of a session that several runs share go to
// the run that is decided first after them; what no run claims is decided as a run
// of its own.
func (r *Recorder) claimRecords(ctx context.Context, id buffer.ID, p *parts) error {
	if p.td.SpanCount() == 0 {
		return nil
	}
	until := findHead(p.td).end.AsTime().Add(r.cfg.RootSettle)
	for _, from := range r.related(p) {
		if from == id {
			continue
		}
		if err := r.claimFrom(ctx, from, id, pcommon.NewTimestampFromTime(until), p); err != nil {
			return err
		}
	}
	return nil
}

// related lists the runs of the sessions that spans name, and those whose records
// name one of the spans' calls: not every agent writes its session on spans.
func (r *Recorder) related(p *parts) (ids []buffer.ID) {
	for _, session := range dialect.Sessions(p.td) {
		ids = append(ids, buffer.ID(dialect.LogTraceID(session)))
	}
	calls := dialect.CallIDs(p.td)
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, call := range calls {
		if rn := r.idx.byCall[call]; rn != nil && !slices.Contains(ids, rn.id) {
			ids = append(ids, rn.id)
		}
	}
	return ids
}

func (r *Recorder) claimFrom(ctx context.Context, from, to buffer.ID, until pcommon.Timestamp, p *parts) error {
	src, done, err := r.take(ctx, from)
	if src == nil || err != nil {
		return err
	}
	chunks, err := r.deps.Buffer.Load(from)
	mine, rest := plog.NewLogs(), plog.NewLogs()
	if err == nil {
		all := decode(chunks)
		// No spans are among them: take sees to it.
		cutLogs(all.ld, mine, rest, pcommon.TraceID(to), until)
	}
	moved, left := mine.LogRecordCount(), int64(0)
	if err == nil && moved > 0 {
		left, err = r.move(from, to, mine, rest)
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	defer done()
	src.state = stateOpen
	if err != nil || moved == 0 {
		r.idx.schedule(src, r.deadline(src))
		return err
	}
	mine.ResourceLogs().MoveAndAppendTo(p.ld.ResourceLogs())
	r.idx.get(to).records += moved
	src.records -= moved
	src.bytes = left
	if rest.LogRecordCount() == 0 {
		r.idx.forget(src)
		return nil
	}
	r.idx.schedule(src, r.deadline(src))
	return nil
}

// take marks an open run of log records as being decided, waiting for whoever does
// so already; it returns nil when the run is not open. One with spans is not to be
// taken from: its trace id is that of a session by chance or by malice, and it may
// itself be waiting for this run.
func (r *Recorder) take(ctx context.Context, id buffer.ID) (rn *run, done func(), err error) {
	for {
		r.mu.Lock()
		rn := r.idx.get(id)
		if rn == nil || rn.spans > 0 || rn.state != stateOpen && rn.state != stateDeciding {
			r.mu.Unlock()
			return nil, nil, nil
		}
		if rn.state == stateOpen {
			done := r.begin(rn)
			r.mu.Unlock()
			return rn, done, nil
		}
		busy := rn.busy
		r.mu.Unlock()
		select {
		case <-busy:
		case <-ctx.Done():
			return nil, nil, ctx.Err()
		}
	}
}

// move rewrites the buffer: mine is appended to its new run, the old one keeps the
// rest. The new place comes first: a crash in between repeats records, which a
// translation recognises, and loses none. It returns the bytes of the rest.
func (r *Recorder) move(from, to buffer.ID, mine, rest plog.Logs) (left int64, err error) {
	data, err := marshalLogs(mine)
	if err != nil {
		return 0, err
	}
	remains, err := marshalLogs(rest)
	if err != nil {
		return 0, err
	}
	if err := r.deps.Buffer.Append(to, data); err != nil {
		return 0, err
	}
	r.deps.Buffer.Drop(from)
	if rest.LogRecordCount() == 0 {
		return 0, nil
	}
	return int64(len(remains)), r.deps.Buffer.Append(from, remains)
}

// cutLogs divides records by time. Those up to until get the trace id of the run
// they move to.
func cutLogs(ld, mine, rest plog.Logs, id pcommon.TraceID, until pcommon.Timestamp) {
	toMine, toRest := logPart{ld: mine}, logPart{ld: rest}
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, rec := range sl.LogRecords().All() {
				at := rec.Timestamp()
				if at == 0 {
					at = rec.ObservedTimestamp()
				}
				if at > until {
					rec.CopyTo(toRest.records(rl, sl).AppendEmpty())
					continue
				}
				out := toMine.records(rl, sl).AppendEmpty()
				rec.CopyTo(out)
				out.SetTraceID(id)
			}
		}
	}
}
