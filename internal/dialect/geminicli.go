package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// geminiCLI reads Gemini CLI. The messages attributes of a tool span hold its
// request and its completed call; attributes end at 10,000 characters, which
// may cut the result off.
type geminiCLI struct{}

const geminiFix = `"telemetry": {"logPrompts": true}`

func (geminiCLI) Name() string { return "gemini_cli" }

func (geminiCLI) Kind(s *Span) (Kind, bool) {
	if s.Scope.Name() != "gemini-cli" {
		return KindOther, false
	}
	switch s.op {
	case "tool_call":
		return KindTool, true
	case "llm_call":
		return KindModel, true
	case "user_prompt", "agent_call":
		return KindAgent, true
	}
	return KindOther, true
}

func (geminiCLI) Read(s *Span) Call {
	c := Call{Fix: geminiFix, Wrapped: true, Agent: s.agentName}
	switch s.op {
	case "tool_call":
		geminiTool(s, &c)
	case "llm_call":
		genAIModel(s, &c)
		c.Tool = "generate_content"
		c.Params = nil
		c.Usage = genAIUsage(s)
		c.Tools = toolDefinitions(s.Value("gen_ai.tool.definitions"))
		c.System = systemOf(s.Value("gen_ai.system_instructions"))
		c.Input, c.Request = s.messages("gen_ai.input.messages")
		c.Output, c.Response = s.messages("gen_ai.output.messages")
	}
	return c
}

func geminiTool(s *Span, c *Call) {
	c.Tool = s.Str("gen_ai.tool.name")
	c.ID = realID(s.Str("gen_ai.tool.call_id", "gen_ai.tool.call.id"))
	c.Description = s.Str("gen_ai.tool.description")
	c.Args = s.content(jsonText, "gen_ai.input.messages")
	c.Args.Value = parsed(c.Args.Value)
	if args, ok := c.Args.Value.Get("args"); ok {
		c.Args.Value = args
	}
	done := s.content(jsonText, "gen_ai.output.messages")
	done.Value = parsed(done.Value)
	c.Result = done
	if done.Value.Kind() != value.Object {
		return
	}
	c.Result = Content{}
	response := done.Value.At("response")
	if parts := message.Read(value.Obj(value.M("role", value.Str("tool")), value.M("parts", response.At("responseParts")))); len(parts) > 0 && len(parts[0].Parts) > 0 {
		answer := parts[0].Parts[0].Result
		if e := answer.At("error"); answer.Only("error") {
			answer = e
		}
		c.setResult(decodeResult(Content{Value: answer, Grade: Rebuilt, Key: done.Key}, true))
	}
	if done.Value.At("status").Str() == "error" {
		c.Fail = &Failure{Message: firstOf(response.At("resultDisplay").Str(), textOf(c.Result)), Type: response.At("errorType").Str(), Evidence: "result"}
	}
	for _, l := range s.Logs {
		if l.Name == "gemini_cli.tool_call" && attrText(l.Attrs, "success") == "false" {
			c.Fail = c.Fail.merge(&Failure{Message: attrText(l.Attrs, "error"), Type: attrText(l.Attrs, "error_type"), Evidence: "log"})
		}
	}
}

// ReadLog reads Gemini CLI without its traces. Results of tools and messages
// are in spans alone; the messages also in the event of the conventions.
func (geminiCLI) ReadLog(l Log) (Call, bool) {
	name, ok := strings.CutPrefix(l.Name, "gemini_cli.")
	if !ok {
		return Call{}, false
	}
	attrs := attrsValue(l.Attrs)
	c := Call{Dialect: geminiCLI{}.Name(), Fix: geminiFix, Conversation: attrs.At("session.id").Str()}
	switch name {
	case "tool_call":
		c.Kind, c.Tool = KindTool, attrs.At("function_name").Str()
		c.Args, _ = decodeArgs(contentValue(attrs.At("function_args"), jsonText))
		c.Result.Why = "Gemini CLI writes results of tools into spans alone"
		if attrs.At("success").Text() == "false" {
			c.Fail = &Failure{Message: attrs.First("error", "error.message").Str(), Type: attrs.First("error_type", "error.type").Str(), Evidence: "log"}
		}
	case "api_response", "api_error":
		c.Kind, c.Tool, c.Model = KindModel, "generate_content", attrs.At("model").Str()
		c.Usage = Usage{
			Input: tokens(attrs, "input_token_count"), Output: tokens(attrs, "output_token_count"),
			CacheRead: tokens(attrs, "cached_content_token_count"), Reasoning: tokens(attrs, "thoughts_token_count"),
		}
		if name == "api_error" {
			c.Fail = &Failure{
				Message: attrs.First("error", "error.message").Str(), Type: attrs.First("error_type", "error.type").Str(),
				Code: scalarText(attrs.At("status_code")), Evidence: "log",
			}
		}
	}
	return c, c.Tool != ""
}
