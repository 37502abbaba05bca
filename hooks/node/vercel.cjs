"use strict";
// Vercel AI SDK: executeToolCall, which generateText, streamText and agents run tools
// with. The tool is replaced by one with an execute of ours; spans, callbacks and what
// becomes of a failure stay the SDK's.
const { withOthers } = require("./ask.cjs");

module.exports = (ask) => (executeToolCall) => async (options) => {
  const { toolName, toolCallId, input } = options.toolCall;
  const tool = options.tools?.[toolName];
  if (typeof tool?.execute !== "function") return executeToolCall(options);
  const execute = (given, context) =>
    ask(toolName, input, toolCallId, (others) => whole(tool.execute(withOthers(given, others), context)));
  const answered = Object.create(tool, { execute: { value: execute } });
  return executeToolCall({ ...options, tools: { ...options.tools, [toolName]: answered } });
};

/** The result of a tool: of one that gives preliminary ones too, the last. */
async function whole(result) {
  if (typeof result?.[Symbol.asyncIterator] !== "function") return result;
  let last;
  for await (last of result);
  return last;
}
