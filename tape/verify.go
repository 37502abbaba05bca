package tape

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Problem is something about a tape that is readable but not right.
type Problem struct {
	// Line is the line the problem is on in a file without blank lines, which
	// is how [Writer] writes; 0 concerns the tape as a whole.
	Line int `json:"line,omitempty"`
	// Seq is that of the record, 0 in the manifest.
	Seq    int    `json:"seq,omitempty"`
	Member string `json:"member"`
	Reason string `json:"reason"`
}

func (p Problem) String() string {
	switch {
	case p.Seq != 0:
		return fmt.Sprintf("line %d: record %d: %s: %s", p.Line, p.Seq, p.Member, p.Reason)
	case p.Line != 0:
		return fmt.Sprintf("line %d: %s: %s", p.Line, p.Member, p.Reason)
	}
	return fmt.Sprintf("%s: %s", p.Member, p.Reason)
}

// FailureClasses are the classes a failure can be attributed to.
var FailureClasses = []string{
	"tool_selection_error", "args_generation_error", "schema_mismatch", "permission_denied", "approval_missing",
	"external_timeout", "response_parse_error", "side_effect_conflict", "policy_regression", "unattributed",
}

// Verify checks what reading does not: that the members of a tape agree with
// one another and with the format. It returns nil for a tape that is right,
// else the problems in order of their lines. It hashes all arguments and keeps
// nothing.
func Verify(t *Tape) []Problem {
	v := verifier{seqs: make(map[int]bool, len(t.Records))}
	for i := range t.Records {
		v.seqs[t.Records[i].Seq] = true
	}
	if t.Manifest != nil {
		v.line = 1
		v.manifest(t.Manifest)
	}
	v.done = make([]int, len(t.Records)+1)
	previous := 0
	for i := range t.Records {
		r := &t.Records[i]
		v.line++
		v.seq = r.Seq
		switch {
		case r.Seq < 1:
			v.add("seq", "%d, want 1 or more", r.Seq)
		case r.Seq <= previous:
			v.add("seq", "%d after %d: records must be in order and their numbers distinct", r.Seq, previous)
		}
		previous = max(previous, r.Seq)
		v.record(r)
		if t.Manifest != nil && t.Manifest.TraceID != "" && r.RunID != "" && r.RunID != t.Manifest.TraceID {
			v.add("run_id", "%s, but the manifest says %s", r.RunID, t.Manifest.TraceID)
		}
	}
	v.completion(t.Records)
	return v.problems
}

type verifier struct {
	problems []Problem
	line     int
	seq      int
	// seqs are the numbers that records have.
	seqs map[int]bool
	// done[n] is the record, counted from 1, that completed as number n.
	done []int
}

func (v *verifier) add(member, reason string, args ...any) {
	v.problems = append(v.problems, Problem{Line: v.line, Seq: v.seq, Member: member, Reason: fmt.Sprintf(reason, args...)})
}

func (v *verifier) manifest(m *Manifest) {
	if m.Tape != Version {
		v.add("tape", "version %q, want %q", m.Tape, Version)
	}
	v.hex("trace_id", m.TraceID, 32)
	v.time("started", m.Started)
	v.time("ended", m.Ended)
	oneOf(v, "outcome", m.Outcome, OutcomeFailed, OutcomeRecovered, OutcomeIncomplete, OutcomeSucceeded)
	oneOf(v, "trigger", m.Trigger, TriggerRootEnded, TriggerIdle, TriggerMaxAge, TriggerSize,
		TriggerEvicted, TriggerShutdown, TriggerLateFailure, TriggerAsked)
	v.fidelity(m.Fidelity)
	if f := m.Failure; f != nil {
		oneOf(v, "failure.class", f.Class, FailureClasses...)
		v.refers("failure.seq", f.Seq)
	}
	for i, gap := range m.Gaps {
		v.refers(fmt.Sprintf("gaps[%d].seq", i), gap.Seq)
	}
	if m.Complete {
		for i := range m.Gaps {
			if m.Gaps[i].Blocks() {
				v.add("complete", "true, but gaps[%d] keeps a strict replay from finding every answer", i)
				break
			}
		}
	}
	for i, tool := range m.Tools {
		if tool.Name == "" {
			v.add(fmt.Sprintf("tools[%d].name", i), "missing")
		}
	}
}

