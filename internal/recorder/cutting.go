package recorder

// cutting is what becomes of a run that outgrows its bounds. Its head is what came
// until half of them was reached. What comes then is its tail, in epochs: of these
// the oldest go when both together are more than the bounds. Each epoch has its own
// texts, so that it can go without a hole in those after it.
type cutting struct {
	tail []epoch
	// next is the number of the next epoch, gone that of the last one that went.
	next, gone uint64
	// lost is what went, signs what it told.
	lost  Amount
	signs signs
}

type epoch struct {
	number  uint64
	records []position
	amount  Amount
	bytes   int64
	signs   signs
}

func (e *epoch) sub(p *piece) {
	e.bytes -= p.bytes
	e.amount.Spans -= p.amount.Spans
	e.amount.Records -= p.amount.Records
}

// epochs is how many there are at least in a full tail.
const epochs = 4

// reserve finds the place of a piece in its run and counts it there.
func (r *Recorder) reserve(a *arrival) {
	rn := a.run
	bytes, size := r.cfg.MaxRunBytes/2, r.cfg.MaxRunSpans/2
	defer func() {
		rn.bytes += a.bytes
		rn.add(a.amount)
	}()
	if rn.cut == nil && rn.bytes+a.bytes <= bytes && int(rn.spans+rn.logs)+a.amount.size() <= size {
		return
	}
	if rn.cut == nil {
		rn.cut = &cutting{next: 1}
	}
	c := rn.cut
	last := len(c.tail) - 1
	if last < 0 || c.tail[last].bytes+a.bytes > bytes/epochs || c.tail[last].amount.size()+a.amount.size() > size/epochs {
		r.texts.forget(rn)
		c.tail = append(c.tail, epoch{number: c.next})
		c.next++
		last++
	}
	e := &c.tail[last]
	e.bytes += a.bytes
	e.amount.Spans += a.amount.Spans
	e.amount.Records += a.amount.Records
	e.signs.add(a.look(r.translation))
	a.part, a.epoch = e.number, last
}

// trim leaves out what is too much of an open run that the caller owns. Its note is
// written before the records are freed: after a kill in between they are known to
// be gone.
func (r *Recorder) trim(rn *run) {
	c := rn.cut
	if c == nil {
		return
	}
	var records []position
	var lost Amount
	for len(c.tail) > 1 && (rn.bytes > r.cfg.MaxRunBytes || rn.amount().size() > r.cfg.MaxRunSpans) {
		e := c.tail[0]
		c.tail[0] = epoch{}
		c.tail = c.tail[1:]
		records = append(records, e.records...)
		lost.Spans += e.amount.Spans
		lost.Records += e.amount.Records
		c.signs.add(e.signs)
		c.gone = e.number
		rn.bytes -= e.bytes
		rn.sub(e.amount)
	}
	if len(records) == 0 {
		return
	}
	c.lost.Spans += lost.Spans
	c.lost.Records += lost.Records
	r.note(rn, false)
	r.spool.Free(lost.size(), records...)
	r.deps.Telemetry.Dropped(DropTruncated, lost)
}

// truncated reports whether something of the run was left out.
func (r *run) truncated() bool { return r.cut != nil && r.cut.lost != (Amount{}) }
