package serve

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/replay"
	"github.com/tapedeck/tapedeck/tape"
)

// agent makes the request that a program sends, from what a tape recorded of it: it
// says more than some instrumentations record, and its ids are others.
type agent struct {
	system, messages []message.Message
	tools            []string
	params           value.Value
}

func agentOf(t *testing.T, r *tape.Record) *agent {
	v, err := value.Parse(string(r.Args))
	require.NoError(t, err)
	a := &agent{system: message.Read(v.At("system")), messages: message.Read(v.At("messages"))}
	for _, tool := range v.At("tools").Items() {
		a.tools = append(a.tools, tool.At("name").Str())
	}
	if a.tools == nil {
		a.tools = []string{"what the tape does not have"}
	}
	a.params = v.At("params")
	if len(a.system) == 0 && (len(a.messages) == 0 || a.messages[0].Role != "system") {
		a.system = []message.Message{{Role: "system", Parts: []message.Part{{Type: message.Text, Text: "what the tape does not have"}}}}
	}
	// Some frameworks write calls and their results without ids, in order.
	var open []string
	for i := range a.messages {
		a.messages[i].Parts = slices.Clone(a.messages[i].Parts)
		for k := range a.messages[i].Parts {
			switch p := &a.messages[i].Parts[k]; p.Type {
			case message.ToolCall:
				if p.ID == "" {
					p.ID = fmt.Sprint("none", i, k)
				}
				p.ID = "live_" + p.ID
				open = append(open, p.ID)
			case message.ToolReply:
				if p.ID = "live_" + p.ID; !slices.Contains(open, p.ID) && len(open) > 0 {
					p.ID = open[0]
				}
				if at := slices.Index(open, p.ID); at >= 0 {
					open = slices.Delete(open, at, at+1)
				}
			}
		}
	}
	return a
}

func text(parts []message.Part) string {
	var b strings.Builder
	for _, p := range parts {
		if p.Type == message.Text {
			b.WriteString(p.Text)
		}
	}
	return b.String()
}

func obj(pairs ...any) value.Value {
	var members []value.Member
	for i := 0; i+1 < len(pairs); i += 2 {
		v, ok := pairs[i+1].(value.Value)
		if !ok {
			v = value.Str(pairs[i+1].(string))
		}
		members = append(members, value.M(pairs[i].(string), v))
	}
	return value.Obj(members...)
}

func plain(v value.Value) string {
	if v.Kind() == value.String {
		return v.Str()
	}
	return v.JSON()
}

// chat is the request of the agent to OpenAI.
func (a *agent) chat() string {
	var list []value.Value
	for _, m := range slices.Concat(a.system, a.messages) {
		content := []value.Value{obj("type", "text", "text", text(m.Parts))}
		for _, p := range m.Parts {
			if data := p.Raw.At("content").Str(); p.Type == message.Media && data != "" {
				content = append(content, obj("type", "image_url", "image_url", obj("url", "data:image/png;base64,"+data)))
			}
		}
		msg := obj("role", m.Role, "content", value.List(content...))
		if text(m.Parts) == "" {
			msg = obj("role", m.Role)
		}
		var calls []value.Value
		for _, p := range m.Parts {
			switch p.Type {
			case message.ToolCall:
				calls = append(calls, obj("id", p.ID, "type", "function", "function", obj("name", p.Name, "arguments", plain(p.Args))))
			case message.ToolReply:
				list = append(list, obj("role", "tool", "tool_call_id", p.ID, "content", plain(p.Result)))
			}
		}
		if calls != nil {
			msg = msg.With("tool_calls", value.List(calls...))
		}
		if m.Role != "tool" && (calls != nil || text(m.Parts) != "") {
			list = append(list, msg)
		}
	}
	var tools []value.Value
	for _, name := range a.tools {
		tools = append(tools, obj("type", "function", "function", obj("name", name)))
	}
	return a.with(obj("model", "gpt-live", "parallel_tool_calls", value.Boolean(false), "messages", value.List(list...), "tools", value.List(tools...))).JSON()
}