func (v *verifier) record(r *Record) {
	if r.Tool == "" {
		v.add("tool", "missing")
	}
	v.keys(r)
	if r.MS < 0 {
		v.add("ms", "%v, want 0 or more", r.MS)
	}
	v.time("clock", r.Clock)
	v.time("start", r.Start)
	v.time("expires", r.Expires)
	oneOf(v, "kind", r.Kind, KindTool, KindModel, KindClock, KindRandom)
	v.hex("run_id", r.RunID, 32)
	v.hex("step_id", r.StepID, 16)
	v.hex("parent_id", r.ParentID, 16)
	for i, id := range r.SpanIDs {
		v.hex(fmt.Sprintf("span_ids[%d]", i), id, 16)
	}
	oneOf(v, "failure_class", r.FailureClass, FailureClasses...)
	if r.FailureClass != "" && !r.Failed() {
		v.add("failure_class", "on a record without error")
	}
	v.fidelity(r.Fidelity)
	v.bodies(r)
}

// keys checks key and args_hash against the arguments, or against each other
// where the arguments are held elsewhere.
func (v *verifier) keys(r *Record) {
	if r.Key == "" {
		v.add("key", "missing")
	}
	if slices.ContainsFunc(r.Bodies, func(b Body) bool { return b.IsArgs() }) {
		digits := strings.TrimPrefix(r.ArgsHash, hashPrefix)
		if r.Key != "" && len(digits) >= keyDigits && r.Key != r.Tool+":"+digits[:keyDigits] {
			v.add("key", "%s does not belong to args_hash %s", r.Key, r.ArgsHash)
		}
		return
	}
	key, hash, err := KeyAndHash(r.Tool, r.Args)
	if err != nil {
		v.add("args", "%v", err)
		return
	}
	if r.Key != "" && r.Key != key {
		v.add("key", "%s, but the arguments make it %s", r.Key, key)
	}
	if r.ArgsHash != "" && r.ArgsHash != hash {
		v.add("args_hash", "%s, but the arguments make it %s", r.ArgsHash, hash)
	}
}

func (v *verifier) bodies(r *Record) {
	seen := map[bool]bool{}
	for i := range r.Bodies {
		b := &r.Bodies[i]
		if b.SHA256 == "" {
			v.add("body.sha256", "missing")
		}
		v.hex("body.sha256", b.SHA256, 64)
		if b.Bytes < 0 {
			v.add("body.bytes", "%d, want 0 or more", b.Bytes)
		}
		oneOf(v, "body.of", b.Of, "args", "result")
		member, held := "result", len(r.Result) > 0
		if b.IsArgs() {
			member, held = "args", len(r.Args) > 0
		}
		if held {
			v.add("body", "stands for %s, which is there too", member)
		}
		if seen[b.IsArgs()] {
			v.add("body", "stands for %s a second time", member)
		}
		seen[b.IsArgs()] = true
	}
}

// completion checks that done, where it is set, numbers the records.
func (v *verifier) completion(records []Record) {
	line := v.line - len(records)
	for i := range records {
		r := &records[i]
		v.line, v.seq = line+i+1, r.Seq
		switch {
		case r.Done == 0:
		case r.Done < 0 || r.Done >= len(v.done):
			v.add("done", "%d, want 1 to %d", r.Done, len(records))
		case v.done[r.Done] != 0:
			v.add("done", "%d, as record %d", r.Done, records[v.done[r.Done]-1].Seq)
		default:
			v.done[r.Done] = i + 1
		}
	}
	slices.SortStableFunc(v.problems, func(a, b Problem) int { return a.Line - b.Line })
}

func (v *verifier) fidelity(f Fidelity) {
	oneOf(v, "fidelity", f, FidelityExact, FidelityRebuilt, FidelitySynthesised, FidelityTruncated, FidelityRedacted, FidelityAbsent)
}

func (v *verifier) refers(member string, seq int) {
	if seq != 0 && !v.seqs[seq] {
		v.add(member, "%d, but there is no such record", seq)
	}
}

func (v *verifier) time(member, value string) {
	if value == "" {
		return
	}
	if _, err := time.Parse(time.RFC3339Nano, value); err != nil {
		v.add(member, "%q is not an RFC 3339 time", value)
	}
}

func (v *verifier) hex(member, value string, digits int) {
	if value != "" && (len(value) != digits || strings.Trim(value, hexDigits) != "") {
		v.add(member, "%q is not %d lower-case hexadecimal digits", value, digits)
	}
}

// oneOf checks a value that may be empty.
func oneOf[T ~string](v *verifier, member string, value T, known ...T) {
	if value != "" && !slices.Contains(known, value) {
		v.add(member, "unknown value %q", string(value))
	}
}
