package spool

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// ID is the trace id of a run.
type ID = [16]byte

// Position says where a record lies. It is valid until the record is freed,
// moved, or the spool is closed, and is given out again later. Zero is never
// the position of a record.
type Position uint32

// Sizes that do not depend on the configuration.
const (
	// MaxExtra is the most bytes a record may have as Extra, or a mark hold.
	MaxExtra = 64 << 10
	// RecordOverhead is what a record takes beside Extra and Payload, before
	// it is rounded up to 16 bytes.
	RecordOverhead = headerSize
)

// Defaults for the fields of Config that are zero, and for SyncInterval, whose
// zero has a meaning of its own.
const (
	DefaultMaxBytes     = 1 << 30
	DefaultSegmentBytes = 32 << 20
	DefaultSyncInterval = time.Second
)

var (
	// ErrFull says that there is no room: MaxBytes is reached, or the disk is
	// full. Nothing was changed; the call can be repeated once Free or Compact
	// made room.
	ErrFull = errors.New("spool: full")
	// ErrTooLarge says that a batch could not be taken even by an empty spool.
	ErrTooLarge = errors.New("spool: too large")
	// ErrClosed is returned by every method after Close.
	ErrClosed = errors.New("spool: closed")
	// ErrLocked says that another process, or another spool of this one, has
	// the directory.
	ErrLocked = errors.New("spool: directory is in use by another spool, of this process or of another")
	// ErrVersion says that a file was written by a version unknown here. It is
	// named in the error and was not touched.
	ErrVersion = errors.New("spool: unknown version")
)

// Record is one part of a run.
type Record struct {
	ID ID
	// Kind, Flags, Spans, Logs, Arrived and Extra are the caller's and are
	// given back as they were. Spans and Logs also tell what damage has cost; a
	// record of neither counts as one.
	Kind        uint8
	Flags       uint16
	Spans, Logs uint32
	// Arrived is a time in Unix nanoseconds.
	Arrived int64
	// Extra is metadata small enough to be read at a restart for every record.
	Extra   []byte
	Payload []byte
	// Pos and LSN are set by Append. The LSN ascends from record to record, by the
	// number of their spans and log records, and stays when one is moved. After a
	// restart it goes on above that of every record and mark there is.
	Pos Position
	LSN uint64
}

// Config says where and how much a spool may hold, and whom it tells.
type Config struct {
	// Directory holds the files; it is made, with mode 0700, if it is missing.
	// When empty, all is held in memory and nothing survives Close.
	Directory string
	// MaxBytes bounds the files, or the memory in their place: from 64 KiB to
	// 32 GiB. Room for one segment of it is kept for compaction and marks.
	MaxBytes int64
	// SegmentBytes is the size at which a new segment is begun: at least 4 KiB,
	// and lowered to an eighth of MaxBytes if it is more.
	SegmentBytes int64
	// CompactBytes are held before compaction copies anything. Half of MaxBytes
	// when zero.
	CompactBytes int64
	// SyncInterval is the time between two fsyncs of what was written. Zero
	// means that they are left to the system.
	SyncInterval time.Duration

	// OnMark is called by Open for every mark that holds, in no order, before
	// the first OnRecord. The bytes are only valid during the call.
	OnMark func(id ID, mark []byte)
	// OnRecord is called by Open for every intact record that was not freed, in
	// the order of their LSN. Payload is not loaded; the record and its Extra
	// are only valid during the call. When it answers false the record is freed.
	OnRecord func(r *Record) bool
	// OnMove says that a record now lies elsewhere; the caller puts the new
	// position in place of the old one, which it must not use again. It answers
	// false if it no longer holds the old position, or is about to read from
	// it; then nothing has changed. It is called without any lock held, never
	// at the same time from two goroutines, and may call Free but not Compact
	// or Close. Without it nothing is moved.
	OnMove func(id ID, old, now Position) bool
}

// Bounds of the configuration. Half of the positions are left for segments that
// were not filled.
const (
	minMaxBytes     = 64 << 10
	maxMaxBytes     = addressSpace / 2
	minSegmentBytes = 4 << 10
)

// Spool is a log of records and marks. It is safe for concurrent use.
type Spool struct {
	cfg Config
	st  storage

	// Locks are taken in the order in which they stand here.

	// moving serialises compaction, which writes to copies.
	moving sync.Mutex
	copies *segment
	// appending serialises Append, which writes to head.
	appending sync.Mutex
	head      *segment

	marks marks

	// mu guards what follows, and the segments. No file is touched under it.
	mu    sync.Mutex
	table table
	// held are the numbers of the segments in the table or about to be.
	held       map[uint64]struct{}
	nextNumber uint64
	// total is the size of all files, with what is about to be written; markLive
	// of it will be written anew when the marks file is next replaced.
	total, markLive int64
	// live are the bytes of total in records that were not freed.
	live int64
	// items are the spans and log records in them, unless miscounted.
	items      uint64
	miscounted bool
	// doomed segments are to be removed once the lock is free.
	doomed []*segment
	// fruitless is the garbage that the last compaction could not remove.
	fruitless int64
	// unlisted says that files came or went since the directory was synced.
	unlisted bool
	closed   bool
	stats    Stats

	lsn    atomic.Uint64
	worker worker
}

// check fills in defaults and tells what is out of bounds.
func (c *Config) check() error {
	if c.MaxBytes == 0 {
		c.MaxBytes = DefaultMaxBytes
	}
	if c.SegmentBytes == 0 {
		c.SegmentBytes = DefaultSegmentBytes
	}
	if c.CompactBytes == 0 {
		c.CompactBytes = c.MaxBytes / 2
	}
	switch {
	case c.MaxBytes < minMaxBytes || c.MaxBytes > maxMaxBytes:
		return fmt.Errorf("spool: MaxBytes %d is not between %d and %d", c.MaxBytes, minMaxBytes, maxMaxBytes)
	case c.SegmentBytes < minSegmentBytes:
		return fmt.Errorf("spool: SegmentBytes %d is below %d", c.SegmentBytes, minSegmentBytes)
	case c.CompactBytes < 0:
		return fmt.Errorf("spool: CompactBytes %d is negative", c.CompactBytes)
	case c.SyncInterval < 0:
		return fmt.Errorf("spool: SyncInterval %s is negative", c.SyncInterval)
	}
	c.SegmentBytes = min(c.SegmentBytes, c.MaxBytes/8) / cellSize * cellSize
	return nil
}

// Stats tells what the spool holds.
func (s *Spool) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Bytes, st.Limit, st.LiveBytes = s.total, s.limit(), s.live
	for g := range s.table.all {
		st.Segments++
		st.Records += g.liveRecords
	}
	return st
}

// limit is what Append may let total grow to: a segment's size is left for
// copies, and what the next marks file will take.
func (s *Spool) limit() int64 { return s.cfg.MaxBytes - s.cfg.SegmentBytes - s.markLive }
