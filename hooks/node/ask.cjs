"use strict";
// Asking the tape, and how its answers reach a framework.
//
// A recorded failure is thrown. A verdict other than hit ends the process as an
// uncaught error does: frameworks turn whatever a tool throws into an answer for the
// model, and this must not become one. In a live replay and from a fork on, the tape has
// the program run a call, and is told what came of it.

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

function post(path, body) {
  return new Promise((resolve, reject) => {
    const url = new URL(path, process.env.TAPE_URL);
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

/** The good answer of the server; any other stops the process. */
async function answered(path, body) {
  let status, answer;
  try {
    [status, answer] = await post(path, JSON.stringify(body));
  } catch (error) {
    return stop(`${process.env.TAPE_URL} does not answer: ${error.message}`, "unreachable");
  }
  if (status !== 200) return stop(answer.error?.message ?? `status ${status}`, answer.error?.code);
  return answer;
}

/** The arguments that are to be others than those asked with, by name; undefined where they have no names. */
function othersOf(asked, args) {
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  if (same(asked, args)) return {};
  const named = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  if (!named(asked) || !named(args)) return undefined;
  return Object.fromEntries(Object.entries(args).filter(([name, value]) => !same(asked[name], value)));
}

/** Arguments with others in place. */
exports.withOthers = (args, others) => (Object.keys(others).length > 0 ? { ...args, ...others } : args);

/** Runs a call and reports what came of it. */
async function ordered({ call, args }, asked, run, told) {
  const others = othersOf(asked, args);
  if (!others) return stop("the tool cannot be run with other arguments: they have no names", "live_refused");
  let result;
  try {
    result = await run(others);
  } catch (error) {
    const failed = { type: error?.constructor?.name ?? typeof error, message: String(error?.message ?? error) };
    await answered("/v1/record", { call, error: failed });
    throw error;
  }
  await answered("/v1/record", { call, result: told(result) ?? null });
  return result;
}

/**
 * The result of a call, as recorded; rejects with the recorded failure. Where the tape
 * has the call run, it is that of run(others), which gives the tool other arguments under
 * these names. Shaped makes of a recorded result what run returns, and told the reverse.
 */
exports.ask = async (tool, args, toolCallId, run, { shaped = (result) => result, told = (result) => result } = {}) => {
  const asked = args ?? {};
  const answer = await answered("/v1/call", { tool, args: asked, tool_call_id: toolCallId, live: true });
  if (answer.live) return ordered(answer, asked, run, told);
  if (answer.error) throw failure(answer.error);
  return shaped(answer.result);
};