// with is a request with the recorded parameters.
func (a *agent) with(body value.Value) value.Value {
	for _, p := range a.params.Members() {
		body = body.With(p.Name, p.Value)
	}
	return body
}

// anthropic is the request of the agent to Anthropic.
func (a *agent) anthropic() string {
	var list []value.Value
	system := ""
	for _, m := range slices.Concat(a.system, a.messages) {
		if m.Role == "system" || m.Role == "developer" {
			system += text(m.Parts)
			continue
		}
		var blocks []value.Value
		role := m.Role
		for _, p := range m.Parts {
			switch p.Type {
			case message.Text:
				if m.Role != "tool" {
					blocks = append(blocks, obj("type", "text", "text", p.Text))
				}
			case message.Media:
				if data := p.Raw.At("content").Str(); data != "" {
					blocks = append(blocks, obj("type", "image", "source", obj("type", "base64", "media_type", "image/png", "data", data)))
				}
			case message.ToolCall:
				blocks = append(blocks, obj("type", "tool_use", "id", p.ID, "name", p.Name, "input", p.Args))
			case message.ToolReply:
				role = "user"
				blocks = append(blocks, obj("type", "tool_result", "tool_use_id", p.ID, "content", value.List(obj("type", "text", "text", plain(p.Result)))))
			}
		}
		if blocks != nil {
			list = append(list, obj("role", role, "content", value.List(blocks...)))
		}
	}
	var tools []value.Value
	for _, name := range a.tools {
		tools = append(tools, obj("name", name))
	}
	return a.with(obj("model", "claude-live", "max_tokens", value.Int(99), "system", system, "messages", value.List(list...), "tools", value.List(tools...))).JSON()
}

// TestAgentsOfEveryInstrumentation: a tape made from the spans of any of them
// answers an agent that speaks to OpenAI and one that speaks to Anthropic.
func TestAgentsOfEveryInstrumentation(t *testing.T) {
	files, err := filepath.Glob("../dialect/testdata/golden/*.jsonl")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	served := 0
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".jsonl"), func(t *testing.T) {
			data, err := os.ReadFile(file)
			require.NoError(t, err)
			// A file may hold several runs.
			for _, run := range strings.SplitAfter("\n"+string(data), "\n{\"tape\":") {
				run = strings.TrimSuffix(run, "{\"tape\":")
				if strings.TrimSpace(run) == "" {
					continue
				}
				whole, err := tape.ReadAll(strings.NewReader("{\"tape\":" + run))
				require.NoError(t, err)
				served += replayed(t, whole)
			}
		})
	}
	assert.Greater(t, served, 300, "calls that were served")
}

// replayed makes the model calls of a tape and returns how many there were.
func replayed(t *testing.T, whole *tape.Tape) (served int) {
	for path, request := range map[string]func(*agent) string{chatPath: (*agent).chat, messagesPath: (*agent).anthropic} {
		s, err := replay.New(whole, append(Options(), replay.WithKinds(tape.KindModel))...)
		require.NoError(t, err)
		h := New(s)
		for i := range whole.Records {
			r := &whole.Records[i]
			v, err := value.Parse(string(r.Args))
			if r.KindOf() != tape.KindModel || err != nil || v.At("messages").Len() == 0 || r.Fidelity == tape.FidelityAbsent || r.Fidelity == tape.FidelityTruncated {
				continue
			}
			body := request(agentOf(t, r))
			w := ask(h, path, body)
			served++
			if w.Code >= 400 && !r.Failed() {
				t.Errorf("%s step %d: %d %s\n%s", path, r.Seq, w.Code, w.Body, body)
				break
			}
			assert.Equal(t, fmt.Sprint(r.Seq), w.Header().Get("Tape-Seq"), "%s step %d", path, r.Seq)
		}
	}
	return served
}
