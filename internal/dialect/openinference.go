package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// openInference reads the conventions of OpenInference in Python and
// JavaScript. Tool arguments are JSON or Python's repr, results carry whatever
// envelope the framework put around them, and model messages are spread over
// indexed attributes.
type openInference struct{}

func (openInference) Name() string { return "openinference" }

func (openInference) Kind(s *Span) (Kind, bool) {
	if strings.HasSuffix(s.Scope.Name(), ".beeai") && beeStep(s.Name()) {
		return KindOther, true
	}
	switch s.oi {
	case "":
		return KindOther, false
	case "TOOL":
		if strings.HasPrefix(s.Name(), "handoff to ") {
			return KindOther, true
		}
		return KindTool, true
	case "LLM", "EMBEDDING":
		return KindModel, true
	case "AGENT":
		// LangChain runs whose name holds "agent" are marked so, tools included.
		if s.oiTool {
			return KindTool, true
		}
		return KindAgent, true
	}
	return KindOther, true
}

// beeStep recognises the events that BeeAI's instrumentation exports as spans
// beside the one that tells how a tool call ended, or what a model was asked.
func beeStep(name string) bool {
	switch {
	case strings.HasPrefix(name, "tool."):
		return !strings.Contains(name, ".success-") && !strings.Contains(name, ".error-")
	case strings.HasPrefix(name, "backend."):
		return !strings.Contains(name, ".start-")
	}
	return strings.Contains(name, "-") && strings.HasPrefix(name, "agent.")
}

func (openInference) Read(s *Span) Call {
	c := Call{Fix: "OPENINFERENCE_HIDE_INPUTS=false and OPENINFERENCE_HIDE_OUTPUTS=false"}
	c.Wrapped = strings.Contains(s.Scope.Name(), "adk")
	kind, _ := (openInference{}).Kind(s)
	switch kind {
	case KindTool:
		oiTool(s, &c)
	case KindModel:
		oiModel(s, &c)
	case KindAgent:
		c.Agent = s.Str("agent.name", "graph.node.id")
	}
	if strings.Contains(s.Scope.Name(), "instrumentation-openai-agents") && contentless(s) {
		// Hidden values would stand as __REDACTED__: the runner told nothing.
		c.Fix = agentsJSFix
	}
	if s.conv == "" {
		c.Conversation = s.Value("metadata").First("session_id", "conversation_id", "thread_id").Str()
	}
	return c
}

// contentless reports a span without input and with no or an empty output.
func contentless(s *Span) bool {
	_, in := s.Attr("input.value")
	return !in && s.Str("output.value") == ""
}

func oiTool(s *Span, c *Call) {
	c.Tool = firstOf(s.Str("tool.name"), beeTool(s.Name()), oiToolName(s))
	c.ID = realID(s.Str("tool.id", "tool_call.id", "tool.call_id"))
	if s.Scope.Name() == openLITScope && isUUID(c.ID) {
		c.ID = ""
	}
	c.Description = s.Str("tool.description")
	var id string
	c.Args, id = decodeArgs(s.content(pythonText, "input.value"))
	if kwargs := c.Args.Value.At("kwargs"); c.Args.Value.Only("kwargs") && kwargs.Kind() == value.Object && strings.Contains(s.Scope.Name(), "llama_index") {
		c.Args = c.Args.changed(kwargs)
	}
	if c.Args.Grade == Absent && argsInParameters(s.Scope.Name()) {
		c.Args, id = decodeArgs(s.content(pythonText, "tool.parameters"))
	}
	pick(&c.ID, realID(id))
	out := s.content(jsonText, "output.value")
	if out.Value.Kind() == value.String && out.Value.Str() == "" && c.Args.Grade == Absent {
		out = Content{Why: "the instrumentation wrote an empty text in place of content"}
	}
	c.setResult(decodeResult(out, c.Wrapped))
}

// oiToolName is the tool in the name of a span, which AutoGen puts behind that of
// the agent.
func oiToolName(s *Span) string {
	if i := strings.LastIndexByte(s.Name(), '.'); i >= 0 && strings.Contains(s.Scope.Name(), "autogen") {
		return s.Name()[i+1:]
	}
	return s.Name()
}

// argsInParameters tells the instrumentations that write arguments into
// tool.parameters from those that write the schema there.
func argsInParameters(scope string) bool {
	for _, name := range [...]string{"adk", "agno", "claude", "autogen", "beeai"} {
		if strings.Contains(scope, name) {
			return true
		}
	}
	return false
}

