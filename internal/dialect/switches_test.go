package dialect

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tapedeck/tapedeck/tape"
)

func TestTheSwitchIsThatOfTheInstrumentation(t *testing.T) {
	call := attrs{"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "x"}
	model := attrs{"gen_ai.operation.name": "chat", "gen_ai.request.model": "m"}
	protocol := attrs{"mcp.method.name": "tools/call", "gen_ai.tool.name": "x"}
	of := func(a attrs, key, text string) attrs {
		out := attrs{key: text}
		for k, v := range a {
			out[k] = v
		}
		return out
	}
	for name, c := range map[string]struct {
		scope    string
		attrs    attrs
		why, fix string
	}{
		"anything else":             {"opentelemetry.instrumentation.x", call, "not captured", genAIFix},
		"agent framework":           {"agent_framework", call, "not captured", agentFrameworkFix},
		"agent framework, model":    {"agent_framework", model, "not captured", agentFrameworkFix},
		"semantic kernel, .NET":     {"Microsoft.SemanticKernel", call, "not captured", semanticKernelFix},
		"semantic kernel, models":   {"Microsoft.SemanticKernel.Diagnostics", model, "not captured", semanticKernelFix},
		"semantic kernel, Python":   {"semantic_kernel.functions.kernel_function", call, "not captured", semanticKernelFix},
		"extensions":                {"Experimental.Microsoft.Extensions.AI", call, "not captured", "EnableSensitiveData = true in UseOpenTelemetry"},
		"autogen by scope":          {"autogen-core", call, "AutoGen records no content on its spans", ""},
		"autogen by system":         {"", of(call, "gen_ai.system", "autogen"), "AutoGen records no content on its spans", ""},
		"fastmcp":                   {"fastmcp", protocol, "FastMCP records no content on its spans", ""},
		"another of the protocol":   {"mcp.instrumentation", protocol, "not captured", genAIFix},
		"spring, model":             {"org.springframework.boot", model, "Spring AI writes no messages on the spans of its model calls", ""},
		"spring, tool":              {"org.springframework.boot", attrs{"spring.ai.kind": "tool_call", "spring.ai.tool.definition.name": "x"}, "not captured", "spring.ai.tools.observations.include-content=true"},
		"strands":                   {"strands.telemetry.tracer", of(call, "gen_ai.system", "strands-agents"), "not captured, although Strands records content by default", ""},
		"strands, with older names": {"strands-agents", attrs{"gen_ai.system": "strands-agents", "tool.name": "x"}, "not captured, although Strands records content by default", ""},
		"agents of OpenAI in JS":    {"@arizeai/openinference-instrumentation-openai-agents", attrs{"openinference.span.kind": "LLM"}, "not captured", agentsJSFix},
		"the same for another":      {"@arizeai/openinference-instrumentation-langchain", attrs{"openinference.span.kind": "LLM"}, "not captured", "OPENINFERENCE_HIDE_INPUTS=false and OPENINFERENCE_HIDE_OUTPUTS=false"},
		"koog, model":               {"ai.koog", model, "not captured", koogFix},
		"mlflow by the conventions": {"mlflow.tracing.provider", model, "not captured", mlflowFix},
		"OpenLLMetry for OpenAI":    {"opentelemetry.instrumentation.openai", model, "not captured", traceloopFix},
		"OpenTelemetry for OpenAI":  {"opentelemetry.instrumentation.openai_v2", model, "not captured", genAIFix},
		"Vercel's SDK since 7":      {"gen_ai", model, "not captured", "telemetry: {recordInputs: true, recordOutputs: true}"},
		"unserialisable":            {"", of(of(call, "gen_ai.tool.call.arguments", "<not serializable>"), "gen_ai.tool.call.result", "<not serializable>"), whyUnserialisable, ""},
	} {
		t.Run(name, func(t *testing.T) {
			span := sp{id: 2, up: 1, from: 1, to: 2, name: "Tool: x", scope: c.scope, attrs: c.attrs}
			assert.Equal(t, []tape.Gap{
				{Seq: 1, What: "args", Why: c.why, Fix: c.fix}, {Seq: 1, What: "result", Why: c.why, Fix: c.fix},
			}, one(t, agentSpan(1, 0, 9), span).Manifest.Gaps)
		})
	}
}

func TestAnAgentOfOpenAIThatHidesContentNamesItsOwnSwitch(t *testing.T) {
	td, ld := recording(t, "oi_agents_nosensitive_B")
	gaps := TranslateWithLogs(td, ld, Options{})[0].Manifest.Gaps
	require.NotEmpty(t, gaps)
	for _, g := range gaps {
		assert.Equal(t, agentsJSFix, g.Fix, g)
	}
	span := sp{id: 1, from: 0, to: 1, name: "x", scope: "@arizeai/openinference-instrumentation-openai-agents", attrs: attrs{
		"openinference.span.kind": "TOOL", "tool.name": "x", "input.value": "__REDACTED__", "output.value": "__REDACTED__",
	}}
	assert.Contains(t, one(t, span).Manifest.Gaps[0].Fix, "OPENINFERENCE_HIDE_INPUTS", "what is hidden was recorded")
}

func TestASummaryOfToolTrafficHasNoSwitch(t *testing.T) {
	step := sp{id: 2, up: 1, from: 1, to: 5, name: "step", attrs: attrs{
		"mastra.span.type": "model_step", "mastra.model_step.output": `{"text":"done"}`,
		"mastra.model_step.input": `[{"role":"tool","content":"[tool-result: x]"}]`,
	}}
	gaps := one(t, agentSpan(1, 0, 9), step).Manifest.Gaps
	assert.Equal(t, []tape.Gap{{Seq: 1, What: "args", Why: whySummary}}, gaps)

	td, ld := recording(t, "mastra_chat_A")
	gaps = TranslateWithLogs(td, ld, Options{})[0].Manifest.Gaps
	assert.Equal(t, []tape.Gap{{Seq: 4, What: "args", Why: whySummary}, {Seq: 6, What: "args", Why: whySummary}}, gaps, "the reason is on the step, the call inside it")
}
