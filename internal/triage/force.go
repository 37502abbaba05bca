package triage

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/tapedeck/tapedeck/tape"
)

// Force is what was in force when a run was made, as far as its tape tells.
type Force struct {
	TraceID        string       `json:"trace_id,omitempty"`
	ConversationID string       `json:"conversation_id,omitempty"`
	Service        string       `json:"service,omitempty"`
	Agent          string       `json:"agent,omitempty"`
	AgentVersion   string       `json:"agent_version,omitempty"`
	CodeVersion    string       `json:"code_version,omitempty"`
	Environment    string       `json:"environment,omitempty"`
	Started        string       `json:"started,omitempty"`
	Ended          string       `json:"ended,omitempty"`
	Outcome        tape.Outcome `json:"outcome,omitempty"`
	Records        int          `json:"records"`
	Models         []string     `json:"models,omitempty"`
	Prompts        []Prompt     `json:"prompts,omitempty"`
	Tools          []Tool       `json:"tools,omitempty"`
	// Policies are the results of policy checks, Approvals the ids of approvals.
	Policies  []string `json:"policies,omitempty"`
	Approvals []string `json:"approvals,omitempty"`
	// Redaction is the id of the policy that redacted the tape.
	Redaction string `json:"redaction,omitempty"`
	// Callers are the contexts of callers, as recorded.
	Callers []json.RawMessage `json:"callers,omitempty"`
}

// Prompt is one system prompt.
type Prompt struct {
	// Version is as recorded, "" where it was not.
	Version string `json:"version,omitempty"`
	// SHA256 is the hex digest of the system text, "" where there is none.
	SHA256 string `json:"sha256,omitempty"`
	// Seq is the first step with it.
	Seq int `json:"seq"`
}

// Tool is a tool that was called or defined.
type Tool struct {
	Name          string `json:"name"`
	SchemaVersion string `json:"schema_version,omitempty"`
	// Calls counts its records.
	Calls int `json:"calls"`
}

func inForce(t *tape.Tape) Force {
	f := Force{Records: len(t.Records)}
	var tools []Tool
	at := map[string]int{}
	tool := func(name string) *Tool {
		i, known := at[name]
		if !known {
			i = len(tools)
			at[name] = i
			tools = append(tools, Tool{Name: name})
		}
		return &tools[i]
	}
	if m := t.Manifest; m != nil {
		f.TraceID, f.ConversationID, f.Service, f.Agent, f.AgentVersion = m.TraceID, m.ConversationID, m.Service, m.Agent, m.AgentVersion
		f.CodeVersion, f.Environment, f.Started, f.Ended, f.Outcome = m.CodeVersion, m.Environment, m.Started, m.Ended, m.Outcome
		if m.Redaction != nil {
			f.Redaction = m.Redaction.Policy
		}
		for i := range m.Tools {
			tool(m.Tools[i].Name).SchemaVersion = m.Tools[i].SchemaVersion
		}
	}
	for i := range t.Records {
		r := &t.Records[i]
		add(&f.Models, r.Model)
		add(&f.Policies, r.PolicyResult)
		add(&f.Approvals, r.ApprovalID)
		if c := r.CallerContext; len(c) > 0 && string(c) != "null" && !slices.ContainsFunc(f.Callers, func(o json.RawMessage) bool { return string(o) == string(c) }) {
			f.Callers = append(f.Callers, c)
		}
		switch r.KindOf() {
		case tape.KindModel:
			f.prompt(r)
		case tape.KindTool:
			one := tool(r.Tool)
			one.Calls++
			if r.SchemaVersion != "" {
				one.SchemaVersion = r.SchemaVersion
			}
		case tape.KindClock, tape.KindRandom:
		}
	}
	f.Tools = tools
	return f
}

func add(list *[]string, value string) {
	if value != "" && !slices.Contains(*list, value) {
		*list = append(*list, value)
	}
}

// prompt notes the prompt of a model call, if it is another one.
func (f *Force) prompt(r *tape.Record) {
	var request struct {
		System json.RawMessage `json:"system"`
	}
	p := Prompt{Version: r.PromptVersion, Seq: r.Seq}
	if json.Unmarshal(r.Args, &request) == nil && len(request.System) > 0 && string(request.System) != "null" {
		text := []byte(request.System)
		var plain string
		if json.Unmarshal(text, &plain) == nil {
			text = []byte(plain)
		}
		sum := sha256.Sum256(text)
		p.SHA256 = hex.EncodeToString(sum[:])
	}
	if p.Version == "" && p.SHA256 == "" || slices.ContainsFunc(f.Prompts, func(o Prompt) bool { return o.Version == p.Version && o.SHA256 == p.SHA256 }) {
		return
	}
	f.Prompts = append(f.Prompts, p)
}
