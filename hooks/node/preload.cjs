"use strict";
// The start-up hook of `tape run`, which Node requires before the program (a preload
// by --require works in every version of Node; --import does not). It has a few files
// of agent frameworks end with a call of hook() below, whether they are required or
// imported, and does nothing else.
if (process.env.TAPE_URL) {
  const Module = require("node:module");
  const path = require("node:path");
  const { pathToFileURL } = require("node:url");
  const { ask } = require("./ask.cjs");
  const { framework } = require("./targets.cjs");

  globalThis[Symbol.for("tapedeck.hook")] = (name, wrap) => {
    try {
      wrap(require(`./${name}.cjs`)(ask));
    } catch (error) {
      process.stderr.write(`tape: tools of ${name} are not answered from the tape: ${error}\n`);
    }
  };

  const compile = Module.prototype._compile;
  Module.prototype._compile = function (content, filename, ...more) {
    const target = framework(filename);
    return compile.call(this, target ? content + target.required : content, filename, ...more);
  };
  if (Module.register) {
    Module.register(pathToFileURL(path.join(__dirname, "loader.mjs")));
  }
}
