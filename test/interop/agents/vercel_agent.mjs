// An agent of the Vercel AI SDK with its own OpenTelemetry spans. Usage: vercel_agent.mjs DOCUMENT
import { createOpenAI } from "@ai-sdk/openai";
import { trace } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { NodeSDK } from "@opentelemetry/sdk-node";
import { generateText, stepCountIs, tool } from "ai";
import { effects } from "./effects.mjs";

const sdk = new NodeSDK({ traceExporter: new OTLPTraceExporter(), instrumentations: [] });
sdk.start();

const tools = Object.fromEntries(
  Object.entries(effects).map(([name, { description, input, run }]) => [
    name,
    tool({ description, inputSchema: input, execute: run }),
  ]),
);

// The SDK takes no base URL from the environment by itself in every version.
const openai = createOpenAI({ baseURL: process.env.OPENAI_BASE_URL });
const code = await trace.getTracer("publisher").startActiveSpan("publisher", async (span) => {
  try {
    const result = await generateText({
      model: openai("gpt-4o-mini"),
      system: "You publish documents.",
      prompt: `Publish the document ${process.argv[2]}`,
      tools,
      stopWhen: stepCountIs(6),
      experimental_telemetry: { isEnabled: true, functionId: "publisher" },
    });
    const failed = result.steps.flatMap((step) => step.content).find((part) => part.type === "tool-error");
    if (failed) throw failed.error;
    console.log(result.text);
    return 0;
  } catch (error) {
    span.recordException(error);
    span.setStatus({ code: 2, message: error.message });
    console.error(`${error.name}: ${error.message}`);
    return 1;
  } finally {
    span.end();
  }
});
await sdk.shutdown();
process.exit(code);
