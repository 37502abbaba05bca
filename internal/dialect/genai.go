package dialect

import (
	"strings"

	"go.opentelemetry.io/collector/pdata/pcommon"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
	"github.com/tapedeck/tapedeck/tape"
)

// genAI reads the OpenTelemetry GenAI conventions of all versions since the
// execute_tool span (1.31), and whatever merely follows their names. Content
// may be structured, JSON text, or JSON text inside JSON text; messages may
// also come as events or log records.
type genAI struct{}

func (genAI) Name() string { return "otel_genai" }

func (genAI) Kind(s *Span) (Kind, bool) {
	switch s.op {
	case "":
		return KindOther, false
	case "execute_tool", "tool.execute":
		return KindTool, true
	case "chat", "generate_content", "text_completion", "embeddings", "completion", "responses", "message",
		"chat.completions", "text.completions", "response":
		return KindModel, true
	case "invoke_agent", "create_agent", "invoke_workflow":
		return KindAgent, true
	}
	return KindOther, true
}

const genAIFix = "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true"

func (genAI) Read(s *Span) Call {
	c := Call{Fix: genAIFix}
	genAITool(s, &c)
	genAIModel(s, &c)
	kind, _ := (genAI{}).Kind(s)
	c.advise(s, kind)
	return c
}

// genAITool reads the tool attributes of the conventions. Several dialects use
// them beside their own.
func genAITool(s *Span, c *Call) {
	c.conventions = true
	if s.op != "execute_tool" && s.op != "tool.execute" && s.mcp == "" {
		return
	}
	c.Tool = s.Str("gen_ai.tool.name")
	if c.Tool == "" {
		c.Tool = strings.TrimSpace(strings.TrimPrefix(s.Name(), "execute_tool"))
	}
	if c.Tool == "" {
		// MLflow's conversion loses the name; the model's request has it.
		c.Tool, c.ClassName = "execute_tool", true
	}
	c.ID = realID(s.Str("gen_ai.tool.call.id", "gen_ai.tool.call_id"))
	c.Description = s.Str("gen_ai.tool.description")
	var id string
	c.Args, id = decodeArgs(s.content(pythonText, "gen_ai.tool.call.arguments", "gen_ai.tool.input", "gen_ai.tool.args", "input"))
	pick(&c.ID, realID(id))
	c.setResult(decodeResult(s.content(jsonText, "gen_ai.tool.call.result", "gen_ai.tool.output", "output"), false))
	readToolEvents(s, c)
	if s.Str("gen_ai.tool.status", "tool.status") == "error" {
		c.Fail = &Failure{Message: textOf(c.Result), Evidence: "attribute"}
	}
}

// setResult takes over a result without its envelope.
func (c *Call) setResult(r reply) {
	c.Result = r.Content
	pick(&c.ID, r.ID)
	if r.Failed && c.Fail == nil {
		c.Fail = &Failure{Message: textOf(r.Content), Evidence: "result"}
	}
}

// textOf is content as a text to show.
func textOf(c Content) string {
	if c.Value.Kind() == value.String {
		return c.Value.Str()
	}
	if c.Value.IsNull() {
		return ""
	}
	return c.Value.JSON()
}

// genAIModel reads the model attributes of the conventions.
func genAIModel(s *Span, c *Call) {
	c.conventions = true
	if c.Tool == "" {
		c.Tool = operation(s.op)
	}
	c.Model = s.Str("gen_ai.request.model")
	c.ResponseModel = s.Str("gen_ai.response.model")
	c.Agent, c.AgentVersion = s.agentName, s.Str("gen_ai.agent.version")
	if kind, ok := (genAI{}).Kind(s); ok && kind != KindModel {
		return
	}
	c.Params = params(s, "gen_ai.request.", "gen_ai.request.model")
	c.Usage = genAIUsage(s)
	c.Finish = finishReason(s.Value("gen_ai.response.finish_reasons", "gen_ai.response.finish_reason"))
	c.Tools = toolDefinitions(s.Value("gen_ai.tool.definitions", "gen_ai.request.available_tools"))
	c.Input, c.Request = s.messages("gen_ai.input.messages")
	c.Output, c.Response = s.messages("gen_ai.output.messages")
	c.System = systemOf(s.Value("gen_ai.system_instructions"))
	readEvents(s, c)
	if len(c.Input) == 0 && len(c.Output) == 0 {
		indexedModel(s, c)
	}
	if len(c.Input) == 0 && len(c.Output) == 0 {
		deprecatedModel(s, c)
	}
}

// operation is the name the conventions settled on for what was first called
// otherwise.
func operation(op string) string {
	switch op {
	case "chat.completions", "response":
		return "chat"
	case "text.completions":
		return "text_completion"
	}
	return op
}

// deprecatedModel reads the attributes that held a whole request and answer
// before there were messages.
func deprecatedModel(s *Span, c *Call) {
	in, out := s.content(jsonText, "gen_ai.prompt"), s.content(jsonText, "gen_ai.completion")
	list := in.Value
	if list.Kind() == value.Object && !list.Has("role") {
		list = oiInput(list)
	}
	if in.Present() && !list.IsNull() {
		c.Input, c.Request = messagesIn(list, in, "user")
	}
	answer := out.Value
	if answer.Kind() == value.Object {
		answer = oiOutput(answer)
	}
	if out.Present() && !answer.IsNull() {
		c.Output, c.Response = messagesIn(answer, out, "assistant")
	}
}

