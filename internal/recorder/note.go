package recorder

import (
	"encoding/binary"
	"errors"

	"github.com/tapedeck/tapedeck/internal/spool"
)

// What the spool keeps for a restart. Of each record, beside its counts:
//
//	kind    0 spans, 1 log records
//	flags   bits 0 root, 1 session, 2 failed, 3 calls, 4 kin
//	extra   version byte 1, policy uint32, bytes uvarint, part uvarint, then kin
//
// policy is a checksum of the id of the policy that redacted it, bytes its size as
// it came, part the number of the part of a cut run, 0 for its head. Kin is there
// where log records come in too (see kin).
//
// Of each run about which there is something to say, as a mark:
//
//	version byte 1, state, trigger, outcome, flags
//	decided uvarint, parts uvarint, spans uvarint, logs uvarint, then kind
//
// flags are bits 0 held, 1 asked, 2 failed, 3 calls; kind is the one of which it is
// the last good run, if it is; parts up to that
// number were cut out, with so many spans and log records, in which somebody failed
// or called.
const noteVersion = 1

const (
	kindSpans uint8 = iota
	kindLogs
)

const (
	flagRoot uint16 = 1 << iota
	flagSession
	flagFailed
	flagCalls
	flagKin
)

const (
	markHeld uint8 = 1 << iota
	markAsked
	markFailed
	markCalls
)

// errNote says that a note is of another version or damaged.
var errNote = errors.New("unreadable note")

// extra is what is noted with each record.
type extra struct {
	policy uint32
	bytes  int64
	part   uint64
	kin    *kin
}

func (e *extra) append(b []byte) []byte {
	b = append(b, noteVersion)
	b = binary.LittleEndian.AppendUint32(b, e.policy)
	b = binary.AppendUvarint(b, uint64(e.bytes))
	b = binary.AppendUvarint(b, e.part)
	if e.kin != nil {
		b = e.kin.append(b)
	}
	return b
}

func readExtra(r *spool.Record) (e extra, err error) {
	d := decoder{b: r.Extra}
	if d.byte() != noteVersion {
		return e, errNote
	}
	e.policy = d.uint32()
	e.bytes = int64(d.uvarint())
	e.part = d.uvarint()
	if r.Flags&flagKin != 0 {
		e.kin = readKin(&d)
	}
	return e, d.err
}

// note is what is noted of a run.
type note struct {
	fate
	flags   uint8
	decided int64
	parts   uint64
	lost    Amount
	kind    string
}

func (n *note) append(b []byte) []byte {
	b = append(b, noteVersion, byte(n.state), byte(n.trigger), byte(n.outcome), n.flags)
	b = binary.AppendUvarint(b, uint64(n.decided))
	b = binary.AppendUvarint(b, n.parts)
	b = binary.AppendUvarint(b, uint64(n.lost.Spans))
	b = binary.AppendUvarint(b, uint64(n.lost.Records))
	return append(b, n.kind...)
}

func readNote(b []byte) (n note, err error) {
	d := decoder{b: b}
	if d.byte() != noteVersion {
		return n, errNote
	}
	n.state, n.trigger, n.outcome = state(d.byte()), trigger(d.byte()), outcome(d.byte())
	n.flags = d.byte()
	n.decided = int64(d.uvarint())
	n.parts = d.uvarint()
	n.lost = Amount{int(d.uvarint()), int(d.uvarint())}
	n.kind = string(d.b)
	if n.state > stateDropped {
		return n, errNote
	}
	return n, d.err
}

// noteOf is what has to be noted of a run as it is.
func noteOf(rn *run, held bool) note {
	n := note{fate: fate{rn.state, rn.trigger, rn.outcome}, decided: rn.decided}
	set := func(on bool, flag uint8) {
		if on {
			n.flags |= flag
		}
	}
	set(held, markHeld)
	set(rn.asked, markAsked)
	if c := rn.cut; c != nil {
		n.parts, n.lost = c.gone, c.lost
		set(c.signs.failed, markFailed)
		set(c.signs.calls, markCalls)
	}
	if !rn.state.decided() {
		n.trigger = 0
	}
	return n
}

// worth reports whether there is anything to say that the records do not.
func (n *note) worth() bool {
	return n.state.decided() || n.flags != 0 || n.parts > 0
}

// decoder reads a note; after an error it gives zeros.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) take(n int) []byte {
	if d.err != nil || len(d.b) < n {
		d.err = errNote
		return make([]byte, n)
	}
	out := d.b[:n]
	d.b = d.b[n:]
	return out
}

func (d *decoder) byte() byte     { return d.take(1)[0] }
func (d *decoder) uint32() uint32 { return binary.LittleEndian.Uint32(d.take(4)) }
func (d *decoder) uint64() uint64 { return binary.LittleEndian.Uint64(d.take(8)) }

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.b)
	if d.err != nil || n <= 0 {
		d.err = errNote
		return 0
	}
	d.b = d.b[n:]
	return v
}
