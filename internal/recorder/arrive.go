package recorder

import (
	"context"
	"errors"
	"fmt"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/internal/once"
	"github.com/tapedeck/tapedeck/internal/spool"
)

// Add takes the spans of a request. It takes td apart and does not keep it. When
// it returns an error, the sender should send the whole request again: what was
// taken already is recognised by its span ids.
func (r *Recorder) Add(ctx context.Context, td ptrace.Traces) error {
	pieces, err := r.split(td)
	if err != nil {
		return err
	}
	return r.take(ctx, pieces)
}

// take gives each piece to its run. Those whose runs nobody works on go first and
// together; for the others the caller waits, owning nothing meanwhile.
func (r *Recorder) take(ctx context.Context, pieces []piece) error {
	if r.closed.Load() {
		return ErrClosed
	}
	if err := r.makeRoom(ctx, pieces); err != nil {
		return err
	}
	for len(pieces) > 0 {
		if r.closed.Load() {
			return ErrClosed
		}
		mine, runs, rest, wait := r.claim(pieces)
		if len(mine) > 0 {
			err := r.ingest(ctx, mine, runs)
			for _, rn := range runs {
				r.release(rn)
			}
			if err != nil {
				return err
			}
		}
		if pieces = rest; wait == nil {
			continue
		}
		select {
		case <-wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// claim makes the caller the owner of the runs that nobody owns, and tells what is
// theirs, what is left, and the end of which run to wait for if that is all.
func (r *Recorder) claim(pieces []piece) (mine []piece, runs []*run, rest []piece, wait <-chan struct{}) {
	owned := make(map[ID]*run, len(pieces))
	taken := make(map[ID]bool)
	for _, p := range pieces {
		if p.id == (ID{}) {
			r.received(&p)
			r.deps.Telemetry.Dropped(DropNoTraceID, p.amount)
			continue
		}
		if owned[p.id] == nil && !taken[p.id] {
			s := r.shard(p.id)
			s.mu.Lock()
			rn := s.runs[p.id]
			if rn == nil {
				rn = s.create(p.id)
			}
			if rn.busy {
				taken[p.id] = true
				if wait == nil {
					wait = rn.waiting()
				}
			} else {
				s.own(rn)
				owned[p.id] = rn
				runs = append(runs, rn)
			}
			s.mu.Unlock()
		}
		if owned[p.id] != nil {
			mine = append(mine, p)
		} else {
			rest = append(rest, p)
		}
	}
	return mine, runs, rest, wait
}

// ingest writes pieces to the spool and to the index. The caller owns their runs.
// What belongs to decided runs is handed on as their decision has it.
func (r *Recorder) ingest(ctx context.Context, pieces []piece, runs []*run) error {
	byID := make(map[ID]*run, len(runs))
	for _, rn := range runs {
		byID[rn.id] = rn
	}
	batch := make([]arrival, 0, len(pieces))
	records := make([]spool.Record, 0, len(pieces))
	now := r.now()
	for i := range pieces {
		a := arrival{piece: &pieces[i], run: byID[pieces[i].id]}
		store, err := r.prepare(&a, now)
		if store {
			a.record = len(records)
			records = append(records, r.recordOf(a.piece, now))
		}
		batch = append(batch, a)
		if err != nil {
			r.undo(batch)
			return err
		}
	}
	if err := r.append(ctx, records); err != nil {
		r.undo(batch)
		return err
	}
	for i := range batch {
		if a := &batch[i]; a.record >= 0 {
			r.place(a, &records[a.record], now)
		}
	}
	var failed error
	for i := range batch {
		if err := r.settle(ctx, &batch[i]); err != nil && failed == nil {
			failed = err
		}
	}
	for _, rn := range runs {
		r.remember(rn)
	}
	return failed
}

// arrival is a piece on its way in.
type arrival struct {
	*piece
	run *run
	// record is its index in the batch, -1 when it is not written.
	record int
	// epoch is its part in the tail of a cut run.
	epoch int
	// fate is the decision about its run, if there is one.
	fate fate
}

// prepare encodes a piece and tells whether it is written to the spool: it is
// where the run is open or the spool still has its other spans.
func (r *Recorder) prepare(a *arrival, now int64) (store bool, err error) {
	a.record = -1
	rn := a.run
	if !a.logs {
		strip(a.td)
	}
	if a.fate = r.fateOf(rn); a.fate.state == 0 {
		return true, r.encode(a)
	}
	seen := a.look(r.translation)
	if a.fate.state == stateLetGo && seen.calls {
		// The decision was about a trace that showed no call: it was let go as none
		// of ours, and this span says that it is.
		r.reopen(rn, now)
		a.fate = fate{}
		return true, r.encode(a)
	}
	full := rn.bytes+a.bytes > r.cfg.MaxRunBytes || int(rn.spans+rn.logs) > r.cfg.MaxRunSpans
	if !rn.state.decided() || full {
		return false, nil
	}
	if a.fate.state != stateSummarised {
		a.copyLate()
	}
	return true, r.encode(a)
}

// fateOf is the decision about a run, of which the spool may have nothing left.
func (r *Recorder) fateOf(rn *run) fate {
	if rn.state.decided() {
		return fate{rn.state, rn.trigger, rn.outcome}
	}
	if rn.state == stateOpen {
		return fate{}
	}
	s := r.shard(rn.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.gone[rn.id]
}

// encode finds the place of a piece in its run and makes its payload. The pdata is
// gone then.
func (r *Recorder) encode(a *arrival) (err error) {
	rn := a.run
	r.reserve(a)
	var st once.Stats
	if a.logs {
		a.payload, st, err = r.encoder.Logs(nil, a.ld, &rn.table)
	} else {
		a.payload, st, err = r.encoder.Traces(nil, a.td, &rn.table)
	}
	r.deps.Telemetry.Redacted(st.Redacted.Types)
	r.deps.Telemetry.Saved(st.Saved)
	return err
}

// undo takes back what was reserved for pieces that did not get in, and empties the
// tables of their runs: what they know is not in the spool.
func (r *Recorder) undo(batch []arrival) {
	for i := range batch {
		a := &batch[i]
		if a.record < 0 {
			continue
		}
		r.texts.forget(a.run)
		a.run.bytes -= a.bytes
		a.run.sub(a.amount)
		if a.part > 0 {
			a.run.cut.tail[a.epoch].sub(a.piece)
		}
	}
}

func (r *Recorder) recordOf(p *piece, now int64) spool.Record {
	rec := spool.Record{
		ID: p.id, Kind: kindSpans, Arrived: now,
		Spans: uint32(p.amount.Spans), Logs: uint32(p.amount.Records),
		Payload: p.payload,
	}
	if p.logs {
		rec.Kind = kindLogs
	}
	set := func(on bool, flag uint16) {
		if on {
			rec.Flags |= flag
		}
	}
	set(p.root, flagRoot)
	set(p.session, flagSession)
	set(p.kin != nil, flagKin)
	if p.seen != nil {
		set(p.seen.failed, flagFailed)
		set(p.seen.calls, flagCalls)
	}
	e := extra{policy: r.policySum, bytes: p.bytes, part: p.part, kin: p.kin}
	rec.Extra = e.append(make([]byte, 0, 16))
	return rec
}

// append writes records, making room where there is none.
func (r *Recorder) append(ctx context.Context, records []spool.Record) error {
	if len(records) == 0 {
		return nil
	}
	var need int64
	for i := range records {
		need += int64(len(records[i].Payload) + len(records[i].Extra) + spool.RecordOverhead)
	}
	for {
		err := r.spool.Append(records)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, spool.ErrTooLarge):
			return fmt.Errorf("%w: %w", ErrTooLarge, err)
		case errors.Is(err, spool.ErrClosed):
			return ErrClosed
		case !errors.Is(err, spool.ErrFull):
			return fmt.Errorf("write %d records: %w", len(records), err)
		}
		if more, cause := r.evict(ctx, need); !more {
			return errors.Join(fmt.Errorf("%w: %w", ErrBusy, err), cause)
		}
	}
}

// place puts a record that was written into the index.
func (r *Recorder) place(a *arrival, rec *spool.Record, now int64) {
	rn := a.run
	if a.part == 0 {
		rn.records = append(rn.records, rec.Pos)
	} else {
		e := &rn.cut.tail[a.epoch]
		e.records = append(e.records, rec.Pos)
	}
	rn.session = rn.session || a.session
	r.kinship.join(rn.id, a.kin)
	if rn.state.decided() {
		return
	}
	s := r.shard(rn.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	rn.last = now
	if rn.state == stateNew {
		rn.first = now
		s.begin(rn)
	}
	if a.root && rn.rooted == 0 {
		rn.rooted = now
	}
}

// settle does with an arrival what its run's decision says, if there is one.
func (r *Recorder) settle(ctx context.Context, a *arrival) error {
	if a.fate.state != 0 {
		return r.addLate(ctx, a)
	}
	r.received(a.piece)
	r.trim(a.run)
	return nil
}

// received counts what came in, once.
func (r *Recorder) received(p *piece) {
	if !p.moved {
		r.deps.Telemetry.Received(p.amount)
	}
}

// reopen takes back the decision about a run that was let go.
func (r *Recorder) reopen(rn *run, now int64) {
	s := r.shard(rn.id)
	s.mu.Lock()
	delete(s.gone, rn.id)
	if rn.state.decided() {
		rn.trigger, rn.outcome = 0, 0
		rn.first = min(rn.first, now)
		s.begin(rn)
	}
	s.mu.Unlock()
	if rn.state == stateOpen {
		r.deps.Telemetry.Upgraded(rn.amount())
	}
	// The note of a decision must not stay where there is no room for another.
	_ = r.spool.Unmark(rn.id)
	r.note(rn, false)
}
