package tape

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Version is the tape format version this package reads and writes.
const Version = "1"

// Kind says which boundary a record crossed.
type Kind string

// The kinds of a record. An absent kind reads as KindTool.
const (
	KindTool   Kind = "tool"
	KindModel  Kind = "model"
	KindClock  Kind = "clock"
	KindRandom Kind = "random"
)

// Kinds are all kinds of a record.
var Kinds = []Kind{KindTool, KindModel, KindClock, KindRandom}

// Fidelity grades how much of the original call a record still holds.
type Fidelity string

// The grades of fidelity, best first.
const (
	// FidelityExact: the bytes are those the caller sent and received.
	FidelityExact Fidelity = "exact"
	// FidelityRebuilt: all content is there, its bytes were encoded again.
	FidelityRebuilt Fidelity = "rebuilt"
	// FidelitySynthesised: no span of its own, taken from model messages.
	FidelitySynthesised Fidelity = "synthesised"
	// FidelityRedacted: a value was replaced by a placeholder.
	FidelityRedacted Fidelity = "redacted"
	// FidelityTruncated: content was cut before it reached the recorder.
	FidelityTruncated Fidelity = "truncated"
	// FidelityAbsent: content was never captured.
	FidelityAbsent Fidelity = "absent"
)

// FirstChunkMember is a member that the record of a streamed model call may have
// beside those of [Record]: how many milliseconds the first chunk took.
const FirstChunkMember = "first_chunk_ms"

// Record is one boundary crossing of a run: a tool call, a model call, a clock
// read or a random draw. Seq, Tool, Key, Args, Result, MS, SideEffect and Clock
// are the core that any simple recorder has; they are always written.
type Record struct {
	// Seq is the 1-based position in recorded order.
	Seq int
	// Tool is the tool name; for a model call the operation, such as "chat".
	Tool string
	// Key is the tool name, a colon and 12 hex digits; see [Key].
	Key string
	// Args holds the arguments after redaction as JSON text; nil is null. For a
	// model call it is the request: system, messages, tools, params.
	Args json.RawMessage
	// Result is what came back as JSON text; nil is null. For a model call it
	// holds messages, finish_reason and usage.
	Result json.RawMessage
	// MS is the wall time in milliseconds.
	MS float64
	// SideEffect is nil when nobody knows.
	SideEffect *bool
	// Clock is the RFC 3339 time shown to the caller at this step; "" is null.
	Clock string

	// Kind is "" for a tool call written by a plain recorder; see [Record.KindOf].
	Kind Kind
	// Error is nil when the call succeeded.
	Error *Error

	// RunID, StepID and ParentID are trace, span and parent span id in hex.
	RunID    string
	StepID   string
	ParentID string
	// SpanIDs lists every span that stands for this call, the main one first,
	// where more than one does.
	SpanIDs []string
	// ToolCallID is as the model or framework issued it. It is not unique
	// within a run.
	ToolCallID string
	// Start is RFC 3339 with nanoseconds. Done is the 1-based completion order,
	// 0 when unknown.
	Start string
	Done  int

	SchemaVersion string
	// ArgsRaw is the verbatim argument text where it was not JSON or where
	// encoding it again would lose something.
	ArgsRaw string
	// ArgsHash is "sha256:" and the full digest of the canonical arguments.
	ArgsHash      string
	ArgsValidated json.RawMessage
	CallerContext json.RawMessage
	PromptVersion string
	Model         string
	PolicyResult  string
	ApprovalID    string
	FailureClass  string
	Fidelity      Fidelity
	// Redacted lists the JSON paths whose value was replaced, such as
	// "args.headers.authorization".
	Redacted []string
	// Bodies names what is held by reference in place of Result or Args: at
	// most one of each.
	Bodies  []Body
	Dialect string
	// Expires is an RFC 3339 time after which replaying the record warns.
	Expires string

	// Extra keeps members this package does not know, in order of arrival.
	Extra []Member
}

// KindOf is the record's kind with the default applied.
func (r *Record) KindOf() Kind {
	if r.Kind == "" {
		return KindTool
	}
	return r.Kind
}

// Failed reports whether the recorded call failed.
func (r *Record) Failed() bool { return r.Error != nil }

// Error is the recorded failure of a call. A failure recorded as a bare string
// reads as its Message.
type Error struct {
	Code    string `json:"code,omitempty"`
	Message string `json:"message,omitempty"`
	Type    string `json:"type,omitempty"`

	// Extra keeps members this package does not know, in order of arrival.
	Extra []Member `json:"-"`
}

// Body refers to content held outside the tape.
type Body struct {
	// SHA256 is the hex digest of the plain redacted bytes.
	SHA256 string `json:"sha256"`
	// Bytes is the length of the plain bytes.
	Bytes     int64  `json:"bytes"`
	MediaType string `json:"media_type,omitempty"`
	// Of is "args" or "result"; "" means result.
	Of string `json:"of,omitempty"`

	// Extra keeps members this package does not know, in order of arrival.
	Extra []Member `json:"-"`
}

// IsArgs reports whether the body stands for the arguments, not the result.
func (b *Body) IsArgs() bool { return b.Of == "args" }

// Check says what is wrong with bytes that were fetched for the body, nil if they are
// the recorded ones.
func (b *Body) Check(data []byte) error {
	sum := sha256.Sum256(data)
	if got := hex.EncodeToString(sum[:]); got != b.SHA256 {
		return fmt.Errorf("body %s is damaged: its hash is %s", b.SHA256, got)
	}
	return nil
}

// Member is one member of a JSON object this package keeps without knowing it.
type Member struct {
	Name  string
	Value json.RawMessage
}
