package recorder

import (
	"context"
	"slices"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/tapedeck/tapedeck/internal/buffer"
	"github.com/tapedeck/tapedeck/internal/dialect"
)

// claimRecords moves log records into a run that is being decided: those that name
// no trace, but a session or a call that the run's spans name too, as far as they
// are its own (see owner) and not later than its end. What comes after may be the
// next run's, whose spans are not here yet; giveBack finds out.
func (r *Recorder) claimRecords(id buffer.ID, p *parts) error {
	if p.td.SpanCount() == 0 {
		return nil
	}
	until := findHead(p.td).end
	for _, from := range r.related(id) {
		if err := r.claimFrom(from, id, until, p); err != nil {
			return err
		}
	}
	return nil
}

// related lists the runs of the sessions that a run's spans name, and those whose
// records name one of its calls: not every agent writes its session on spans.
func (r *Recorder) related(id buffer.ID) (ids []buffer.ID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rn := r.idx.get(id)
	ids = slices.Clone(rn.kin.sessions)
	for _, call := range rn.kin.calls {
		if from := r.idx.byCall[call]; from != nil && !slices.Contains(ids, from.id) {
			ids = append(ids, from.id)
		}
	}
	return slices.DeleteFunc(ids, func(from buffer.ID) bool { return from == id })
}

// giveBack hands the log records of a session that is over to the runs they belong
// to, which may be decided, as late as they are. It returns how many are left.
func (r *Recorder) giveBack(ctx context.Context, src *run) (left int, err error) {
	chunks, err := r.deps.Buffer.Load(src.id)
	if err != nil {
		return 0, err
	}
	r.mu.Lock()
	relatives := r.idx.relatives(src)
	r.mu.Unlock()
	if len(relatives) == 0 {
		return src.records, nil
	}
	all := decode(chunks)
	shares := map[*run]plog.Logs{}
	deal(all.ld, func(res pcommon.Resource, rec plog.LogRecord) *run {
		return owner(relatives, serviceOf(res), dialect.LogCallID(rec), timeOf(rec))
	}, func(to *run) plog.Logs {
		if _, ok := shares[to]; !ok {
			shares[to] = plog.NewLogs()
		}
		return shares[to]
	})
	for to, ld := range shares {
		if to == nil {
			continue
		}
		data, err := marshalLogs(ld)
		if err != nil {
			return 0, err
		}
		c := chunk{id: to.id, data: data, records: ld.LogRecordCount(), moved: true}
		if err := r.add(ctx, &c); err != nil {
			return 0, err
		}
	}
	return 0, nil
}

// deal gives each record to the part of the run that fn names, under its trace id.
func deal(ld plog.Logs, fn func(pcommon.Resource, plog.LogRecord) *run, part func(*run) plog.Logs) {
	open := map[*run]*logPart{}
	for _, rl := range ld.ResourceLogs().All() {
		for _, sl := range rl.ScopeLogs().All() {
			for _, rec := range sl.LogRecords().All() {
				to := fn(rl.Resource(), rec)
				p := open[to]
				if p == nil {
					p = &logPart{ld: part(to)}
					open[to] = p
				}
				out := p.records(rl, sl).AppendEmpty()
				rec.CopyTo(out)
				if to != nil {
					out.SetTraceID(pcommon.TraceID(to.id))
				}
			}
		}
	}
}

func timeOf(rec plog.LogRecord) pcommon.Timestamp {
	if at := rec.Timestamp(); at != 0 {
		return at
	}
	return rec.ObservedTimestamp()
}

func (r *Recorder) claimFrom(from, to buffer.ID, until pcommon.Timestamp, p *parts) error {
	src, done := r.take(from)
	if src == nil {
		return nil
	}
	chunks, err := r.deps.Buffer.Load(from)
	mine, rest := plog.NewLogs(), plog.NewLogs()
	if err == nil {
		r.mu.Lock()
		relatives, heir := r.idx.relatives(src), r.idx.get(to)
		r.mu.Unlock()
		// No spans are among them: take sees to it.
		deal(decode(chunks).ld, func(res pcommon.Resource, rec plog.LogRecord) *run {
			at := timeOf(rec)
			if at <= until && owner(relatives, serviceOf(res), dialect.LogCallID(rec), at) == heir {
				return heir
			}
			return nil
		}, func(to *run) plog.Logs {
			if to == heir {
				return mine
			}
			return rest
		})
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

// take marks an open run of log records as being decided; it returns nil when the
// run is not open. One that is being decided already gives its records back by
// itself, and waiting for it could be mutual. One with spans is not to be taken
// from: its trace id is that of a session by chance or by malice.
func (r *Recorder) take(id buffer.ID) (rn *run, done func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	rn = r.idx.get(id)
	if rn == nil || rn.spans > 0 || rn.state != stateOpen {
		return nil, nil
	}
	return rn, r.begin(rn)
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
