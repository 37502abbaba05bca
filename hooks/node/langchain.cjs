"use strict";
// LangChain.js and LangGraph.js: StructuredTool.call, with the tool's _call replaced.
// Callbacks and validation stay the framework's. The arguments are those that the
// callbacks see.
module.exports = (ask) => (StructuredTool) => {
  const call = StructuredTool.prototype.call;
  StructuredTool.prototype.call = function (arg, config, ...more) {
    const isCall = arg?.type === "tool_call";
    const args = isCall ? arg.args : arg;
    const id = (isCall ? arg.id : undefined) ?? config?.toolCall?.id;
    const answer = async () => {
      const result = await ask(this.name, args, id);
      // Artifacts are not sent to models, nor recorded.
      return this.responseFormat === "content_and_artifact" ? [result, undefined] : result;
    };
    return call.call(Object.create(this, { _call: { value: answer } }), arg, config, ...more);
  };
};
