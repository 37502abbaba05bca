package recorder

import (
	"context"
	"errors"

	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/plog"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/spool"
)

// claimRecords moves log records into a run that is being decided: those that name
// no trace, but a session or a call that the run's spans name too, as far as they
// are its own (see owner) and not later than its end. What comes after may be the
// next run's, whose spans are not here yet; giveBack finds out.
func (r *Recorder) claimRecords(rn *run, p *parts) error {
	if p.td.SpanCount() == 0 {
		return nil
	}
	until := findHead(p.td).end
	for _, from := range r.kinship.related(rn.id) {
		src := r.ownRecords(from)
		if src == nil {
			continue
		}
		err := r.claimFrom(src, rn, until, p)
		r.release(src)
		if err != nil {
			return err
		}
	}
	return nil
}

// ownRecords makes the caller the owner of an open run of log records; it gives nil
// when the run is not open. One that somebody works on gives its records back by
// itself, and waiting for it could be mutual. One with spans is not to be taken
// from: its trace id is that of a session by chance or by malice.
func (r *Recorder) ownRecords(id ID) *run {
	s := r.shard(id)
	s.mu.Lock()
	defer s.mu.Unlock()
	rn := s.runs[id]
	if rn == nil || rn.busy || rn.state != stateOpen || rn.spans > 0 {
		return nil
	}
	s.own(rn)
	return rn
}

func (r *Recorder) claimFrom(src, to *run, until pcommon.Timestamp, p *parts) error {
	relatives := r.kinship.relatives(src.id)
	mine, rest := plog.NewLogs(), plog.NewLogs()
	deal(r.load(src).ld, func(res pcommon.Resource, rec plog.LogRecord) ID {
		at := timeOf(rec)
		if at <= until && owner(relatives, nameOfText(serviceOf(res)), nameOfText(dialect.LogCallID(rec)), at) == to.id {
			return to.id
		}
		return ID{}
	}, func(id ID) plog.Logs {
		if id == to.id {
			return mine
		}
		return rest
	})
	if mine.LogRecordCount() == 0 {
		return nil
	}
	claimed := plog.NewLogs()
	mine.CopyTo(claimed)
	err := r.move(src, to, mine, rest)
	if errors.Is(err, spool.ErrFull) {
		// They stay where they are and get a decision of their own.
		return nil
	}
	if err != nil {
		return err
	}
	claimed.ResourceLogs().MoveAndAppendTo(p.ld.ResourceLogs())
	if src.logs == 0 {
		r.remove(src)
	}
	return nil
}

// move rewrites records: mine goes to another run, the old one keeps the rest. Both
// are written before what was is freed: a kill in between repeats records, which a
// translation recognises, and loses none.
func (r *Recorder) move(src, to *run, mine, rest plog.Logs) error {
	now := r.now()
	before, amount, bytes := src.places(), src.amount(), src.bytes
	var batch []arrival
	var records []spool.Record
	for _, m := range []struct {
		run *run
		ld  plog.Logs
	}{{to, mine}, {src, rest}} {
		n := Amount{Records: m.ld.LogRecordCount()}
		if n.Records == 0 {
			continue
		}
		p := &piece{
			id: m.run.id, logs: true, ld: m.ld, amount: n, bytes: int64(logsSizer.LogsSize(m.ld)),
			session: m.run == src, seen: &signs{},
		}
		a := arrival{piece: p, run: m.run, record: len(records)}
		err := r.encode(&a)
		batch = append(batch, a)
		if err != nil {
			r.undo(batch)
			return err
		}
		records = append(records, r.recordOf(p, now))
	}
	if err := r.spool.Append(records); err != nil {
		r.undo(batch)
		return err
	}
	src.records, src.cut = nil, nil
	for i := range batch {
		a := &batch[i]
		if a.run == src || a.part == 0 {
			a.run.records = append(a.run.records, records[i].Pos)
			continue
		}
		e := &a.run.cut.tail[a.epoch]
		e.records = append(e.records, records[i].Pos)
	}
	src.sub(amount)
	src.bytes -= bytes
	r.spool.Free(amount.size(), before...)
	return nil
}

// giveBack hands the log records of a session that is over to the runs they belong
// to, which may be decided, as late as they are. It returns how many are left.
func (r *Recorder) giveBack(ctx context.Context, src *run) (left int, err error) {
	if !r.kinship.on {
		return int(src.logs), nil
	}
	relatives := r.kinship.relatives(src.id)
	if len(relatives) == 0 {
		return int(src.logs), nil
	}
	shares := map[ID]plog.Logs{}
	deal(r.load(src).ld, func(res pcommon.Resource, rec plog.LogRecord) ID {
		return owner(relatives, nameOfText(serviceOf(res)), nameOfText(dialect.LogCallID(rec)), timeOf(rec))
	}, func(to ID) plog.Logs {
		if _, ok := shares[to]; !ok {
			shares[to] = plog.NewLogs()
		}
		return shares[to]
	})
	pieces := make([]piece, 0, len(shares))
	lost := int(src.logs)
	for to, ld := range shares {
		lost -= ld.LogRecordCount()
		pieces = append(pieces, piece{
			id: to, logs: true, ld: ld, moved: true,
			amount: Amount{Records: ld.LogRecordCount()}, bytes: int64(logsSizer.LogsSize(ld)),
		})
	}
	if err := r.take(ctx, pieces); err != nil {
		return 0, err
	}
	r.deps.Telemetry.Dropped(DropDamaged, Amount{Records: lost})
	return 0, nil
}

// deal gives each record to the part of the run that fn names, under its trace id.
func deal(ld plog.Logs, fn func(pcommon.Resource, plog.LogRecord) ID, part func(ID) plog.Logs) {
	open := map[ID]*logPart{}
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
				if to != (ID{}) {
					out.SetTraceID(pcommon.TraceID(to))
				}
			}
		}
	}
}