// messages reads an attribute that holds messages.
func (s *Span) messages(key string) ([]message.Message, Content) {
	c := s.content(jsonText, key)
	if c.Value.Kind() == value.String && c.Grade == Exact {
		c.Value = parsedBy(c.Value, s.memo())
	}
	if c.Grade != Exact && c.Grade != Rebuilt || c.Body != nil {
		return nil, c
	}
	c.Grade = Rebuilt
	return message.Read(c.Value), Content{Grade: c.Grade, Key: key}
}

func systemOf(v value.Value) []message.Message {
	switch v.Kind() {
	case value.Null:
		return nil
	case value.String:
		return []message.Message{{Role: "system", Parts: []message.Part{{Type: message.Text, Text: v.Str()}}}}
	}
	ms := message.Read(value.Obj(value.M("role", value.Str("system")), value.M("content", v)))
	if len(v.Items()) > 0 && v.Items()[0].Has("role") {
		ms = message.Read(v)
	}
	return ms
}

// params are the attributes under a prefix, as request parameters.
func params(s *Span, prefix string, not ...string) []value.Member {
	var out []value.Member
next:
	for k, v := range s.Attributes().All() {
		name, ok := strings.CutPrefix(k, prefix)
		if !ok {
			continue
		}
		for _, n := range not {
			if k == n {
				continue next
			}
		}
		out = append(out, value.M(name, fromAttr(v)))
	}
	return out
}

func genAIUsage(s *Span) Usage {
	return Usage{
		Input:      s.count("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "gen_ai.response.prompt_tokens"),
		Output:     s.count("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "gen_ai.response.completion_tokens"),
		CacheRead:  s.count("gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens"),
		CacheWrite: s.count("gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_write.input_tokens", "gen_ai.usage.cache_creation_input_tokens"),
		Reasoning:  s.count("gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens"),
	}
}

// count is the first present count; some instrumentations write them as text.
func (s *Span) count(keys ...string) *int64 {
	for _, key := range keys {
		v, ok := s.Attr(key)
		if !ok {
			continue
		}
		switch v.Type() {
		case pcommon.ValueTypeInt, pcommon.ValueTypeDouble, pcommon.ValueTypeStr:
			if n, ok := fromAttr(v).Int64(); ok && n >= 0 {
				return &n
			}
		}
	}
	return nil
}

// finishReason is the first finish reason: an array, JSON text of one, or text.
func finishReason(v value.Value) string {
	if items := v.Items(); len(items) > 0 {
		return items[0].Str()
	}
	first, _, _ := strings.Cut(v.Str(), ",")
	first = strings.TrimSpace(first)
	if name, ok := strings.CutPrefix(first, "FinishReason."); ok {
		// A member of an enumeration, as Python prints it.
		return strings.ToLower(name)
	}
	return first
}

// toolDefinitions reads the tools a model was offered: OpenAI, Anthropic,
// Gemini, MCP and Vercel forms, as values or as JSON texts.
func toolDefinitions(v value.Value) []toolDef {
	var out []toolDef
	for _, item := range v.Items() {
		item = parsed(item)
		if decls := item.First("function_declarations", "functionDeclarations"); decls.Kind() == value.Array {
			out = append(out, toolDefinitions(decls)...)
			continue
		}
		if t, ok := toolDefinition(item); ok {
			out = append(out, t)
		}
	}
	return out
}

// toolDef is a tool as a model was offered it.
type toolDef struct {
	tape.Tool
	// sideEffect is what the tool's own annotations say, nil for nothing.
	sideEffect *bool
}

func toolDefinition(v value.Value) (toolDef, bool) {
	if fn := v.At("function"); fn.Kind() == value.Object {
		v = fn
	}
	if spec := v.At("toolSpec"); spec.Kind() == value.Object {
		v = spec
	}
	t := toolDef{Tool: tape.Tool{Name: v.At("name").Str(), Description: v.At("description").Str()}}
	schema := parsed(v.First("parameters", "input_schema", "inputSchema", "parametersJsonSchema", "parameters_json_schema", "schema"))
	if inner := schema.First("json", "jsonSchema"); schema.Only("json") || schema.Only("jsonSchema") {
		schema = inner
	}
	if schema.Kind() == value.Object {
		t.Schema = []byte(schema.JSON())
	}
	if v := v.First("version", "schema_version"); !v.IsNull() {
		t.SchemaVersion = v.Text()
	}
	t.sideEffect = annotated(v.At("annotations"))
	return t, t.Name != ""
}

// annotated is what the annotations of MCP say about side effects: a tool that
// only reads has none, one that may destroy has some. That a tool destroys
// nothing says nothing, because it may still add.
func annotated(hints value.Value) *bool {
	effect := true
	switch readOnly := hints.At("readOnlyHint"); {
	case readOnly.Kind() == value.Bool:
		effect = !readOnly.Truthy()
	case !hints.At("destructiveHint").Truthy():
		return nil
	}
	return &effect
}
