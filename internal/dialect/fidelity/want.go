package fidelity

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Want is the truth of a case. Fields that the source does not tell are nil.
type Want struct {
	Outcomes     []string
	Agent        *string
	Conversation *string
	HasIdentity  bool
	ModelCalls   int
	Models       []string
	// ModelSpans are the spans of each model call.
	ModelSpans [][]string
	// Content is set where the messages of model calls are recorded.
	Content bool
	// Final is the last answer of the model, where the recording holds it.
	Final string
	Tools []WantTool
	Alt   map[string][]json.RawMessage
}

// WantTool is the truth of one tool call. A nil Args or Result is not in the
// recording.
type WantTool struct {
	Tool         string
	IDs          []string
	Args         json.RawMessage
	Result       json.RawMessage
	NoResult     bool
	Failed       bool
	ErrorPart    string
	Spans        []string
	Run          int
	Alternatives map[string][]json.RawMessage
}

// sampleFile is the form of expected/<name>.json.
type sampleFile struct {
	Outcome     string                       `json:"outcome"`
	RunOutcomes []string                     `json:"run_outcomes"`
	Agent       *string                      `json:"agent"`
	Session     *string                      `json:"conversation_id"`
	ModelCalls  int                          `json:"model_calls"`
	Models      []string                     `json:"models"`
	ModelSpans  [][]string                   `json:"model_span_ids"`
	Content     bool                         `json:"model_content_available"`
	Without     override                     `json:"without_logs"`
	Alt         map[string][]json.RawMessage `json:"alt"`
	Tools       []struct {
		Tool            string                       `json:"tool"`
		ID              *string                      `json:"tool_call_id"`
		IDInferred      string                       `json:"tool_call_id_inferred"`
		Args            json.RawMessage              `json:"args"`
		ArgsAvailable   bool                         `json:"args_available"`
		Result          json.RawMessage              `json:"result"`
		ResultAvailable bool                         `json:"result_available"`
		Failed          bool                         `json:"failed"`
		Error           string                       `json:"error_contains"`
		Spans           []string                     `json:"span_ids"`
		Run             int                          `json:"run"`
		Alt             map[string][]json.RawMessage `json:"alt"`
		Without         override                     `json:"without_logs"`
	} `json:"tools"`
}

// override are the fields that differ when only the traces are read.
type override struct {
	Outcome         string          `json:"outcome"`
	ModelCalls      *int            `json:"model_calls"`
	Content         *bool           `json:"model_content_available"`
	Args            json.RawMessage `json:"args"`
	ArgsAvailable   *bool           `json:"args_available"`
	Result          json.RawMessage `json:"result"`
	ResultAvailable *bool           `json:"result_available"`
	Error           json.RawMessage `json:"error_contains"`
}

func (f sampleFile) want(withoutLogs bool) Want {
	if withoutLogs {
		f.dropLogs()
	}
	w := Want{
		Content:  f.Content,
		Outcomes: f.RunOutcomes, Agent: f.Agent, Conversation: f.Session, HasIdentity: true,
		ModelCalls: f.ModelCalls, Models: f.Models, ModelSpans: f.ModelSpans, Alt: f.Alt,
	}
	if w.Outcomes == nil {
		w.Outcomes = []string{f.Outcome}
	}
	for _, t := range f.Tools {
		wt := WantTool{
			Tool: t.Tool, Failed: t.Failed, ErrorPart: t.Error, Spans: t.Spans, Run: t.Run,
			Alternatives: t.Alt, NoResult: !t.ResultAvailable,
		}
		if t.ID != nil {
			wt.IDs = append(wt.IDs, *t.ID)
		}
		if t.IDInferred != "" {
			wt.IDs = append(wt.IDs, t.IDInferred, "")
		}
		if t.ID == nil && t.IDInferred == "" {
			wt.IDs = append(wt.IDs, "")
		}
		if t.ArgsAvailable {
			wt.Args = t.Args
		}
		if t.ResultAvailable {
			wt.Result = t.Result
		}
		w.Tools = append(w.Tools, wt)
	}
	return w
}

func (f *sampleFile) dropLogs() {
	o := f.Without
	if o.Outcome != "" {
		f.Outcome = o.Outcome
	}
	if o.ModelCalls != nil {
		f.ModelCalls = *o.ModelCalls
		if f.ModelCalls == 0 {
			f.Models = nil
		}
	}
	if o.Content != nil {
		f.Content = *o.Content
	}
	f.Tools = slices.Clone(f.Tools)
	for i := range f.Tools {
		t := &f.Tools[i]
		if o := t.Without; o.ArgsAvailable != nil {
			t.Args, t.ArgsAvailable = o.Args, *o.ArgsAvailable
		}
		if o := t.Without; o.ResultAvailable != nil {
			t.Result, t.ResultAvailable = o.Result, *o.ResultAvailable
		}
		if string(t.Without.Error) == "null" {
			t.Error = ""
		}
	}
}

// captureFile is the form of <name>.expected.json.
type captureFile struct {
	Outcome    string   `json:"outcome"`
	ModelCalls int      `json:"model_calls"`
	Models     []string `json:"models"`
	Final      string   `json:"final_text"`
	Tools      []struct {
		Tool    string          `json:"tool"`
		ID      string          `json:"tool_call_id"`
		Args    json.RawMessage `json:"args"`
		Result  json.RawMessage `json:"result"`
		Failed  bool            `json:"failed"`
		Error   string          `json:"error"`
		Present struct {
			Args   *bool `json:"args"`
			Result *bool `json:"result"`
			ID     *bool `json:"call_id"`
			Error  *bool `json:"error_text"`
		} `json:"present_in_trace"`
	} `json:"tools"`
}

// want takes as present what the traces hold, as the file says, and what the
// logs hold.
func (f captureFile) want(traces, logs string) Want {
	w := Want{Outcomes: []string{f.Outcome}, ModelCalls: f.ModelCalls, Models: f.Models}
	if f.Final != "" && strings.Contains(traces+logs, f.Final) {
		w.Final = f.Final
	}
	has := func(p *bool, v any) bool { return p != nil && *p || logs != "" && inText(v, logs) }
	for _, t := range f.Tools {
		wt := WantTool{Tool: t.Tool, Failed: t.Failed}
		if has(t.Present.ID, t.ID) {
			wt.IDs = []string{t.ID}
		}
		var args, result any
		if json.Unmarshal(t.Args, &args) == nil && has(t.Present.Args, args) {
			wt.Args = t.Args
			w.Content = true
		}
		if json.Unmarshal(t.Result, &result) == nil && !t.Failed && has(t.Present.Result, result) {
			wt.Result = t.Result
		}
		if t.Failed && has(t.Present.Error, t.Error) {
			wt.ErrorPart = t.Error
		}
		w.Tools = append(w.Tools, wt)
	}
	return w
}

// inText reports whether all leaves of a value occur in a text.
func inText(v any, text string) bool {
	switch v := v.(type) {
	case map[string]any:
		for name, e := range v {
			if !strings.Contains(text, name) || !inText(e, text) {
				return false
			}
		}
		return true
	case []any:
		for _, e := range v {
			if !inText(e, text) {
				return false
			}
		}
		return true
	case nil:
		return true
	}
	return strings.Contains(text, fmt.Sprint(v))
}
