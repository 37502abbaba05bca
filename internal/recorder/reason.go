package recorder

import (
	"context"
	"encoding/binary"
	"math"

	"go.opentelemetry.io/collector/pdata/ptrace"

	"github.com/tapedeck/tapedeck/tape"
)

// reason says why a run is kept whole, "" when it is not. The cheap ones are asked
// first.
func (r *Recorder) reason(ctx context.Context, rn *run, td ptrace.Traces, row tape.Row) tape.Reason {
	switch {
	case row.Trigger == tape.TriggerAsked, rn.asked:
		return tape.KeptAsked
	case r.keep[row.Outcome]:
		return tape.KeptOutcome
	case row.Outcome == tape.OutcomeSucceeded && chosen(rn.id, r.cfg.Keep.SuccessRatio):
		return tape.KeptSample
	case r.deps.Conditions != nil && r.deps.Conditions.Match(ctx, td):
		return tape.KeptCondition
	}
	return ""
}

// chosen takes a share of all trace ids, always the same ones: several collectors
// that each see a part of a run agree. Ids are mixed first, because not everybody
// makes them at random.
func chosen(id ID, ratio float64) bool {
	h := binary.LittleEndian.Uint64(id[:8]) + 0x9e3779b97f4a7c15*binary.LittleEndian.Uint64(id[8:])
	h = (h ^ h>>30) * 0xbf58476d1ce4e5b9
	h = (h ^ h>>27) * 0x94d049bb133111eb
	h ^= h >> 31
	const bits = 53
	return float64(h>>(64-bits)) < math.Ldexp(ratio, bits)
}