func oiModel(s *Span, c *Call) {
	c.Tool = "chat"
	c.Model = s.Str("llm.model_name", "embedding.model_name", "gen_ai.request.model")
	request, params := oiRequest(s)
	c.Params = params
	c.Usage = Usage{
		Input:      s.count("llm.token_count.prompt"),
		Output:     s.count("llm.token_count.completion"),
		CacheRead:  s.count("llm.token_count.prompt_details.cache_read"),
		CacheWrite: s.count("llm.token_count.prompt_details.cache_write"),
		Reasoning:  s.count("llm.token_count.completion_details.reasoning"),
	}
	c.Finish = s.Str("llm.finish_reason")
	c.Tools = oiTools(s, request)
	if s.oi == "EMBEDDING" {
		c.Tool = "embeddings"
		c.Args, c.Result = s.content(jsonText, "input.value"), s.content(jsonText, "output.value")
		return
	}
	if _, ok := s.Attr("llm.prompts"); ok {
		c.Tool = "text_completion"
	}
	c.Input, c.Request = oiMessages(s, "llm.input_messages.", "input.value", oiInput)
	c.Output, c.Response = oiMessages(s, "llm.output_messages.", "output.value", oiOutput)
}

// oiMessages reads indexed messages, and the whole request or response beside
// them where the indexed ones are missing or lack call ids.
func oiMessages(s *Span, prefix, whole string, find func(value.Value) value.Value) ([]message.Message, Content) {
	ms := message.Read(unflatten(s, prefix))
	emptyArgs(ms)
	if len(ms) > 0 && !poor(ms) {
		return ms, Content{Grade: Rebuilt}
	}
	c := s.content(jsonText, whole)
	if c.Grade == Exact && c.Value.Kind() >= value.Array {
		if list := find(c.Value); len(list.Items()) == 0 || list.Items()[0].Kind() >= value.Array {
			if more := message.Read(list); weight(more) > weight(ms) {
				return more, Content{Grade: Rebuilt, Key: whole}
			}
		}
	}
	if len(ms) > 0 {
		return ms, Content{Grade: Rebuilt}
	}
	if c.Grade == Exact && c.Value.Str() != "" {
		role := "assistant"
		if whole == "input.value" {
			role = "user"
		}
		return []message.Message{{Role: role, Parts: []message.Part{{Type: message.Text, Text: c.Value.Str()}}}}, Content{Grade: Rebuilt}
	}
	if c.Grade == Exact {
		c = Content{}
	}
	return nil, c
}

// beeTool is the tool in the name of BeeAI's event spans, such as
// tool.search.wikipedia.success-12.
func beeTool(name string) string {
	rest, ok := strings.CutPrefix(name, "tool.")
	for _, end := range [...]string{".success-", ".error-"} {
		if i := strings.LastIndex(rest, end); ok && i > 0 {
			return rest[:i]
		}
	}
	return ""
}

// emptyArgs puts back the empty arguments of a tool call, which the flattening
// leaves out.
func emptyArgs(ms []message.Message) {
	for _, m := range ms {
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Type == message.ToolCall && p.Args.IsNull() && p.ArgsText == "" {
				p.Args = value.Obj()
			}
		}
	}
}

// poor reports whether indexed messages lack content or ids, as some frameworks'
// content blocks do not survive the flattening.
func poor(ms []message.Message) bool {
	for _, m := range ms {
		if len(m.Parts) == 0 {
			return true
		}
		for _, p := range m.Parts {
			if (p.Type == message.ToolCall || p.Type == message.ToolReply) && p.ID == "" {
				return true
			}
		}
	}
	return false
}

func oiInput(v value.Value) value.Value {
	if items := v.Items(); len(items) > 0 && items[0].Has("role") {
		return v
	}
	return v.First("messages", "input", "contents")
}

func oiOutput(v value.Value) value.Value {
	if g := v.At("generations").Items(); len(g) > 0 {
		if first := g[0].Items(); len(first) > 0 {
			return first[0].At("message")
		}
	}
	if answer := providerAnswer(v); !answer.IsNull() {
		return answer
	}
	if text := v.At("text"); text.Kind() == value.String && v.Only("text", "finish_reason") {
		return value.Obj(value.M("role", value.Str("assistant")), value.M("content", text), value.M("finish_reason", v.At("finish_reason")))
	}
	return value.Value{}
}

// providerAnswer is the message, or the list of them, in the body with which a
// provider answers: OpenAI chat and Responses, Anthropic; null in any other.
func providerAnswer(body value.Value) value.Value {
	if choices := body.At("choices").Items(); len(choices) > 0 {
		return choices[0]
	}
	if out := body.At("output"); out.Kind() == value.Array {
		return out
	}
	if body.Has("role") {
		return body
	}
	return value.Value{}
}

// oiRequest is the request with its tools, and the parameters without.
func oiRequest(s *Span) (value.Value, []value.Member) {
	request := s.Value("llm.invocation_parameters")
	var out []value.Member
	for _, m := range request.Members() {
		switch m.Name {
		case "tools", "functions", "model", "messages", "input", "instructions", "contents", "id", "created_at", "previous_response_id":
		default:
			out = append(out, m)
		}
	}
	return request, out
}

func oiTools(s *Span, request value.Value) []toolDef {
	var list []value.Value
	for _, item := range unflatten(s, "llm.tools.").Items() {
		if schema := item.At("tool").At("json_schema"); !schema.IsNull() {
			list = append(list, schema)
		}
	}
	if defs := toolDefinitions(value.List(list...)); len(defs) > 0 {
		return defs
	}
	return toolDefinitions(request.First("tools", "functions"))
}
