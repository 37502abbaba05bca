// Package recorder decides about runs: it groups spans by trace id across
// requests, finds out when a run is over and how it ended, and hands on either
// the whole redacted run or one summary span.
//
// It has never heard of pipelines. Spans come in through [Recorder.Add], time
// passes through [Recorder.Tick], results leave through the function Emit; the
// processor component is a thin shell around it.
//
// # What it promises
//
// A span that Add took is redacted and in the spool (package spool) when Add
// returns, and no pdata is held. With a spool on disk it survives a kill: the next
// recorder on the directory goes on with open runs, look-back and decisions as if
// nothing had happened, the time in between not counted. A kill between handing a
// run on and noting it hands it on once more.
//
// A run is decided once and late spans follow that decision, except that a late
// failure, or somebody who asks, gets the whole run as long as the spool has it.
// Every span that came in is kept, summarised, let go, passed on or counted as
// dropped with a reason. Space stays under Spool.MaxBytes: look-back goes first,
// then the oldest run is decided early, then requests are refused until there is
// room. Of a run that outgrows its own bounds head and tail stay.
//
// # How it works
//
//	split    a request by run; each part is marshalled and redacted by package
//	         once, under the run's own ownership, so that no run waits for another
//	append   all parts with one write
//	index    shards of the runs by id, by the time they are due and by age
//	decide   one run at a time and caller: read, translate, keep or summarise,
//	         hand on, note the decision, free the records
//
// Whoever works on a run owns it (run.busy); others wait for that run and nothing
// else, and never while they own another. Locks are held for moments, never while
// anything is read, written or handed on.
//
// # What it costs
//
// About 250 bytes of memory for a run and four for each of its records; with the
// spool on disk nothing else for a span that has no long texts, and about 40 bytes
// for each distinct long text within Spool.CacheBytes. A decision holds one run in
// memory.
package recorder

import (
	"context"
	"encoding/binary"
	"hash/crc32"
	"runtime"
	"sync/atomic"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/tapedeck/tapedeck/internal/dialect"
	"github.com/tapedeck/tapedeck/internal/once"
	"github.com/tapedeck/tapedeck/internal/redact"
	"github.com/tapedeck/tapedeck/internal/spool"
	"github.com/tapedeck/tapedeck/tape"
)

// Recorder is safe for concurrent use.
type Recorder struct {
	cfg  Config
	deps Deps
	keep map[tape.Outcome]bool
	// policy is the id of the redaction policy, policySum its checksum, rules its
	// rules where the spans have to carry them.
	policy, rules string
	policySum     uint32
	// translation says which results are failures.
	translation *dialect.Config

	spool   *spool.Spool
	encoder *once.Encoder
	texts   texts
	kinship kinship
	good    *goodRuns

	shards []*shard
	// slots are taken by runs in memory.
	slots  chan struct{}
	turn   atomic.Uint32
	closed atomic.Bool
}

// Open makes a recorder over the spool and recovers what the spool holds. Nothing
// runs by itself: call Tick.
func Open(cfg Config, deps Deps) (*Recorder, error) {
	r := &Recorder{cfg: cfg, deps: deps, keep: make(map[tape.Outcome]bool)}
	if r.translation = deps.Translation.Config; r.translation == nil {
		r.translation = dialect.DefaultConfig()
	}
	policy := deps.Scrubber.Policy().Manifest()
	r.policy = policy.Policy
	r.policySum = crc32.ChecksumIEEE([]byte(r.policy))
	if deps.CarryPolicy && r.policy != redact.Default().Manifest().Policy {
		r.rules = string(policy.Rules)
	}
	for _, o := range cfg.Keep.Outcomes {
		r.keep[o] = true
	}
	r.slots = make(chan struct{}, runtime.GOMAXPROCS(0))
	r.encoder = once.NewEncoder(deps.Scrubber, int(min(cfg.Spool.CacheBytes, once.DefaultTableLimit)))
	r.texts.limit = cfg.Spool.CacheBytes
	r.kinship = newKinship(deps.Logs)
	r.good = newGoodRuns(cfg.Keep.LastSuccessPer)
	for range shardsFor(runtime.GOMAXPROCS(0)) {
		r.shards = append(r.shards, newShard())
	}
	if err := r.recover(); err != nil {
		return nil, err
	}
	return r, nil
}

// shardsFor is a power of two, so many that two cores seldom want the same.
func shardsFor(cores int) int {
	n := 8
	for n < 4*cores {
		n *= 2
	}
	return n
}

func (r *Recorder) shard(id ID) *shard {
	// Trace ids may have their time in front, and some SDKs pad them with zeros.
	h := binary.LittleEndian.Uint64(id[:8]) ^ binary.LittleEndian.Uint64(id[8:])
	h *= 0x9e3779b97f4a7c15
	return r.shards[(h>>32)%uint64(len(r.shards))]
}

func (r *Recorder) now() int64 { return nanos(r.deps.Now()) }

// own makes the caller the owner of a run, waiting for whoever is. It gives nil
// where nothing is in the spool of it.
func (r *Recorder) own(ctx context.Context, id ID) (*run, error) {
	s := r.shard(id)
	for {
		s.mu.Lock()
		rn := s.runs[id]
		if rn == nil {
			s.mu.Unlock()
			return nil, nil
		}
		if !rn.busy {
			s.own(rn)
			s.mu.Unlock()
			return rn, nil
		}
		wait := rn.waiting()
		s.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// release ends the ownership of a run and puts it back into the schedule.
func (r *Recorder) release(rn *run) {
	s := r.shard(rn.id)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.runs[rn.id] == rn {
		switch {
		case rn.state == stateOpen:
			s.schedule(rn, r.deadline(rn))
		case rn.state.decided():
			s.schedule(rn, max(rn.decided+int64(r.cfg.Lookback), rn.retry))
		}
	}
	s.release(rn)
}

// Pending reports whether a run is open: its spans came in and nothing has been
// decided yet.
func (r *Recorder) Pending(id pcommon.TraceID) bool {
	s := r.shard(ID(id))
	s.mu.Lock()
	defer s.mu.Unlock()
	rn := s.runs[ID(id)]
	return rn != nil && rn.state == stateOpen
}

// Status is what a recorder holds.
type Status struct {
	// OpenRuns are undecided, HeldRuns decided and still whole in the spool.
	OpenRuns, HeldRuns int
	// OldestRun is when the first span of the oldest open run came, in Unix
	// nanoseconds, 0 when there is none.
	OldestRun int64
	// TextBytes is the memory that remembered texts take.
	TextBytes int64
	Spool     spool.Stats
}

// Status says what the recorder holds.
func (r *Recorder) Status() Status {
	st := Status{TextBytes: r.texts.bytes.Load(), Spool: r.spool.Stats()}
	for _, s := range r.shards {
		s.mu.Lock()
		st.OpenRuns += s.open.n
		st.HeldRuns += s.held.n
		if rn := s.open.first; rn != nil && (st.OldestRun == 0 || rn.first < st.OldestRun) {
			st.OldestRun = rn.first
		}
		s.mu.Unlock()
	}
	return st
}
