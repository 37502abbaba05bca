package dialect

import (
	"slices"
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/message"
	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// adk reads Google's Agent Development Kit. A model call is a span call_llm
// with the content around a span generate_content without; a batch of parallel
// tools adds a span "(merged tools)" that is no call. With the experimental
// conventions the messages are on the inner span, with ids made of the tool's
// name and the place of the part, which are none.
type adk struct{}

func (adk) Name() string { return "google_adk" }

func (adk) Kind(s *Span) (Kind, bool) {
	// Some backends export without the scope.
	if s.Scope.Name() != "gcp.vertex.agent" && (s.Scope.Name() != "" || !s.adk) {
		return KindOther, false
	}
	switch {
	case s.op == "execute_tool":
		if strings.HasPrefix(s.Name(), "execute_tool (merged") {
			return KindOther, true
		}
		return KindTool, true
	case s.op == "" && s.Name() == "call_llm":
		return KindModel, true
	}
	return genAI{}.Kind(s)
}

func (adk) Read(s *Span) Call {
	c := genAI{}.Read(s)
	c.Wrapped = true
	c.Fix = "ADK_CAPTURE_MESSAGE_CONTENT_IN_SPANS=true"
	if s.op == "execute_tool" {
		c.Fail = nil
		args, _ := decodeArgs(s.content(jsonText, "gcp.vertex.agent.tool_call_args"))
		if s.Str("gcp.vertex.agent.tool_call_args") == "{}" && s.Str("gcp.vertex.agent.tool_response") == "{}" {
			// With content off both are written so. A call that was given and
			// answered nothing is one whose messages say the same.
			return c
		}
		args.fill(c.Args)
		c.Args = args
		r := decodeResult(s.content(jsonText, "gcp.vertex.agent.tool_response"), true)
		r.fill(c.Result)
		c.setResult(r)
		return c
	}
	if s.Name() == "call_llm" {
		c.Tool = "generate_content"
	}
	c.Input, c.Output = unplaced(c.Input), unplaced(c.Output)
	adkModel(s, &c)
	return c
}

// unplaced takes the ids that are a tool's name and a place from the calls and
// replies of messages. The messages given may be shared and stay as they are.
func unplaced(ms []message.Message) []message.Message {
	out := ms
	for i := range ms {
		for j := range ms[i].Parts {
			p := &ms[i].Parts[j]
			name, ok := placedName(p)
			if !ok {
				continue
			}
			if &out[0] == &ms[0] {
				out = slices.Clone(ms)
			}
			if &out[i].Parts[0] == &ms[i].Parts[0] {
				m := ms[i].WithFinish(ms[i].FinishReason)
				m.Parts = slices.Clone(m.Parts)
				out[i] = m
			}
			out[i].Parts[j].ID, out[i].Parts[j].Name = "", name
		}
	}
	return out
}

// placedName is the tool's name in an id such as get_weather_0.
func placedName(p *message.Part) (string, bool) {
	if p.Type != message.ToolCall && p.Type != message.ToolReply {
		return "", false
	}
	i := strings.LastIndexByte(p.ID, '_')
	if i <= 0 || i+1 == len(p.ID) || strings.Trim(p.ID[i+1:], "0123456789") != "" {
		return "", false
	}
	return p.ID[:i], p.Name == "" || p.Name == p.ID[:i]
}

// adkModel reads the request and response of the Gemini API.
func adkModel(s *Span, c *Call) {
	request := s.Value("gcp.vertex.agent.llm_request")
	if contents := request.At("contents"); len(contents.Items()) > 0 && len(c.Input) == 0 {
		c.Input, c.Request = message.Read(contents), Content{Grade: Rebuilt}
	}
	config := request.At("config")
	if len(c.System) == 0 {
		c.System = systemOf(config.First("system_instruction", "systemInstruction"))
	}
	if len(c.Tools) == 0 {
		c.Tools = toolDefinitions(config.At("tools"))
	}
	for _, m := range config.Members() {
		switch m.Name {
		case "system_instruction", "systemInstruction", "tools", "labels", "http_options":
		default:
			c.Params = append(c.Params, m)
		}
	}
	response := s.Value("gcp.vertex.agent.llm_response")
	if content := response.At("content"); content.Kind() == value.Object && len(c.Output) == 0 {
		if ms := message.Read(content); len(ms) > 0 && len(ms[0].Parts) > 0 {
			c.Output, c.Response = ms, Content{Grade: Rebuilt}
		}
	}
	pick(&c.Finish, response.First("finish_reason", "finishReason").Str())
}
