package fidelity

import "strings"

// families are the instrumentations that several captures were made with, by how
// the names of these begin.
var families = []struct{ prefix, name string }{
	{"langfuse_openai_", "Langfuse SDK for JavaScript, OpenAI wrapper"},
	{"mastra_", "Mastra OpenTelemetry exporter"},
	{"mcp_traceloop_", "OpenLLMetry MCP for JavaScript"},
	{"oi_agents_", "OpenInference, OpenAI Agents for JavaScript"},
	{"oi_langchain_agent_", "OpenInference, LangChain.js agents"},
	{"oi_langchain_graph_", "OpenInference, LangGraph.js"},
	{"plain_oi_openai_", "OpenInference, OpenAI for JavaScript"},
	{"plain_otel_openai", "OpenTelemetry, OpenAI for JavaScript"},
	{"strands_ts_", "Strands for TypeScript"},
	{"traceloop_openai_", "OpenLLMetry SDK for JavaScript, OpenAI"},
	{"vercel6_", "Vercel AI SDK 6"},
	{"vercel7_", "Vercel AI SDK 7"},
}

// instrumentationOf is what wrote the spans of a case. Only captures have several
// cases of one; a sample or a described case is named after what it shows.
func instrumentationOf(c Case, origin string) string {
	if origin == "captures" {
		for _, f := range families {
			if strings.HasPrefix(c.Name, f.prefix) {
				return f.name
			}
		}
	}
	return "`" + strings.TrimSuffix(c.Name, withoutLogs) + "`"
}
