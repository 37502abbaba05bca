package llm

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// Conversation is a model request in the shape in which requests are compared.
// All of it that two providers, or two instrumentations, write differently
// without meaning anything by it is the same here:
//
//   - the system prompt stands first, whatever message or member it came in;
//   - messages of one role in a row are one message, tool results have the role
//     "tool" and stand in the order of their calls;
//   - calls are numbered in the order in which they appear, in place of their ids, so
//     that two conversations in which other ids stand for the same calls are the
//     same; a result without an id belongs to the first call of its name that has none;
//   - a tool result that is JSON text is that JSON, a number or a truth value is
//     its text, one made of texts is their text, and it carries the name of the
//     tool that was called;
//   - media are their digest, or the address they are fetched from;
//   - of tools the names count, in any order; parameters have one name each, and
//     stand there only with other values than providers take them to have.
type Conversation struct {
	System   []message.Part
	Messages []message.Message
	// Tools are names, sorted; nil where none were offered.
	Tools  []string
	Params []value.Member
	// Input is what calls other than conversations are given, null otherwise.
	Input value.Value
}

// Form rewrites the arguments of a model call, recorded or live, as a
// [Conversation]. What is no such request stays as it is. Applied again, it
// changes nothing. The error is for what is not JSON.
func Form(args json.RawMessage) (json.RawMessage, error) {
	v, err := value.Parse(string(args))
	if err != nil {
		return nil, fmt.Errorf("request of a model call: %w", err)
	}
	if v.Kind() != value.Object || !v.Has("messages") && !v.Has("system") {
		return args, nil
	}
	return Read(v).JSON(), nil
}

// Read reads the arguments of a model call.
func Read(v value.Value) *Conversation {
	c := &Conversation{Input: v.At("input")}
	add := func(ms []message.Message) {
		for i := range ms {
			c.add(&ms[i])
		}
	}
	system := message.Read(v.At("system"))
	for i := range system {
		if system[i].Role != "system" && system[i].Role != "developer" {
			// A bare text reads as the user's.
			system[i] = message.Message{Role: "system", Parts: system[i].Parts}
		}
	}
	add(system)
	add(message.Read(v.At("messages")))
	c.settle()
	for _, tool := range v.At("tools").Items() {
		if name := toolName(tool); name != "" {
			c.Tools = append(c.Tools, name)
		}
	}
	slices.Sort(c.Tools)
	c.Tools = slices.Compact(c.Tools)
	c.Params = parameters(v.At("params"))
	return c
}

// toolName is the name of a tool definition, whatever provider wrote it.
func toolName(tool value.Value) string {
	if tool.Kind() == value.String {
		return tool.Str()
	}
	if inner := tool.At("function"); inner.Kind() == value.Object {
		tool = inner
	}
	return tool.First("name", "type").Str()
}

// add takes the parts of a message to where they belong.
func (c *Conversation) add(m *message.Message) {
	for _, p := range m.Parts {
		role := m.Role
		switch p.Type {
		case message.ToolReply:
			role = "tool"
			p.Result = plainResult(p.Result)
		case message.ToolCall:
			role = "assistant"
			p.ArgsText = ""
		case message.Media:
			p.Raw = mediaForm(p.Raw)
		case message.Text, message.Reasoning:
			if p.Text == "" && signature(&p) == "" || saidByReply(m, p.Text) {
				continue
			}
		}
		if role == "system" || role == "developer" {
			c.System = append(c.System, p)
			continue
		}
		if last := len(c.Messages) - 1; last < 0 || c.Messages[last].Role != role {
			c.Messages = append(c.Messages, message.Message{Role: role})
		}
		last := &c.Messages[len(c.Messages)-1]
		last.Parts = append(last.Parts, p)
	}
}

// saidByReply reports a text that repeats a tool result beside it, which some
// instrumentations write so.
func saidByReply(m *message.Message, text string) bool {
	return m.Role == "tool" && slices.ContainsFunc(m.Parts, func(p message.Part) bool {
		return p.Type == message.ToolReply && p.Result.Str() == text
	})
}

// settle orders the parts inside messages and numbers the ids.
func (c *Conversation) settle() {
	calls := numbering{byID: map[string]int{}}
	for i := range c.Messages {
		m := &c.Messages[i]
		if m.Role == "assistant" {
			slices.SortStableFunc(m.Parts, func(a, b message.Part) int { return partRank[a.Type] - partRank[b.Type] })
		}
		numbers := make([]int, len(m.Parts))
		for k := range m.Parts {
			p := &m.Parts[k]
			switch p.Type {
			case message.ToolCall:
				numbers[k] = calls.call(p)
			case message.ToolReply:
				numbers[k] = calls.reply(p)
			default:
				continue
			}
			p.ID = "call_" + strconv.Itoa(numbers[k])
		}
		if m.Role == "tool" {
			slices.SortStableFunc(m.Parts, func(a, b message.Part) int { return calls.of(a.ID) - calls.of(b.ID) })
		}
	}
}

// numbering numbers the tool calls of a conversation.
type numbering struct {
	byID map[string]int
	// names are those of the calls, from number 1; open are the calls without a reply.
	names []string
	open  []int
}

