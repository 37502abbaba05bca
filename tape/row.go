package tape

// Row is one decided run, kept or summarised, as the index and the list
// endpoint show it.
type Row struct {
	TraceID        string `json:"trace_id"`
	ConversationID string `json:"conversation_id,omitempty"`
	Service        string `json:"service,omitempty"`
	Agent          string `json:"agent,omitempty"`
	Environment    string `json:"environment,omitempty"`
	// AgentVersion and CodeVersion are those of the manifest.
	AgentVersion string  `json:"agent_version,omitempty"`
	CodeVersion  string  `json:"code_version,omitempty"`
	Tenant       string  `json:"tenant,omitempty"`
	Outcome      Outcome `json:"outcome"`
	Trigger      Trigger `json:"trigger,omitempty"`
	// KeptBecause is why a run was kept whole.
	KeptBecause   Reason   `json:"kept_because,omitempty"`
	FailureClass  string   `json:"failure_class,omitempty"`
	FailureReason string   `json:"failure_reason,omitempty"`
	FailingTool   string   `json:"failing_tool,omitempty"`
	Tools         []string `json:"tools,omitempty"`
	Models        []string `json:"models,omitempty"`
	// Steps counts records, Spans the spans they were read from.
	Steps int `json:"steps"`
	Spans int `json:"spans"`
	// TruncatedSpans were left out of the middle of a run that outgrew its bounds.
	TruncatedSpans int   `json:"truncated_spans,omitempty"`
	ToolCalls      int   `json:"tool_calls"`
	ModelCalls     int   `json:"model_calls"`
	FailedCalls    int   `json:"failed_calls"`
	InputTokens    int64 `json:"input_tokens,omitempty"`
	OutputTokens   int64 `json:"output_tokens,omitempty"`
	// Cost is in US dollars, nil when unknown.
	Cost *float64 `json:"cost,omitempty"`
	// Start is RFC 3339 with nanoseconds, DurationMS milliseconds.
	Start      string  `json:"start"`
	DurationMS float64 `json:"duration_ms"`
	// Bytes is the stored size of a kept run, 0 for a summary.
	Bytes    int64    `json:"bytes,omitempty"`
	Fidelity Fidelity `json:"fidelity,omitempty"`
	// Complete is that of the manifest when the run was decided, nil when unknown.
	Complete *bool `json:"complete,omitempty"`
	Kept     bool  `json:"kept"`
	// Class is the retention rule that took a kept run.
	Class string `json:"class,omitempty"`
	// Decided is the RFC 3339 time of the decision.
	Decided string `json:"decided,omitempty"`
}

// Reason says why a run was kept whole.
type Reason string

// Reasons, in the order in which they are asked for.
const (
	// KeptAsked: somebody asked for it.
	KeptAsked Reason = "asked"
	// KeptOutcome: runs with its outcome are kept.
	KeptOutcome Reason = "outcome"
	// KeptSample: it is of the share of good runs that is kept.
	KeptSample Reason = "success_ratio"
	// KeptCondition: a configured condition holds for one of its spans.
	KeptCondition Reason = "condition"
	// KeptLastSuccess: it is the last good run of its kind, kept to compare failures
	// with.
	KeptLastSuccess Reason = "last_success"
)
