"use strict";
// Vercel AI SDK: executeToolCall, which generateText, streamText and agents run tools
// with. The tool is replaced by one with an execute of ours; spans, callbacks and what
// becomes of a failure stay the SDK's.
module.exports = (ask) => (executeToolCall) => async (options) => {
  const { toolName, toolCallId, input } = options.toolCall;
  const tool = options.tools?.[toolName];
  if (typeof tool?.execute !== "function") return executeToolCall(options);
  const answered = Object.create(tool, { execute: { value: () => ask(toolName, input, toolCallId) } });
  return executeToolCall({ ...options, tools: { ...options.tools, [toolName]: answered } });
};
