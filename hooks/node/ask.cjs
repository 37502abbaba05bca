"use strict";
// Asking the tape, and how its answers reach a framework.
//
// A recorded failure is thrown. A verdict other than hit ends the process as an
// uncaught error does: frameworks turn whatever a tool throws into an answer for the
// model, and this must not become one.

// Taken at start-up, before an instrumentation wraps them.
const { request } = require("node:http");
const write = process.stderr.write.bind(process.stderr);

/** The tape has no answer to a call: drift, miss, exhausted or gap. */
class TapeVerdict extends Error {
  constructor(message, code) {
    super(message);
    this.name = "TapeVerdict";
    this.code = code;
  }
}

/** An error that looks like the recorded one: its class by name, where there is one. */
function failure({ code, message, type }) {
  const text = message || type || code || "failed";
  const name = (type || "Error").split(".").pop();
  const builtIn = globalThis[name];
  const isError = typeof builtIn === "function" && builtIn.prototype instanceof Error && builtIn !== AggregateError;
  const error = isError ? new builtIn(text) : new Error(text);
  if (!isError) error.name = name;
  if (code) error.code = code;
  return error;
}

function post(body) {
  return new Promise((resolve, reject) => {
    const url = new URL("/v1/call", process.env.TAPE_URL);
    const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(body) };
    request(url, { method: "POST", headers, agent: false }, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        try {
          resolve([response.statusCode, JSON.parse(Buffer.concat(chunks).toString("utf8"))]);
        } catch (error) {
          reject(error);
        }
      });
    }).on("error", reject).end(body);
  });
}

function stop(message, code) {
  write(`tape: ${message}\n`);
  setImmediate(() => {
    throw new TapeVerdict(message, code);
  });
  return new Promise(() => {}); // Whoever waits must not go on.
}

/** The recorded result of a call; rejects with the recorded failure. */
exports.ask = async (tool, args, toolCallId) => {
  let status, answer;
  try {
    [status, answer] = await post(JSON.stringify({ tool, args: args ?? {}, tool_call_id: toolCallId }));
  } catch (error) {
    return stop(`${process.env.TAPE_URL} does not answer: ${error.message}`, "unreachable");
  }
  if (status !== 200) return stop(answer.error?.message ?? `status ${status}`, answer.error?.code);
  if (answer.error) throw failure(answer.error);
  return answer.result;
};
