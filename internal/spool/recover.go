package spool

import (
	"cmp"
	"slices"
)

// group is a record of which there are copies.
type group struct {
	lsn uint64
	// place is the copy that counts; its segment is nil if none does.
	place
	// dead says that the caller freed one of its places, and so the record.
	dead bool
}

// found is one place of such a record.
type found struct {
	place
	lsn  uint64
	dead bool
}

// scanCopies finds the records in copies before the others are read, as they
// take the place of their originals.
func (r *recovery) scanCopies() {
	var list []found
	for _, g := range r.copies {
		r.scanFile(g, func(h *header, off int64, dead bool) {
			list = append(list, found{place: place{g, off}, lsn: h.LSN, dead: dead})
		})
	}
	slices.SortFunc(list, func(a, b found) int {
		return cmp.Or(cmp.Compare(a.lsn, b.lsn), cmp.Compare(b.in.number, a.in.number), cmp.Compare(a.off, b.off))
	})
	for len(list) > 0 {
		n := 1
		for n < len(list) && list[n].lsn == list[0].lsn {
			n++
		}
		r.groups = append(r.groups, r.settle(list[:n]))
		delete(r.hurt, list[0].lsn)
		list = list[n:]
	}
}

// hurt is a record of which the header is intact and the body is not.
type hurt struct {
	Record
	place
}

// settle decides which of the copies of one record counts: none if one was
// freed, else the newest. The others become void.
func (r *recovery) settle(list []found) group {
	gr := group{lsn: list[0].lsn}
	gr.dead = slices.ContainsFunc(list, func(f found) bool { return f.dead })
	for _, f := range list {
		switch {
		case f.dead:
		case gr.in == nil && !gr.dead:
			gr.place = f.place
		default:
			r.avoid(f.place, gr.in)
		}
	}
	return gr
}

// avoid makes a place void for whose sake another is kept, so that it does not
// come back when the other is gone. Where the file cannot be written, the other
// stays.
func (r *recovery) avoid(p place, kept *segment) {
	p.in.void.set(cellOf(p.off))
	p.in.dirty = true
	if void.put(p.in.file, p.off) != nil && kept != nil {
		kept.pins++
	}
}

// scanFile reads a segment and hands out the records that are neither void nor
// damaged, and whether they were freed.
func (r *recovery) scanFile(g *segment, fn func(h *header, off int64, dead bool)) {
	s := r.s
	var freed bitmap
	for _, c := range r.freed[g.number] {
		if c <= cellOf(g.size) { // a hostile file may say anything
			freed.set(c)
		}
	}
	delete(r.freed, g.number)
	r.scan.use(g.file, g.size)
	damage := r.scan.scanRecords(g.salt, func(h *header, off int64, intact bool) {
		s.lsn.Store(max(s.lsn.Load(), h.LSN))
		c := cellOf(off)
		gone := h.state == dead || freed.has(c)
		switch {
		case intact:
			g.starts.set(c)
			if h.state == void {
				g.void.set(c)
				return
			}
			fn(h, off, gone)
		case h.state != void && !gone && !r.copied(h.LSN):
			r.hurt[h.LSN] = hurt{h.Record, place{g, off}}
		}
	})
	s.stats.Damage.Regions += damage.Regions
	s.stats.Damage.Bytes += damage.Bytes
}

// scanSegment reads a segment of records, hands out those that count, and the
// copies that come before each.
func (r *recovery) scanSegment(g *segment) {
	r.scanFile(g, func(h *header, off int64, dead bool) {
		delete(r.hurt, h.LSN)
		r.deliverBefore(h.LSN)
		gr := r.group(h.LSN)
		switch {
		case dead:
			if gr != nil && !gr.dead && gr.in != nil {
				gr.dead = true
				r.avoid(gr.place, nil)
			}
		case gr == nil || gr.in == nil && !gr.dead:
			r.deliver(h, place{g, off})
		default:
			r.avoid(place{g, off}, gr.in)
		}
	})
}

// group is the next group if it is the one of some record.
func (r *recovery) group(lsn uint64) *group {
	if len(r.groups) > 0 && r.groups[0].lsn == lsn {
		return &r.groups[0]
	}
	return nil
}

// copied tells whether a record that is damaged here is intact elsewhere.
func (r *recovery) copied(lsn uint64) bool {
	i, ok := slices.BinarySearchFunc(r.groups, lsn, func(g group, lsn uint64) int { return cmp.Compare(g.lsn, lsn) })
	return ok && (r.groups[i].in != nil || r.groups[i].dead)
}

// deliverBefore hands out the copies whose LSN is below some other.
func (r *recovery) deliverBefore(lsn uint64) {
	for len(r.groups) > 0 && r.groups[0].lsn < lsn {
		gr := r.groups[0]
		r.groups = r.groups[1:]
		if gr.dead || gr.in == nil {
			continue
		}
		// It was read in full a moment ago.
		if r.buf == nil {
			r.buf = make([]byte, headerSize+MaxExtra)
		}
		b := r.buf
		n, _ := gr.in.file.ReadAt(b, gr.off)
		var h header
		if h.parse(b[:n], gr.in.salt) && int64(n) >= headerSize+h.extra {
			h.Extra = b[headerSize : headerSize+h.extra]
			r.deliver(&h, gr.place)
		}
	}
}

// deliver hands a record to the caller, and takes it for live if it is wanted.
func (r *recovery) deliver(h *header, p place) {
	h.Pos = p.in.position(p.off)
	r.found += h.items()
	if on := r.s.cfg.OnRecord; on != nil && !on(&h.Record) {
		return
	}
	p.in.live.set(cellOf(p.off))
	r.s.items += h.items()
}
