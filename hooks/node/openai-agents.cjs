"use strict";
// OpenAI Agents SDK: tool(), whose execute is replaced. Parsing of arguments and the
// errorFunction stay the SDK's. An agent used as a tool is answered and runs all the
// same: its own model and tools are answered from the tape.
const { withOthers } = require("./ask.cjs");

module.exports = (ask) => (tool) =>
  function (options) {
    const execute = options.execute;
    if (typeof execute !== "function") return tool(options);
    const made = tool({
      ...options,
      name: options.name ?? execute.name,
      execute: async (parsed, context, details) => {
        const call = details?.toolCall;
        let ran = false;
        const run = (others) => {
          ran = true;
          return execute(withOthers(parsed, others), context, details);
        };
        const answer = ask(made.name, asWritten(call?.arguments) ?? parsed, call?.callId, run);
        if (!runsAnAgent(execute)) return answer;
        await answer.catch(() => {});
        return ran ? answer : execute(parsed, context, details);
      },
    });
    return made;
  };

/** The arguments as the model wrote them, which is what spans hold. */
function asWritten(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Only the function that Agent.asTool() makes keeps such a note of its call. */
const runsAnAgent = (execute) => Function.prototype.toString.call(execute).includes("agentToolInvocation");
