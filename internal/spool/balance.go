package spool

import (
	"encoding/binary"
	"math"
)

// The spool knows at any time how many spans and log records it holds. A marks file
// begins with that number, LSNs tell how many came since, and entries how many were
// freed; so that a restart can tell how many are missing, also of records of which
// no byte is left. The number is the caller's as far as Free is told it: where that
// cannot be right nothing is counted.

// unknownItems in place of a number says that nobody knows it.
const unknownItems = math.MaxUint64

// items is how many spans and log records a record is, by which the LSN ascends; one
// of none counts as one.
func (r *Record) items() uint64 { return max(1, uint64(r.Spans)+uint64(r.Logs)) }

// count takes note of records that were written. The caller holds mu.
func (s *Spool) count(recs []Record) {
	for i := range recs {
		s.items += recs[i].items()
	}
	s.lsn.Store(recs[len(recs)-1].LSN)
}

// discount takes note of what was freed, as far as the caller of Free was right about
// it. It holds mu.
func (s *Spool) discount(items uint64, right bool) {
	if !right || items > s.items {
		s.miscounted = true
		return
	}
	s.items -= items
}

// holding is what is held, and the LSN up to which it is. The caller holds mu.
func (s *Spool) holding() (items, lsn uint64) {
	if s.miscounted {
		return unknownItems, s.lsn.Load()
	}
	return s.items, s.lsn.Load()
}

// burn gives up the numbers of records that stand in a file and are none.
func (s *Spool) burn(lsn uint64) {
	m := &s.marks
	m.mu.Lock()
	defer m.mu.Unlock()
	s.lsn.Store(lsn)
	m.uncount(lsn)
}

// uncount says in the marks file that it is not known any more how many are held,
// because an entry that belongs to it could not be written. It writes over what was
// said, which needs no room. The caller holds the lock.
func (m *marks) uncount(lsn uint64) {
	if m.file == nil || m.heldAt == 0 {
		return
	}
	e := appendItems(nil, entryHeld, unknownItems, lsn, m.salt)
	// Where this fails too, a restart may count as missing what was freed.
	_, _ = m.file.WriteAt(e, m.heldAt)
	m.synced = min(m.synced, m.heldAt)
	m.heldAt = 0
}

// tellLast notes the last LSN at an orderly end, without which nobody could tell that
// the records at the very end are missing.
func (s *Spool) tellLast() {
	m := &s.marks
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.file == nil || m.behind.Load() {
		return
	}
	m.buf = appendItems(m.buf[:0], entryReleased, 0, s.lsn.Load(), m.salt)
	// What is known of the records before does not depend on it.
	_ = s.writeMarks()
}

func appendItems(buf []byte, kind entryKind, items, lsn uint64, salt uint32) []byte {
	from := len(buf)
	buf = binary.LittleEndian.AppendUint64(beginEntry(buf), items)
	return endEntry(buf, from, kind, lsn, salt)
}

// balance is what a marks file says of how many are held.
type balance struct {
	known bool
	// at is where it says so.
	at int64
	// items were held when lsn was the last; freed were freed since.
	items, lsn, freed uint64
}

func (b *balance) begin(e *entry, off int64) {
	if len(e.body) < 8 {
		return
	}
	items := binary.LittleEndian.Uint64(e.body)
	*b = balance{known: items < maxLSN, at: off, items: items, lsn: e.lsn}
}

func (b *balance) free(e *entry) {
	if len(e.body) < 8 {
		return
	}
	n := binary.LittleEndian.Uint64(e.body)
	if n >= maxLSN || b.freed+n >= maxLSN {
		b.known = false
		return
	}
	b.freed += n
}

// missing is how many should be there beside those that were found.
func (b *balance) missing(last, found uint64) int64 {
	if !b.known || last < b.lsn || found >= maxLSN {
		return 0
	}
	return max(0, int64(b.items+last-b.lsn)-int64(b.freed)-int64(found))
}
