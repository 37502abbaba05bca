package dialect

import (
	"strings"

	"github.com/tapedeck/tapedeck/internal/dialect/value"
)

// mlflow reads MLflow's OTLP export, in which every attribute is JSON text,
// strings included. Names of siblings are made unique with a number.
type mlflow struct{}

func (mlflow) Name() string { return "mlflow" }

func (mlflow) Kind(s *Span) (Kind, bool) {
	switch s.mlflow {
	case "":
		return KindOther, false
	case "TOOL":
		return KindTool, true
	case "CHAT_MODEL", "LLM", "EMBEDDING":
		return KindModel, true
	case "AGENT":
		return KindAgent, true
	}
	return KindOther, true
}

func (mlflow) Read(s *Span) Call {
	c := Call{Fix: mlflowFix}
	switch s.mlflow {
	case "TOOL":
		c.Tool = s.Value("mlflow.spanFunctionName").Str()
		if c.Tool == "" {
			c.Tool = s.Name()
			if i := strings.LastIndexByte(c.Tool, '_'); i > 0 && i+1 < len(c.Tool) && strings.Trim(c.Tool[i+1:], "0123456789") == "" {
				c.Stem = c.Tool[:i]
			}
		}
		c.Args, _ = decodeArgs(s.content(pythonText, "mlflow.spanInputs"))
		c.setResult(decodeResult(s.content(jsonText, "mlflow.spanOutputs"), false))
	case "AGENT":
		c.Agent = firstOf(s.Value("mlflow.spanFunctionName").Str(), s.Name())
	default:
		mlflowModel(s, &c)
	}
	return c
}

func mlflowModel(s *Span, c *Call) {
	c.Tool = "chat"
	c.Model = s.Value("mlflow.llm.model").Str()
	usage := s.Value("mlflow.chat.tokenUsage")
	c.Usage = Usage{Input: tokens(usage, "input_tokens"), Output: tokens(usage, "output_tokens"), CacheRead: tokens(usage, "cache_read_input_tokens")}
	c.Tools = toolDefinitions(s.Value("mlflow.chat.tools"))
	in, out := s.content(jsonText, "mlflow.spanInputs"), s.content(jsonText, "mlflow.spanOutputs")
	if s.mlflow == "EMBEDDING" {
		c.Tool, c.Args, c.Result = "embeddings", in, out
		return
	}
	pick(&c.Model, in.Value.At("model").Str())
	for _, m := range in.Value.Members() {
		switch m.Name {
		case "messages", "input", "contents", "tools", "model", "instructions":
		default:
			c.Params = append(c.Params, m)
		}
	}
	c.System = systemOf(in.Value.At("instructions"))
	list := oiInput(in.Value)
	if list.IsNull() && in.Value.Kind() == value.String {
		list = in.Value
	}
	c.Input, c.Request = messagesIn(list, in, "user")
	c.Output, c.Response = messagesIn(answerOf(out.Value), out, "assistant")
}
