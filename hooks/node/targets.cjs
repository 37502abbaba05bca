"use strict";
// Which files are hooked, and what is added at their ends. The added line runs inside
// the module, so that it reaches what the module keeps to itself; a name that a later
// version no longer has is reported by hook() and breaks nothing.

const line = (name, body) => `\n;globalThis[Symbol.for("tapedeck.hook")](${JSON.stringify(name)}, (hook) => { ${body} });\n`;

const targets = [
  {
    // The Vercel AI SDK, which is one file.
    file: /\/node_modules\/ai\/dist\/index\.m?js$/,
    required: line("vercel", "executeToolCall = hook(executeToolCall);"),
    imported: line("vercel", "executeToolCall = hook(executeToolCall);"),
  },
  {
    file: /\/node_modules\/@langchain\/core\/dist\/tools\/index\.c?js$/,
    required: line("langchain", "hook(StructuredTool);"),
    imported: line("langchain", "hook(StructuredTool);"),
  },
  {
    file: /\/node_modules\/@openai\/agents-core\/dist\/tool\.m?js$/,
    required: line("openai-agents", "exports.tool = tool = hook(tool);"),
    imported: line("openai-agents", "tool = hook(tool);"),
  },
];

/** The target that a file is, undefined for all others. */
exports.framework = (filename) => {
  const slashed = filename.replaceAll("\\", "/");
  return targets.find((target) => target.file.test(slashed));
};
