package replay

// Stats counts what a session did.
type Stats struct {
	Mode Mode `json:"mode"`
	// Steps counts calls, whatever became of them.
	Steps int `json:"steps"`
	// TapeHits counts calls answered from the tape.
	TapeHits int `json:"tape_hits"`
	// TapeMisses counts calls that nothing left on the tape could be.
	TapeMisses int `json:"tape_misses"`
	// LiveToolCalls counts calls, of any kind, that really ran, also those that
	// somebody else ran; see [Unserved].
	LiveToolCalls int `json:"live_tool_calls"`
	// RealSideEffects counts those among them that have a side effect, as the
	// call or else the tape says of the tool.
	RealSideEffects int `json:"real_side_effects"`
	// DriftEvents counts calls that differed from the record they should have
	// been; with strict order also calls that came when another was due.
	DriftEvents int `json:"drift_events"`

	// Exhausted counts calls whose recorded answers were all used up.
	Exhausted int `json:"exhausted"`
	// Gaps counts calls on the tape that lack what it takes to answer them.
	Gaps int `json:"gaps"`
	// Reordered counts hits that came after a call which, when they were
	// recorded, began only once they had ended.
	Reordered int `json:"reordered"`
	// Unconsumed counts records not asked for so far.
	Unconsumed int `json:"unconsumed"`
	// RedactedServed counts answers with a placeholder in place of a value.
	RedactedServed int `json:"redacted_served"`
	// ExpiredServed counts answers from records past their expiry.
	ExpiredServed int `json:"expired_served"`

	// Derived counts clock reads and random draws that were derived from a tape
	// without such records.
	Derived int `json:"derived,omitempty"`
	// Refused counts calls that would have had to run live and may not.
	Refused int `json:"refused,omitempty"`
}

// Verdict is what a session made of a call.
type Verdict string

// The verdicts of a call.
const (
	VerdictHit        Verdict = "hit"
	VerdictDrift      Verdict = "drift"
	VerdictMiss       Verdict = "miss"
	VerdictExhausted  Verdict = "exhausted"
	VerdictGap        Verdict = "gap"
	VerdictDivergence Verdict = "divergence"
)
