package spool

import "errors"

const headerSize = 64

// Spool is a log of records and marks. It is safe for concurrent use.
type Spool struct{}

// Open reads what the directory holds, tells it to the callbacks of cfg, and
// makes the spool ready for more.
func Open(cfg Config) (*Spool, error) { return nil, errors.ErrUnsupported }

// Append writes the records with one write and sets their Pos and LSN. Either
// all are in the spool when it returns, or none and an error tells why.
func (s *Spool) Append(recs []Record) error { return errors.ErrUnsupported }

// Read loads records and hands them to fn one by one, in the order given; i is
// the index into positions. The record, its Extra and its Payload are only
// valid during the call. Records that are damaged or no longer there are left
// out and counted in lost. An error of fn ends the reading and is returned.
func (s *Spool) Read(positions []Position, fn func(i int, r *Record) error) (lost int, err error) {
	return 0, errors.ErrUnsupported
}

// Free says that the records are no longer needed, now and after a restart.
// Positions that name no record are ignored.
func (s *Spool) Free(positions ...Position) {}

// Mark keeps a few bytes about a run, in place of those kept before, until
// Unmark. They are given to Config.OnMark after a restart.
func (s *Spool) Mark(id ID, mark []byte) error { return errors.ErrUnsupported }

// Unmark forgets the marks of runs.
func (s *Spool) Unmark(ids ...ID) error { return errors.ErrUnsupported }

// Compact copies live records out of segments that are at least half dead until
// no more than Config.CompactBytes are held or nothing is left to gain. The spool does this
// by itself in the background; a caller that was told ErrFull may call it to
// make room before it gives up runs. It must hold no lock that OnMove takes.
func (s *Spool) Compact() error { return errors.ErrUnsupported }

// Sync makes all that was written so far survive a loss of power.
func (s *Spool) Sync() error { return errors.ErrUnsupported }

// Stats tells what the spool holds.
func (s *Spool) Stats() Stats { return Stats{} }

// Close syncs and releases everything. A directory can be opened again.
func (s *Spool) Close() error { return errors.ErrUnsupported }
