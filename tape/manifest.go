package tape

import "encoding/json"

// Outcome says how a run ended.
type Outcome string

// The outcomes of a run.
const (
	// OutcomeFailed: the root or agent span ended in error, or the last call
	// failed and nothing followed it.
	OutcomeFailed Outcome = "failed"
	// OutcomeRecovered: a call failed, the run went on and ended well.
	OutcomeRecovered Outcome = "recovered"
	// OutcomeIncomplete: the run never ended.
	OutcomeIncomplete Outcome = "incomplete"
	// OutcomeSucceeded: no call failed.
	OutcomeSucceeded Outcome = "succeeded"
)

// Trigger says what caused the decision about a run.
type Trigger string

// The triggers of a decision.
const (
	TriggerRootEnded   Trigger = "root_ended"
	TriggerIdle        Trigger = "idle"
	TriggerMaxAge      Trigger = "max_age"
	TriggerSize        Trigger = "size"
	TriggerEvicted     Trigger = "evicted"
	TriggerShutdown    Trigger = "shutdown"
	TriggerLateFailure Trigger = "late_failure"
	TriggerAsked       Trigger = "asked"
)

// Manifest describes the run a tape was made from.
type Manifest struct {
	// Tape is the format version.
	Tape           string   `json:"tape"`
	TraceID        string   `json:"trace_id,omitempty"`
	ConversationID string   `json:"conversation_id,omitempty"`
	Service        string   `json:"service,omitempty"`
	Agent          string   `json:"agent,omitempty"`
	AgentVersion   string   `json:"agent_version,omitempty"`
	CodeVersion    string   `json:"code_version,omitempty"`
	Environment    string   `json:"environment,omitempty"`
	Started        string   `json:"started,omitempty"`
	Ended          string   `json:"ended,omitempty"`
	Outcome        Outcome  `json:"outcome,omitempty"`
	Trigger        Trigger  `json:"trigger,omitempty"`
	Failure        *Failure `json:"failure,omitempty"`
	// Complete is set when a strict replay of the tape meets no gap. Gaps may
	// list more: what the run lacks and a replay does not need.
	Complete  bool            `json:"complete"`
	Gaps      []Gap           `json:"gaps,omitempty"`
	Fidelity  Fidelity        `json:"fidelity,omitempty"`
	Tools     []Tool          `json:"tools,omitempty"`
	Redaction *Redaction      `json:"redaction,omitempty"`
	Resource  json.RawMessage `json:"resource,omitempty"`
	Recorder  string          `json:"recorder,omitempty"`
	// Parent is set on a tape that a replay made of another by running a part of
	// it live.
	Parent *Parent `json:"parent,omitempty"`

	// Extra keeps members this package does not know, in order of arrival.
	Extra []Member `json:"-"`
}

// Parent names the tape that a tape was derived from.
type Parent struct {
	// TraceID is that of the parent's run, "" where its tape has none.
	TraceID string `json:"trace_id,omitempty"`
	// Experiment is the kind of replay that derived the tape.
	Experiment string `json:"experiment,omitempty"`
	// Fork is the step of the parent from which on calls ran live, 0 where there is
	// none.
	Fork int `json:"fork,omitempty"`

	// Extra keeps members this package does not know, in order of arrival.
	Extra []Member `json:"-"`
}

// Failure attributes a failed run to one record.
type Failure struct {
	Class string `json:"class,omitempty"`
	// Seq is the failing record, 0 when no record failed.
	Seq      int      `json:"seq,omitempty"`
	Reason   string   `json:"reason,omitempty"`
	Evidence []string `json:"evidence,omitempty"`

	// Extra keeps members this package does not know, in order of arrival.
	Extra []Member `json:"-"`
}

// Gap is something a tape lacks, and why.
type Gap struct {
	// Seq is the record concerned, 0 for the run as a whole.
	Seq int `json:"seq,omitempty"`
	// What is "args", "result", "span", "root" or another part that is missing.
	What string `json:"what"`
	Why  string `json:"why,omitempty"`
	// Fix is the switch of the instrumentation that closes the gap.
	Fix string `json:"fix,omitempty"`

	// Extra keeps members this package does not know, in order of arrival.
	Extra []Member `json:"-"`
}

// Blocks reports whether a strict replay stops at the gap or may miss calls by
// it: the content of a record, or calls that are not on the tape. A root that
// was not seen does not keep the calls below it from replaying.
func (g *Gap) Blocks() bool {
	switch g.What {
	case "args", "result":
		return g.Seq > 0
	case "span", "tools", "end":
		return true
	}
	return false
}

// Tool is a tool definition as the model was given it.
type Tool struct {
	Name          string          `json:"name"`
	Description   string          `json:"description,omitempty"`
	Schema        json.RawMessage `json:"schema,omitempty"`
	SchemaVersion string          `json:"schema_version,omitempty"`

	// Extra keeps members this package does not know, in order of arrival.
	Extra []Member `json:"-"`
}

// Redaction carries the policy that redacted the tape, whole enough to redact
// live arguments the same way.
type Redaction struct {
	// Policy identifies the rules: equal ids mean equal rules.
	Policy string `json:"policy"`
	// Rules is the policy as configuration; see internal/redact.
	Rules json.RawMessage `json:"rules,omitempty"`

	// Extra keeps members this package does not know, in order of arrival.
	Extra []Member `json:"-"`
}

// Tape is a whole tape in memory.
type Tape struct {
	// Manifest is nil for a bare tape.
	Manifest *Manifest
	Records  []Record
}

// Empty reports whether there is nothing on the tape, not even a manifest.
func (t *Tape) Empty() bool { return t.Manifest == nil && len(t.Records) == 0 }
