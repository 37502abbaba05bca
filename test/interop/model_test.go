package interop

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// scriptedModel is a model that always wants the same: fetch the document that the
// user names, shorten it and count its words at once, publish it, and say what came
// of it. It speaks OpenAI's chat completions and responses.
type scriptedModel struct {
	URL   string
	asked atomic.Int64
}

func startModel(t *testing.T) *scriptedModel {
	t.Helper()
	m := &scriptedModel{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", m.chat)
	mux.HandleFunc("POST /v1/responses", m.responses)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	m.URL = server.URL + "/v1"
	return m
}

type scriptedCall struct{ id, name, arguments string }

const document = "Tapedeck 1.4 keeps the runs that failed – and only those."

// next is what the model does after so many calls; none means that it says goodbye.
func next(calls int, question string) []scriptedCall {
	words := strings.Fields(question)
	asJSON := func(v any) string {
		text, err := json.Marshal(v)
		if err != nil {
			panic(err)
		}
		return string(text)
	}
	switch calls {
	case 0:
		return []scriptedCall{{"call_fetch", "fetch_doc", asJSON(map[string]any{"doc_id": words[len(words)-1]})}}
	case 1:
		return []scriptedCall{
			{"call_shorten", "shorten", asJSON(map[string]any{"text": document, "max_words": 4})},
			{"call_count", "count_words", asJSON(map[string]any{"text": document})},
		}
	case 3:
		return []scriptedCall{{"call_publish", "publish", asJSON(map[string]any{"channel": "releases", "text": "Tapedeck 1.4 keeps the"})}}
	}
	return nil
}

const goodbye = "It could not be published."

func (m *scriptedModel) chat(w http.ResponseWriter, r *http.Request) {
	m.asked.Add(1)
	var request struct {
		Messages []struct {
			Role      string
			Content   any
			ToolCalls []any `json:"tool_calls"`
		}
	}
	if !read(w, r, &request) {
		return
	}
	calls, question := 0, ""
	for _, message := range request.Messages {
		calls += len(message.ToolCalls)
		if message.Role == "user" {
			question = fmt.Sprint(message.Content)
		}
	}
	message := map[string]any{"role": "assistant", "content": nil}
	reason := "tool_calls"
	var wanted []any
	for _, call := range next(calls, question) {
		wanted = append(wanted, map[string]any{"id": call.id, "type": "function",
			"function": map[string]any{"name": call.name, "arguments": call.arguments}})
	}
	if message["tool_calls"] = wanted; wanted == nil {
		message["content"], reason = goodbye, "stop"
		delete(message, "tool_calls")
	}
	answer(w, map[string]any{
		"id": fmt.Sprintf("chatcmpl-%d", calls), "object": "chat.completion", "created": 1, "model": "gpt-4o-mini",
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": reason}},
		"usage":   map[string]any{"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
	})
}

func (m *scriptedModel) responses(w http.ResponseWriter, r *http.Request) {
	m.asked.Add(1)
	var request struct{ Input json.RawMessage }
	if !read(w, r, &request) {
		return
	}
	var items []struct {
		Type, Role string
		Content    any
	}
	question := ""
	if json.Unmarshal(request.Input, &question) != nil {
		if err := json.Unmarshal(request.Input, &items); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
	}
	calls := 0
	for _, item := range items {
		if item.Type == "function_call" {
			calls++
		}
		if item.Role == "user" {
			question = strings.Trim(fmt.Sprint(item.Content), "[]{}map ")
			if parts, ok := item.Content.([]any); ok && len(parts) > 0 {
				part, _ := parts[0].(map[string]any)
				question = fmt.Sprint(part["text"])
			}
		}
	}
	var output []any
	for _, call := range next(calls, question) {
		output = append(output, map[string]any{"type": "function_call", "id": "fc_" + call.id, "call_id": call.id,
			"name": call.name, "arguments": call.arguments, "status": "completed"})
	}
	if output == nil {
		output = []any{map[string]any{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
			"content": []any{map[string]any{"type": "output_text", "text": goodbye, "annotations": []any{}}}}}
	}
	answer(w, map[string]any{
		"id": fmt.Sprintf("resp_%d", calls), "object": "response", "created_at": 1, "status": "completed", "model": "gpt-4o-mini",
		"output": output, "parallel_tool_calls": true, "tool_choice": "auto", "tools": []any{}, "error": nil, "incomplete_details": nil,
		"usage": map[string]any{"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
			"input_tokens_details": map[string]any{"cached_tokens": 0}, "output_tokens_details": map[string]any{"reasoning_tokens": 0}},
	})
}

func read(w http.ResponseWriter, r *http.Request, into any) bool {
	if err := json.NewDecoder(r.Body).Decode(into); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return false
	}
	return true
}

func answer(w http.ResponseWriter, body any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(body); err != nil {
		panic(http.ErrAbortHandler)
	}
}
