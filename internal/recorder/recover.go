package recorder

import (
	"cmp"
	"slices"

	"github.com/tapedeck/tapedeck/internal/spool"
)

// recovery is what a restart finds out before the spool is ready.
type recovery struct {
	r     *Recorder
	notes map[ID]note
	// newest is when the last record came.
	newest int64
	lost   []ID
}

// recover opens the spool and takes over what it holds. The time since the last
// record came does not count: nobody could bring any.
func (r *Recorder) recover() error {
	rec := &recovery{r: r, notes: map[ID]note{}}
	sp, err := spool.Open(spool.Config{
		Directory:    r.cfg.Spool.Directory,
		MaxBytes:     r.cfg.Spool.MaxBytes,
		SegmentBytes: r.cfg.Spool.SegmentBytes,
		SyncInterval: r.cfg.Spool.SyncInterval,
		OnMark:       rec.mark,
		OnRecord:     rec.record,
		OnMove:       r.moved,
	})
	if err != nil {
		return err
	}
	r.spool = sp
	_ = sp.Unmark(rec.lost...)
	rec.finish()
	return nil
}

func (x *recovery) mark(id ID, mark []byte) {
	if len(mark) > 0 && mark[0] == goodVersion {
		x.r.good.recover(mark)
		return
	}
	n, err := readNote(mark)
	if err != nil {
		// Without it the run is open, or unknown: decided once more at worst.
		x.lost = append(x.lost, id)
		return
	}
	x.notes[id] = n
}

// record gives a record to its run, or lets it be freed when its run is over.
func (x *recovery) record(rec *spool.Record) bool {
	n := x.notes[rec.ID]
	e, err := readExtra(rec)
	if err != nil {
		// What it says of the run is lost, its spans are not.
		e = extra{bytes: int64(len(rec.Payload))}
	}
	if n.state.decided() && n.flags&markHeld == 0 || e.part > 0 && e.part <= n.parts {
		return false
	}
	s := x.r.shard(rec.ID)
	rn := s.runs[rec.ID]
	if rn == nil {
		rn = s.create(rec.ID)
		rn.first, rn.bytes = rec.Arrived, 0
		rn.state, rn.trigger, rn.outcome = n.state, n.trigger, n.outcome
		rn.asked, rn.decided = n.flags&markAsked != 0, n.decided
		if n.parts > 0 {
			rn.cut = &cutting{
				next: n.parts + 1, gone: n.parts, lost: n.lost,
				signs: signs{calls: n.flags&markCalls != 0, failed: n.flags&markFailed != 0},
			}
		}
		if !n.state.decided() {
			rn.state = stateOpen
		}
	}
	rn.last = max(rn.last, rec.Arrived)
	x.newest = max(x.newest, rec.Arrived)
	if rec.Flags&flagRoot != 0 && rn.rooted == 0 {
		rn.rooted = rec.Arrived
	}
	rn.session = rn.session || rec.Flags&flagSession != 0
	rn.stale = rn.stale || e.policy != x.r.policySum
	rn.bytes += e.bytes
	n2 := Amount{int(rec.Spans), int(rec.Logs)}
	rn.add(n2)
	x.r.kinship.join(rec.ID, e.kin)
	if e.part == 0 {
		rn.records = append(rn.records, rec.Pos)
		return true
	}
	rn.restore(rec, e, n2)
	return true
}

// restore puts a record of the tail of a cut run back.
func (rn *run) restore(rec *spool.Record, e extra, n Amount) {
	if rn.cut == nil {
		rn.cut = &cutting{}
	}
	c := rn.cut
	last := len(c.tail) - 1
	if last < 0 || c.tail[last].number != e.part {
		c.tail = append(c.tail, epoch{number: e.part})
		c.next = max(c.next, e.part+1)
		last++
	}
	to := &c.tail[last]
	to.records = append(to.records, rec.Pos)
	to.bytes += e.bytes
	to.amount.Spans += n.Spans
	to.amount.Records += n.Records
	to.signs.add(signs{calls: rec.Flags&flagCalls != 0, failed: rec.Flags&flagFailed != 0})
}

// finish puts runs and decisions into their places.
func (x *recovery) finish() {
	r := x.r
	var gap int64
	if x.newest > 0 {
		gap = max(0, r.now()-x.newest)
	}
	var open, held []*run
	for _, s := range r.shards {
		for _, rn := range s.runs {
			if rn.state == stateOpen {
				open = append(open, rn)
			} else {
				held = append(held, rn)
			}
		}
	}
	slices.SortFunc(open, func(a, b *run) int { return cmp.Compare(a.first, b.first) })
	slices.SortFunc(held, func(a, b *run) int { return cmp.Compare(a.decided, b.decided) })
	for _, rn := range open {
		rn.last += gap
		if rn.rooted > 0 {
			rn.rooted += gap
		}
		s := r.shard(rn.id)
		s.move(rn, &s.open)
		r.deps.Telemetry.Recovered(rn.amount())
		r.release(rn)
	}
	for _, rn := range held {
		s := r.shard(rn.id)
		s.move(rn, &s.held)
		if kind := x.notes[rn.id].kind; kind != "" {
			r.good.setLatest(rn.id, kind)
		}
		r.release(rn)
	}
	x.remember()
}

// remember takes over the decisions about runs of which the spool has nothing any
// more, the oldest first, so that these are forgotten first.
func (x *recovery) remember() {
	r := x.r
	var gone []ID
	for id, n := range x.notes {
		switch {
		case r.shard(id).runs[id] != nil:
		case n.state.decided():
			gone = append(gone, id)
		default:
			// It was said of an open run of which no record is left.
			_ = r.spool.Unmark(id)
		}
	}
	slices.SortFunc(gone, func(a, b ID) int { return cmp.Compare(x.notes[a].decided, x.notes[b].decided) })
	for _, id := range gone {
		n := x.notes[id]
		if forgotten, full := r.shard(id).remember(id, n.fate, r.decidedPerShard()); full {
			_ = r.spool.Unmark(forgotten)
		}
	}
}
