package replay

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/tapedeck/tapedeck/tape"
)

// frozen answers clock reads and random draws where a tape has no records of
// them. The clock stands where the tape stands: at the time shown to the caller
// at the step answered last, else at its end, else, on a tape without times, at a
// second a step; each reading is a microsecond later than the one before, so that
// times differ and a loop that waits for the clock moves on. Draws come from a
// generator seeded by the tape. Two replays that ask in the same order get the same.
// It is guarded by its session.
type frozen struct {
	// clock and random say whether the tape has none of the kind.
	clock, random bool
	begin, now    time.Time
	// steps counts those answered; last is the last of them, nil if the clock has
	// been moved there.
	steps int
	last  *tape.Record
	draws *rand.ChaCha8
}

// unknownTime is where the clock of a tape without times begins.
var unknownTime = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// maxDraw bounds a random draw, in bytes.
const maxDraw = 1 << 20

func newFrozen(t *tape.Tape, d *deck) *frozen {
	f := &frozen{clock: true, random: true}
	seed := sha256.New()
	for i := range d.steps {
		switch d.steps[i].record.KindOf() {
		case tape.KindClock:
			f.clock = false
		case tape.KindRandom:
			f.random = false
		}
	}
	if m := t.Manifest; m != nil {
		seed.Write([]byte(m.TraceID))
		f.now, _ = time.Parse(time.RFC3339Nano, m.Started)
	}
	if t.Manifest == nil || t.Manifest.TraceID == "" {
		for i := range d.steps {
			seed.Write([]byte(d.steps[i].key))
		}
	}
	if f.now.IsZero() && len(d.steps) > 0 {
		f.now, _ = time.Parse(time.RFC3339Nano, d.steps[0].record.Start)
	}
	if f.now.IsZero() {
		f.now = unknownTime
	}
	f.begin = f.now
	f.draws = rand.NewChaCha8([32]byte(seed.Sum(nil)))
	return f
}

// answered notes that the tape stands at a step.
func (f *frozen) answered(r *tape.Record) {
	f.steps++
	f.last = r
}

// tick moves the clock to where the tape stands, and on.
func (f *frozen) tick() time.Time {
	if r := f.last; r != nil {
		at, err := time.Parse(time.RFC3339Nano, r.Clock)
		if err != nil {
			if at, err = time.Parse(time.RFC3339Nano, r.Start); err == nil {
				at = at.Add(time.Duration(max(0, r.MS) * float64(time.Millisecond)))
			}
		}
		if err != nil {
			at = f.begin.Add(time.Duration(f.steps) * time.Second)
		}
		if at.After(f.now) {
			f.now = at.UTC()
		}
		f.last = nil
	}
	f.now = f.now.Add(time.Microsecond)
	return f.now
}

// derive answers a clock read or a random draw, false for any other call.
func (f *frozen) derive(c *call) (Answer, bool) {
	switch {
	case f.clock && c.kind == tape.KindClock && c.tool == clockTool:
		text, err := encode(f.tick())
		return Answer{Call: c.n, Result: text, Derived: true}, err == nil
	case f.random && c.kind == tape.KindRandom && c.tool == randomTool:
		var want struct{ Bytes int }
		if json.Unmarshal(c.args, &want) != nil || want.Bytes < 0 || want.Bytes > maxDraw {
			return Answer{}, false
		}
		drawn := make([]byte, want.Bytes+8)
		for i := 0; i < want.Bytes; i += 8 {
			binary.LittleEndian.PutUint64(drawn[i:], f.draws.Uint64())
		}
		text, err := encode(drawn[:want.Bytes])
		return Answer{Call: c.n, Result: text, Derived: true}, err == nil
	}
	return Answer{}, false
}