// of is the number in an id that numbering gave.
func (numbering) of(id string) int {
	n, _ := strconv.Atoi(strings.TrimPrefix(id, "call_"))
	return n
}

func (c *numbering) add(id, name string) int {
	c.names = append(c.names, name)
	if id != "" {
		c.byID[id] = len(c.names)
	}
	return len(c.names)
}

// call numbers a call. An id that comes again is of another turn, if the call before
// has its reply.
func (c *numbering) call(p *message.Part) int {
	if n := c.byID[p.ID]; p.ID != "" && slices.Contains(c.open, n) {
		return n
	}
	n := c.add(p.ID, p.Name)
	c.open = append(c.open, n)
	return n
}

// reply finds the call of a reply: by its id, or where that is missing by its name,
// of several the first without a reply. It names the tool.
func (c *numbering) reply(p *message.Part) int {
	n := c.byID[p.ID]
	if p.ID == "" {
		if at := slices.IndexFunc(c.open, func(n int) bool { return p.Name == "" || p.Name == c.names[n-1] }); at >= 0 {
			n = c.open[at]
		}
	}
	if n == 0 {
		return c.add(p.ID, p.Name)
	}
	if at := slices.Index(c.open, n); at >= 0 {
		c.open = slices.Delete(c.open, at, at+1)
	}
	if c.names[n-1] != "" {
		p.Name = c.names[n-1]
	}
	return n
}

// partRank orders what an assistant said: providers that keep calls beside the
// text cannot say which came first.
var partRank = map[message.Type]int{message.Reasoning: -1, message.ToolCall: 1}

// JSON is the conversation as arguments of a record.
func (c *Conversation) JSON() []byte {
	var members []value.Member
	if len(c.System) > 0 {
		members = append(members, value.M("system", messages([]message.Message{{Role: "system", Parts: c.System}})))
	}
	if len(c.Messages) > 0 || c.Input.IsNull() {
		members = append(members, value.M("messages", messages(c.Messages)))
	}
	if !c.Input.IsNull() {
		members = append(members, value.M("input", c.Input))
	}
	if len(c.Tools) > 0 {
		names := make([]value.Value, len(c.Tools))
		for i, name := range c.Tools {
			names[i] = value.Str(name)
		}
		members = append(members, value.M("tools", value.List(names...)))
	}
	if len(c.Params) > 0 {
		members = append(members, value.M("params", value.Obj(c.Params...)))
	}
	return value.Obj(members...).Append(nil)
}

// plainResult is a tool result without the wrapping that a provider asks for.
func plainResult(v value.Value) value.Value {
	if v.Kind() == value.Array {
		text, ok := textOf(v)
		if !ok {
			return v
		}
		v = value.Str(text)
	}
	if v.Kind() == value.Number || v.Kind() == value.Bool {
		// On its way to a model it is text, and spans have either.
		return value.Str(v.JSON())
	}
	if s := strings.TrimSpace(v.Str()); s != "" && (s[0] == '{' || s[0] == '[') {
		if parsed, err := value.Parse(s); err == nil {
			return parsed
		}
	}
	return v
}

// textOf joins content parts that are all text.
func textOf(v value.Value) (string, bool) {
	var b strings.Builder
	for _, item := range v.Items() {
		text := item.First("text", "content")
		switch item.At("type").Str() {
		case "text", "input_text", "output_text":
		default:
			return "", false
		}
		if text.Kind() != value.String {
			return "", false
		}
		b.WriteString(text.Str())
	}
	return b.String(), v.Len() > 0
}

// mediaForm is a medium as its digest or its address, or as it is where it has
// neither.
func mediaForm(v value.Value) value.Value {
	if v.Only("sha256") || v.Only("uri") {
		return v
	}
	data, uri := mediaOf(v, 0)
	switch {
	case data != "":
		raw, err := base64.StdEncoding.DecodeString(data)
		if err != nil {
			if raw, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(data, "=")); err != nil {
				raw = []byte(data)
			}
		}
		sum := sha256.Sum256(raw)
		return value.Obj(value.M("sha256", value.Str(hex.EncodeToString(sum[:]))))
	case uri != "":
		return value.Obj(value.M("uri", value.Str(uri)))
	}
	return v
}

// maxMediaDepth is how deep the providers nest the data of a medium.
const maxMediaDepth = 4

// mediaOf finds the data, in base64, or the address of a medium.
func mediaOf(v value.Value, depth int) (data, uri string) {
	if depth > maxMediaDepth {
		return "", ""
	}
	for _, m := range v.Members() {
		s := m.Value.Str()
		switch m.Name {
		case "url", "image_url", "file_uri", "fileUri", "uri", "file_data", "data", "content", "file_id", "bytes", "base64":
			if rest, ok := strings.CutPrefix(s, "data:"); ok {
				if _, encoded, ok := strings.Cut(rest, ","); ok {
					return encoded, ""
				}
			}
			switch {
			case s == "":
			case strings.Contains(s, "://") || m.Name == "file_id":
				uri = s
			default:
				return s, ""
			}
		}
		if m.Value.Kind() == value.Object {
			if d, u := mediaOf(m.Value, depth+1); d != "" || u != "" {
				return d, u
			}
		}
	}
	return "", uri
}
