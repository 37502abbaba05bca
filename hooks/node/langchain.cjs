"use strict";
// LangChain.js and LangGraph.js: StructuredTool.call, with the tool's _call replaced.
// Callbacks and validation stay the framework's. The arguments are those that the
// callbacks see.
const { withOthers } = require("./ask.cjs");

module.exports = (ask) => (StructuredTool) => {
  const call = StructuredTool.prototype.call;
  StructuredTool.prototype.call = function (arg, config, ...more) {
    const isCall = arg?.type === "tool_call";
    const args = isCall ? arg.args : arg;
    const id = (isCall ? arg.id : undefined) ?? config?.toolCall?.id;
    // Artifacts are not sent to models, nor recorded.
    const artifact = this.responseFormat === "content_and_artifact";
    const shapes = artifact ? { shaped: (result) => [result, undefined], told: ([result]) => result } : {};
    const answer = (input, ...rest) =>
      ask(this.name, args, id, (others) => this._call(withOthers(input, others), ...rest), shapes);
    return call.call(Object.create(this, { _call: { value: answer } }), arg, config, ...more);
  };
};
