// SPDX-License-Identifier: Apache-2.0
/**
 * Record the tool calls of a program on a tape, and replay them from it.
 *
 *     import * as tape from "./tape.mjs";
 *
 *     await tape.call("search", search, { query: "x" });
 *     const find = tape.tool("find", async (args) => …);        // the same, wrapped
 *     class Agent { @tape.tool({ sideEffect: true }) async publish(args) { … } }
 *
 *     const session = new tape.Session("run.jsonl", { mode: "record" });
 *     await session.call("search", search, { query: "x" });
 *     session.close();
 *
 * Without a session of its own, a program does what the environment says:
 *
 *     TAPE_URL   ask the server there, which `tape run` and `tape serve` start
 *     TAPE_FILE  use this tape, in the mode of TAPE_MODE ("replay" if not set), records
 *                of the kinds in TAPE_KIND only ("tool,model"; all if not set)
 *     neither    every call runs, nothing is recorded
 *
 * Modes: "replay" answers from the tape alone: everything but a hit is an error, and
 * close() fails for records that were never asked for. "replay+record" also runs what
 * the tape does not have, once, and appends it. "record" runs and appends everything.
 * Where TAPE_URL is set it decides, whatever mode a session was opened in: in a live
 * replay and from a fork on the server tells a call to run, with which arguments, and is
 * told what came of it.
 *
 * Nothing falls through to a live call silently. What is recorded is NOT redacted unless
 * a session has a `redact` hook. A session holds its tape in memory. Numbers: a whole
 * number is an integer; `float(1)` is 1.0, which is another key. Integers too large for a
 * number come and go as BigInt.
 *
 * This file needs Node 18 and nothing else; `node tape.mjs FILE` walks a tape and says
 * whether every record can be replayed. Its types are in tape.d.mts.
 */
import { createHash } from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import path from "node:path";
import { performance } from "node:perf_hooks";
import { fileURLToPath } from "node:url";

const version = "1";
const kinds = ["tool", "model", "clock", "random"];
const modes = ["replay", "replay+record", "record"];
const maxDifferences = 100;

// ---- errors

/** The tape cannot be used as was asked: not a tape, not JSON, no server. */
export class TapeError extends Error {
  get name() { return this.constructor.name; }
}

/** A call that the tape does not answer. `details` has the members of an error of POST /v1/call. */
export class Verdict extends TapeError {
  constructor(message, details = {}) {
    super(message);
    this.details = details;
  }

  get verdict() { return this.constructor.verdict; }
  get differences() { return this.details.differences ?? []; }
}

/** A record of the tool is left, but with other arguments. */
export class Drift extends Verdict { static verdict = "drift"; }
/** Nothing left on the tape could be this call. */
export class Miss extends Verdict { static verdict = "miss"; }
/** The call was on the tape, and all its answers are used up. */
export class Exhausted extends Verdict { static verdict = "exhausted"; }
/** The call is on the tape, its content is not. */
export class Gap extends Verdict { static verdict = "gap"; }

/** The call would have to run live and may not; the message says what to do. */
export class Refused extends TapeError {}

/** The replay as a whole was not clean; `stats` says why. */
export class Unclean extends TapeError {
  constructor(message, stats) {
    super(message);
    this.stats = stats;
  }
}

/** The recorded failure of a call, served as its answer. */
export class RecordedError extends Error {
  constructor({ message = "", code = "", type = "", seq = 0, result = null } = {}) {
    const text = message || type;
    super(code && text ? `${code}: ${text}` : text || `${code} failed`);
    Object.assign(this, { name: "RecordedError", recordedMessage: message, code, type, seq, result });
  }
}

// ---- JSON and keys
//
// A tree is JSON without loss: Map for objects, Num for numbers as they are spelled.

class Num {
  constructor(text) { this.text = text; }
}

/** A number that JSON spells with a fraction, also where it is whole. */
export class Float {
  constructor(value) {
    if (!Number.isFinite(value)) throw new TypeError(`${value} is not JSON`);
    this.value = value;
  }

  valueOf() { return this.value; }
}

/** 1.0 where 1 would be an integer. */
export function float(value) { return new Float(value); }

const numberAt = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const words = [["true", true], ["false", false], ["null", null]];

/** Reads JSON text as a tree. */
function read(text) {
  let at = 0;
  const fail = (why) => { throw new SyntaxError(`invalid JSON at ${at}: ${why}`); };
  const space = () => { while (" \t\n\r".includes(text[at] ?? "x")) at++; };
  const string = () => {
    for (let end = at + 1; ; end++) {
      end = text.indexOf('"', end);
      if (end < 0) fail("a string without an end");
      let slashes = 0;
      while (text[end - 1 - slashes] === "\\") slashes++;
      if (slashes % 2 === 0) {
        const value = JSON.parse(text.slice(at, end + 1));
        at = end + 1;
        return value;
      }
    }
  };
  // Calls item for each item up to the closing character.
  const list = (close, item) => {
    at++;
    space();
    if (text[at] === close) { at++; return; }
    for (;;) {
      item();
      space();
      if (text[at] === close) { at++; return; }
      if (text[at] !== ",") fail(`want , or ${close}`);
      at++;
      space();
    }
  };
  const value = () => {
    switch (text[at]) {
      case '"': return string();
      case "[": {
        const items = [];
        list("]", () => items.push(value()));
        return items;
      }
      case "{": {
        const members = new Map();
        list("}", () => {
          if (text[at] !== '"') fail("want a name");
          const name = string();
          space();
          if (text[at] !== ":") fail("want :");
          at++;
          space();
          members.set(name, value());
        });
        return members;
      }
    }
    for (const [word, is] of words) {
      if (text.startsWith(word, at)) { at += word.length; return is; }
    }
    numberAt.lastIndex = at;
    const number = numberAt.exec(text);
    if (!number) fail(at < text.length ? "not a JSON value" : "unexpected end");
    at = numberAt.lastIndex;
    return new Num(number[0]);
  };
  return guard(() => {
    space();
    const tree = value();
    space();
    if (at < text.length) fail("text after the value");
    return tree;
  });
}

/** The stack is the bound of nesting. */
function guard(work) {
  try {
    return work();
  } catch (error) {
    if (error instanceof RangeError) throw new SyntaxError("nested too deeply");
    throw error;
  }
}

/** The tree of a value, as JSON.stringify would have it, but nothing is lost silently. */
function treeOf(value, name = "") {
  switch (typeof value) {
    case "undefined": return null;
    case "boolean": case "string": return value;
    case "bigint": return new Num(String(value));
    case "number":
      if (!Number.isFinite(value)) throw new TypeError(`${value} is not JSON`);
      return new Num(JSON.stringify(value));
    case "object": break;
    default: throw new TypeError(`a ${typeof value} is not JSON`);
  }
  if (value === null) return null;
  if (value instanceof Float) return new Num(repr(value.value));
  if (typeof value.toJSON === "function") return treeOf(value.toJSON(name));
  if (Array.isArray(value)) return value.map((inner, i) => treeOf(inner, String(i)));
  if (value instanceof Map || value instanceof Set) throw new TypeError(`a ${value.constructor.name} is not JSON`);
  const members = new Map();
  for (const [member, inner] of Object.entries(value)) {
    if (inner !== undefined) members.set(member, treeOf(inner, member));
  }
  return members;
}

/** The value of a tree. */
function plain(tree) {
  if (tree instanceof Num) {
    const number = Number(tree.text);
    if (/[.eE]/.test(tree.text)) return number;
    return Number.isSafeInteger(number) ? number || 0 : BigInt(tree.text);
  }
  if (Array.isArray(tree)) return tree.map(plain);
  if (!(tree instanceof Map)) return tree;
  const object = {};
  for (const [name, inner] of tree) {
    // An assignment to __proto__ would not make a member.
    Object.defineProperty(object, name, { value: plain(inner), writable: true, enumerable: true, configurable: true });
  }
  return object;
}

function write(tree, canon = false) {
  if (typeof tree === "string") return JSON.stringify(canon ? strip(tree) : tree);
  if (tree instanceof Num) return canon ? canonicalNumber(tree.text) : tree.text;
  if (Array.isArray(tree)) return `[${tree.map((inner) => write(inner, canon)).join(",")}]`;
  if (!(tree instanceof Map)) return String(tree);
  let members = [...tree];
  if (canon) members = members.filter(([, inner]) => inner !== null).sort(([a], [b]) => byCodePoint(a, b));
  return `{${members.map(([name, inner]) => `${JSON.stringify(name)}:${write(inner, canon)}`).join(",")}}`;
}

/** What Python's str.isspace says of a UTF-16 unit. */
function isSpace(c) {
  return c === 0x20 || (c >= 0x09 && c <= 0x0d) || (c >= 0x1c && c <= 0x1f) || c === 0x85 || c === 0xa0 || c === 0x1680 ||
    (c >= 0x2000 && c <= 0x200a) || c === 0x2028 || c === 0x2029 || c === 0x202f || c === 0x205f || c === 0x3000;
}

function strip(text) {
  let from = 0, to = text.length;
  while (from < to && isSpace(text.charCodeAt(from))) from++;
  while (to > from && isSpace(text.charCodeAt(to - 1))) to--;
  return text.slice(from, to);
}

/** Orders by code points, where < orders by UTF-16 units. */
function byCodePoint(a, b) {
  let i = 0;
  while (i < a.length && i < b.length && a[i] === b[i]) i++;
  if (i === a.length || i === b.length) return a.length - b.length;
  // The second halves of pairs that begin alike count with their first.
  if (a.codePointAt(i - 1) > 0xffff || b.codePointAt(i - 1) > 0xffff) i--;
  return a.codePointAt(i) - b.codePointAt(i);
}

function canonicalNumber(text) {
  if (!/[.eE]/.test(text)) return text === "-0" ? "0" : text;
  const x = Number(text);
  if (!Number.isFinite(x)) return x < 0 ? "-1e999" : "1e999";
  return repr(round6(x));
}

/** Rounds to 6 decimals, half to even on the exact binary value. */
function round6(x) {
  // From 2^53 on there are no fractions; of zero toFixed loses the sign.
  if (x === 0 || Math.abs(x) >= 2 ** 53) return x;
  // toFixed rounds the exact value too, but halves up. A double is half a millionth away
  // from a whole number of them only as an odd multiple of 1/128.
  if (Math.abs((x * 128) % 2) !== 1) return Number(x.toFixed(6));
  const cut = x.toFixed(7).slice(0, -1);
  return Number(Number(cut.at(-1)) % 2 === 0 ? cut : x.toFixed(6));
}

/** A float as Python's repr spells it. */
function repr(x) {
  const sign = x < 0 || Object.is(x, -0) ? "-" : "";
  const [mantissa, power] = Math.abs(x).toExponential().split("e");
  const digits = mantissa.replace(".", "");
  const exponent = Number(power);
  if (x !== 0 && (exponent < -4 || exponent >= 16)) {
    return `${sign}${mantissa}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
  }
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

function keyOf(tool, tree) {
  return `${tool}:${createHash("sha256").update(guard(() => write(tree, true))).digest("hex").slice(0, 12)}`;
}

/** The value of a JSON text; integers that are not safe as BigInt. */
export function parse(text) { return guard(() => plain(read(text))); }

/** The value as JSON text on one line. */
export function dump(value) { return guard(() => write(treeOf(value))); }

/** The canonical form of a JSON text, over which keys are made. */
export function canonical(text) { return guard(() => write(read(text), true)); }

/** The key of a call: the tool and 12 hex digits of the hash of its arguments. */
export function key(tool, args) { return keyOf(tool, guard(() => treeOf(args))); }

/** key() of arguments that are JSON text. */
export function keyOfText(tool, text) { return keyOf(tool, read(text)); }

function join(at, name) {
  if (!/^[\p{L}\p{Nd}_-]+$/u.test(name)) return `${at}[${JSON.stringify(name)}]`;
  return at ? `${at}.${name}` : name;
}

/** Adds to out every place where two trees differ; undefined is what is not there. */
function diff(out, at, a, b) {
  if (a instanceof Map && b instanceof Map) {
    for (const name of [...new Set([...a.keys(), ...b.keys()])].sort(byCodePoint)) diff(out, join(at, name), a.get(name), b.get(name));
    return;
  }
  if (Array.isArray(a) && Array.isArray(b)) {
    for (let i = 0; i < Math.max(a.length, b.length); i++) diff(out, `${at}[${i}]`, a[i], b[i]);
    return;
  }
  const [recorded, live] = [a, b].map((side) => (side === undefined ? undefined : write(side)));
  if (recorded === live) return;
  const difference = { path: at };
  if (recorded !== undefined) difference.recorded = recorded;
  if (live !== undefined) difference.live = live;
  out.push(difference);
}

function shown(differences, more) {
  const short = (text) => (text === undefined ? "(absent)" : text.length <= 80 ? text : `${text.slice(0, 80)}…`);
  const parts = differences.map((d) => `${d.path || "(whole)"} ${short(d.recorded)} -> ${short(d.live)}`);
  return [...parts, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

// ---- the tape

/** An RFC 3339 time in nanoseconds, undefined if it is none. */
function nanoseconds(text) {
  const match = typeof text === "string" &&
    /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?([Zz]|[+-]\d\d:\d\d)$/.exec(text);
  if (!match) return undefined;
  const ms = Date.parse(`${match[1]}T${match[2]}${match[4].toUpperCase()}`);
  return Number.isNaN(ms) ? undefined : BigInt(ms) * 1000000n + BigInt((match[3] ?? "").padEnd(9, "0"));
}

function now() {
  const ms = performance.timeOrigin + performance.now();
  return `${new Date(ms).toISOString().slice(0, -1)}${String(Math.floor((ms % 1) * 1000)).padStart(3, "0")}Z`;
}

/** What a member must be that is there and not null. */
const memberRules = [
  ["seq", (v) => v instanceof Num && Number.isSafeInteger(Number(v.text)), "a whole number"],
  ["ms", (v) => v instanceof Num && Math.abs(Number(v.text)) < 1e15, "a number"],
  ["tool", (v) => typeof v === "string", "a string"],
  ["key", (v) => typeof v === "string", "a string"],
  ["kind", (v) => typeof v === "string", "a string"],
  ["redacted", (v) => Array.isArray(v), "a list"],
];

/** The manifest, if there is one, and the records of a tape, as trees. */
function readTape(file) {
  let manifest;
  const records = [];
  const lines = fs.readFileSync(file, "utf8").replace(/^\ufeff/, "").split("\n");
  lines.forEach((raw, i) => {
    const text = raw.replace(/^[ \t\r]+|[ \t\r]+$/g, "");
    if (!text) return;
    try {
      const line = read(text);
      if (!(line instanceof Map)) throw new SyntaxError("not an object");
      if (line.has("tape")) {
        if (line.get("tape") !== version) throw new SyntaxError(`tape version ${write(line.get("tape"))}, and this client knows "${version}"`);
        if (manifest || records.length) throw new SyntaxError("a manifest that is not the first line");
        manifest = line;
        return;
      }
      for (const [name, right, what] of memberRules) {
        const value = line.get(name) ?? null;
        if (value !== null && !right(value)) throw new SyntaxError(`member "${name}": want ${what}`);
      }
      records.push(line);
    } catch (error) {
      throw new TapeError(`${file}:${i + 1}: ${error.message}`);
    }
  });
  return { manifest, records };
}

const numberIn = (tree) => (tree instanceof Num ? Number(tree.text) : 0);
const listIn = (tree) => (Array.isArray(tree) ? tree : []);
const textIn = (tree) => (typeof tree === "string" ? tree : tree === null || tree === undefined ? "" : write(tree));

/** The error member of a record: a bare string is a message. */
function failure(tree) {
  if (tree === null || tree === undefined || tree === false || tree === "") return null;
  if (!(tree instanceof Map)) return { message: textIn(tree), code: "", type: "" };
  return { message: textIn(tree.get("message")), code: textIn(tree.get("code")), type: textIn(tree.get("type")) };
}

/** A record with what matching needs to know of it. */
class Step {
  constructor(place, line, gaps, folder) {
    this.kind = line.get("kind") || "tool";
    this.tool = line.get("tool") || "";
    this.key = this.recordedKey = line.get("key") || "";
    this.seq = numberIn(line.get("seq"));
    const listed = gaps.get(this.seq) ?? [];
    if (this.seq < 1) this.seq = place + 1;
    this.args = line.get("args") ?? null;
    this.result = line.get("result") ?? null;
    this.error = failure(line.get("error"));
    this.start = nanoseconds(line.get("start"));
    this.begin = this.end = BigInt(place);
    this.ms = Math.max(0, numberIn(line.get("ms")));
    this.expires = nanoseconds(line.get("expires"));
    this.consumed = false;
    this.folder = folder;
    const body = line.get("body");
    for (const b of Array.isArray(body) ? body : [body]) {
      if (b instanceof Map) this[b.get("of") === "args" ? "argsBody" : "resultBody"] = b;
    }
    const paths = listIn(line.get("redacted")).filter((p) => typeof p === "string");
    const fidelity = line.get("fidelity");
    this.redactedArgs = paths.some((p) => p.startsWith("args")) || (fidelity === "redacted" && paths.length === 0);
    this.redactedAnswer = paths.some((p) => p.startsWith("result") || p.startsWith("error"));
    const found = (what) => listed.filter((g) => g.get("what") === what).map((g) => ({ what, why: textIn(g.get("why")), fix: textIn(g.get("fix")) }))[0];
    this.argsGap = found("args");
    this.resultGap = found("result");
    if (listed.length) return;
    if (fidelity === "truncated") {
      this.argsGap = { what: "args", why: "cut before they were recorded" };
      this.resultGap = { what: "result", why: "cut before it was recorded" };
    } else if (fidelity === "absent") {
      if (this.args === null && !this.argsBody) this.argsGap = { what: "args", why: "never captured" };
      if (this.result === null && !this.resultBody && !this.error) this.resultGap = { what: "result", why: "never captured" };
    }
  }

  /**
   * The recorded result; a body held by reference is looked for in bodies/ beside the
   * tape, where bundles have it. Throws what says why there is none.
   */
  load() {
    if (!this.resultBody) {
      this.redactedAnswer ||= write(this.result).includes("[REDACTED:");
      return plain(this.result);
    }
    const digest = textIn(this.resultBody.get("sha256"));
    if (!/^[0-9a-f]{64}$/.test(digest)) throw new Error("body without a hash");
    const file = path.join(this.folder, "bodies", digest);
    if (!fs.existsSync(file)) throw new Error(`body ${digest} is not in bodies/ beside the tape`);
    const data = fs.readFileSync(file);
    if (createHash("sha256").update(data).digest("hex") !== digest) throw new Error(`body ${digest} is damaged`);
    const text = data.toString("utf8");
    if (textIn(this.resultBody.get("media_type")).includes("json")) {
      try {
        return parse(text);
      } catch {
        // It is served as the text that it is.
      }
    }
    return text;
  }
}

/** Steps in recorded order; those before `first` are consumed. */
class Queue {
  steps = [];
  first = 0;

  head() {
    while (this.steps[this.first]?.consumed) this.first++;
    return this.steps[this.first];
  }
}

/**
 * Appends records in the order in which their calls began: one that ended waits for those
 * that began before it and still run.
 */
class Recorder {
  constructor(file, nextSeq, done) {
    Object.assign(this, { file, nextSeq, done, running: [], error: null });
    this.fd = fs.openSync(file, "a+", 0o600);
    const { size } = fs.fstatSync(this.fd);
    const last = Buffer.alloc(1);
    if (size > 0 && fs.readSync(this.fd, last, 0, 1, size - 1) === 1 && last[0] !== 0x0a) this.append("");
  }

  append(text) {
    const data = Buffer.from(`${text}\n`);
    for (let at = 0; at < data.length;) at += fs.writeSync(this.fd, data, at);
  }

  begin() {
    if (this.error) throw new TapeError(`${this.file} cannot be written: ${this.error.message}`);
    const slot = { seq: this.nextSeq++, record: null };
    this.running.push(slot);
    return slot;
  }

  end(slot, record) {
    record.done = ++this.done;
    slot.record = record;
    while (this.running[0]?.record) this.flush(this.running.shift().record);
  }

  flush(record) {
    if (!record || this.error) return;
    try {
      this.append(write(recordTree(record)));
    } catch (error) {
      this.error = error;
    }
  }

  close() {
    for (const { record } of this.running) this.flush(record);
    this.running = [];
    fs.closeSync(this.fd);
    if (this.error) throw new TapeError(`${this.file} cannot be written: ${this.error.message}`);
  }
}

/** The members of a record are values, but args and result, which are trees. */
function recordTree(record) {
  return new Map(Object.entries(record).map(([name, v]) => [name, name === "args" || name === "result" ? v : treeOf(v)]));
}

/** What a tape or a server says to a call. */
class Answer {
  constructor(result, error, seq) {
    Object.assign(this, { result, error, seq });
  }

  give(errors) {
    if (!this.error) return this.result;
    const recorded = new RecordedError({ ...this.error, seq: this.seq, result: this.result });
    const name = recorded.type.split(".").at(-1);
    const known = errors.find((cls) => cls.name === name);
    throw known ? new known(recorded.recordedMessage, { cause: recorded }) : recorded;
  }
}

/** One replay or recording. */
export class Session {
  #redact; #audit; #recorder; #steps = []; #byKey = new Map(); #byTool = new Map(); #ran = new Map();
  #effects = new Map(); #latest; #closed = false; #agent;
  #stats = {
    steps: 0, tape_hits: 0, tape_misses: 0, live_tool_calls: 0, real_side_effects: 0, drift_events: 0,
    exhausted: 0, gaps: 0, reordered: 0, redacted_served: 0, expired_served: 0,
  };

  constructor(file, { mode = "replay", redact, kinds: only, url = process.env.TAPE_URL ?? "", audit } = {}) {
    if (!modes.includes(mode)) throw new TapeError(`unknown mode "${mode}", want one of ${modes.join(", ")}`);
    this.url = url.replace(/\/+$/, "");
    this.mode = this.url ? "served" : mode === "replay" ? "strict" : mode;
    this.#redact = redact;
    this.#audit = audit ?? ((entry) => console.error(`tape: replay ran a call live: ${JSON.stringify(entry)}`));
    if (this.url) {
      // With an agent of its own no proxy comes in between.
      this.#agent = new http.Agent({ keepAlive: true });
      return;
    }
    if (file === undefined || file === null) throw new TapeError("a session needs the path of a tape");
    let tape = { manifest: undefined, records: [] };
    if (this.mode === "strict" || fs.existsSync(file)) tape = readTape(file);
    if (this.mode === "strict" && !tape.manifest && tape.records.length === 0) throw new TapeError(`${file}: the tape is empty`);
    const policy = Boolean(tape.manifest?.get("redaction"));
    if (policy && this.mode !== "strict" && !redact) {
      throw new TapeError(`${file} is redacted by a policy, which this client cannot apply to what it would append: ` +
        "give a redact function, or record to another file");
    }
    if (this.mode !== "record") this.#load(file, tape, policy, only && new Set(only));
    for (const line of tape.records) {
      const effect = line.get("side_effect"), tool = line.get("tool") ?? "";
      if (typeof effect === "boolean") this.#effects.set(tool, effect || this.#effects.get(tool) === true);
    }
    if (this.mode !== "strict") {
      const last = tape.records.reduce((max, line) => Math.max(max, numberIn(line.get("seq"))), tape.records.length);
      this.#recorder = new Recorder(file, last + 1, tape.records.length);
    }
  }

  #load(file, { manifest, records }, policy, only) {
    const gaps = new Map();
    for (const gap of listIn(manifest?.get("gaps"))) {
      const seq = gap instanceof Map ? numberIn(gap.get("seq")) : 0;
      if (seq) gaps.set(seq, [...(gaps.get(seq) ?? []), gap]);
    }
    const folder = path.dirname(path.resolve(file));
    const steps = records.map((line, i) => new Step(i, line, gaps, folder));
    const timed = steps.every((step) => step.start !== undefined);
    for (const step of steps) {
      if (only && !only.has(step.kind)) continue;
      if (step.redactedArgs && !this.#redact) {
        throw new TapeError(`${file}: record ${step.seq} has redacted arguments, which live ones cannot match here: ` +
          `replay it with \`tape run ${file} -- CMD\`, which redacts them the same way`);
      }
      if (timed) {
        step.begin = step.start;
        step.end = step.start + BigInt(Math.trunc(step.ms * 1e6));
      }
      try {
        if (!(step.key && (policy || step.argsBody))) step.key = keyOf(step.tool, policy ? step.args : this.#kept("", step.args)[0]);
      } catch (error) {
        throw new TapeError(`${file}: record ${step.seq}: member "args": ${error.message}`);
      }
      this.#steps.push(step);
      queueAt(this.#byKey, `${step.kind} ${step.key}`).steps.push(step);
      queueAt(this.#byTool, `${step.kind} ${step.tool}`).steps.push(step);
    }
  }

  /**
   * The answer of a tool: from the tape, or from fn(args) where the mode lets it run. A
   * recorded failure is thrown as the class among `errors` of its name, else as
   * RecordedError; what the tape does not answer is a Verdict.
   */
  async call(tool, fn, args = null, { kind = "tool", sideEffect, errors = [] } = {}) {
    return this._run(tool, fn, args, { kind, sideEffect, errors });
  }

  /**
   * tool(name, fn) is a function that is a call of the tool each time; @tool(options)
   * makes one of a method. The arguments on the tape are the one argument, null for none,
   * a list of several.
   */
  tool(name, fn, options) { return wrap(() => this, name, fn, options); }

  async _run(tool, run, args, { kind = "tool", sideEffect, errors = [] }) {
    if (!kinds.includes(kind)) throw new TapeError(`${tool}: unknown kind "${kind}", want one of ${kinds.join(", ")}`);
    let tree, redacted;
    try {
      [tree, redacted] = this.#kept("args", guard(() => treeOf(args)));
    } catch (error) {
      throw new TapeError(`arguments of ${tool}: ${error.message}`, { cause: error });
    }
    if (this.#closed) throw new TapeError(`${tool}: the session is closed`);
    const made = { number: ++this.#stats.steps, kind, tool, args: tree, key: keyOf(tool, tree), redacted };
    if (this.url) return this.#served(made, run, args, sideEffect, errors);
    if (this.mode !== "record") {
      let answer;
      try {
        answer = this.#match(made);
      } catch (verdict) {
        if (!(verdict instanceof Verdict)) throw verdict;
        this.#count(verdict);
        if (this.mode === "strict" || !run || verdict instanceof Drift || verdict instanceof Gap) throw verdict;
      }
      if (answer) return answer.give(errors);
    }
    if (!run) throw new TapeError(`${tool}: nothing to run live`);
    return this.#live(made, () => run(args), sideEffect);
  }

  /** A tree as it may be kept, and the paths that differ from what it was. */
  #kept(root, tree) {
    if (!this.#redact) return [tree, []];
    const after = treeOf(this.#redact(plain(tree)));
    const seen = treeOf(plain(tree));
    const changed = [];
    diff(changed, root, seen, after);
    return [exactly(tree, seen, after), changed.map((c) => c.path)];
  }

  // -- matching

  #match(made) {
    const step = this.#byKey.get(`${made.kind} ${made.key}`)?.head();
    if (!step) throw this.#noAnswer(made);
    const reordered = this.#consume(step);
    if (step.resultGap) throw gapOf(made, step, step.resultGap);
    let result;
    try {
      result = guard(() => step.load());
    } catch (error) {
      throw gapOf(made, step, { what: "result", why: `${step.resultBody ? "held by reference: " : ""}${error.message}` });
    }
    this.#stats.tape_hits++;
    this.#stats.reordered += Number(reordered);
    this.#stats.redacted_served += Number(step.redactedAnswer);
    this.#stats.expired_served += Number(step.expires !== undefined && step.expires < BigInt(Date.now()) * 1000000n);
    return new Answer(result, step.error, step.seq);
  }

  #consume(step) {
    step.consumed = true;
    const latest = this.#latest;
    this.#latest = latest === undefined || step.begin > latest ? step.begin : latest;
    return latest !== undefined && step.end <= latest && step.begin < latest;
  }

  #noAnswer(made) {
    const at = `${made.kind} ${made.key}`;
    const served = this.#byKey.get(at)?.steps ?? [];
    const ran = this.#ran.get(at) ?? { times: 0, last: served.at(-1)?.seq };
    const times = served.length + ran.times;
    if (times > 0) {
      return new Exhausted(`exhausted: call ${made.number}: ${made.key} was answered ${times} of ${times} times, last by step ${ran.last}`,
        details(made, { seq: ran.last }));
    }
    const step = this.#byTool.get(`${made.kind} ${made.tool}`)?.head();
    if (!step) return this.#miss(made);
    if (step.argsGap) {
      this.#consume(step);
      return gapOf(made, step, step.argsGap);
    }
    const more = { seq: step.seq, expected: step.key };
    let text = `drift at step ${step.seq}: ${made.tool}: recorded ${step.key}, called ${made.key}`;
    if (!step.argsBody) {
      const changed = this.#differences(step, made);
      Object.assign(more, { recorded_args: plain(this.#kept("", step.args)[0]), differences: changed.slice(0, maxDifferences) });
      text += `: ${shown(more.differences, changed.length - maxDifferences) || "the arguments are the same, but the record's key is not theirs"}`;
    }
    return new Drift(text, details(made, more));
  }

  #differences(step, made) {
    const changed = [];
    diff(changed, "", read(write(this.#kept("", step.args)[0], true)), read(write(made.args, true)));
    return changed;
  }

  #miss(made) {
    const digits = made.key.slice(-13);
    let best;
    for (const queue of this.#byTool.values()) {
      const { kind, tool } = queue.steps[0];
      if (kind !== made.kind) continue;
      let near = [[2, queue, "the same tool, served before"]];
      if (tool !== made.tool) {
        near = [[3, this.#byKey.get(`${kind} ${tool}${digits}`), "the same arguments for another tool"]];
        if (similar(tool, made.tool)) near.push([1, queue, "a similar name"]);
      }
      for (const [weight, steps, why] of near) {
        if (!steps) continue;
        const head = steps.head();
        const step = head ?? steps.steps.at(-1), rank = 2 * weight + Number(Boolean(head));
        if (!best || rank > best.rank || (rank === best.rank && step.seq < best.step.seq)) best = { rank, step, why };
      }
    }
    const text = `miss: call ${made.number}: ${made.key} is not on the tape`;
    if (!best) return new Miss(text, details(made));
    let { step: { seq, tool, key: near, argsBody }, why } = best;
    const [first] = tool === made.tool && !argsBody ? this.#differences(best.step, made) : [];
    if (first) why += `, differs at ${shown([first], 0)}`;
    return new Miss(`${text}; nearest is step ${seq}, ${near}: ${why}`, details(made, { nearest: { seq, tool, key: near, why } }));
  }

  #count(verdict) {
    const name = { drift: "drift_events", miss: "tape_misses", gap: "gaps" }[verdict.verdict] ?? verdict.verdict;
    this.#stats[name]++;
  }

  // -- live calls

  async #live(made, run, sideEffect) {
    const slot = this.#recorder.begin();
    const effect = sideEffect ?? this.#effects.get(made.tool) ?? null;
    this.#countLive(effect);
    if (this.mode === "replay+record") {
      const at = `${made.kind} ${made.key}`;
      this.#ran.set(at, { times: (this.#ran.get(at)?.times ?? 0) + 1, last: slot.seq });
    }
    const start = now(), began = performance.now();
    const { result, kept, error, redacted: hidden, thrown } = await this.#outcome(made, run);
    const ms = Math.round((performance.now() - began) * 1e6) / 1e6;
    const record = { seq: slot.seq, tool: made.tool, key: made.key, args: made.args, result: kept, ms, side_effect: effect, clock: start };
    if (made.kind !== "tool") record.kind = made.kind;
    if (error) record.error = error;
    record.start = start;
    const redacted = [...made.redacted, ...hidden];
    if (redacted.length) Object.assign(record, { fidelity: "redacted", redacted });
    if (!this.#closed) this.#recorder.end(slot, record);
    if (this.mode === "replay+record") this.#audit({ tool: made.tool, key: made.key, side_effect: effect, ms, failed: Boolean(error) });
    if (thrown) throw thrown.cause;
    // As a replay will give it: without what JSON does not have.
    return plain(result);
  }

  #countLive(effect) {
    this.#stats.live_tool_calls++;
    if (effect === true) this.#stats.real_side_effects++;
  }

  /** What comes of a call that runs: its result or what it threw, and what may be kept of either. */
  async #outcome(made, run) {
    let result = null;
    try {
      const value = await run();
      try {
        result = guard(() => treeOf(value));
      } catch (cause) {
        throw new TapeError(`result of ${made.tool}: ${cause.message}`, { cause });
      }
    } catch (cause) {
      const error = failureOf(cause);
      const [message, redacted] = this.#kept("error.message", error.message);
      return { result, kept: null, error: { ...error, message }, redacted, thrown: { cause } };
    }
    const [kept, redacted] = this.#kept("result", result);
    return { result, kept, error: null, redacted };
  }

  // -- the server

  /** The answer of the server, or what comes of the call where the server has it run. */
  async #served(made, run, args, sideEffect, errors) {
    const call = new Map([["tool", made.tool], ["args", made.args], ["kind", made.kind]]);
    if (run) call.set("live", true);
    const [seq, said] = await this.#post("/v1/call", made, call);
    const id = said.get("call"), order = said.get("args");
    if (run && said.get("live") === true && typeof id === "string" && order !== undefined) {
      this.#countLive(sideEffect);
      const { result, kept, error, thrown } = await this.#outcome(made, () => run(this.#ordered(made, order, args)));
      const outcome = error ? ["error", new Map(Object.entries(error))] : ["result", kept];
      await this.#post("/v1/record", made, new Map([["call", id], outcome]));
      if (thrown) throw thrown.cause;
      return plain(result);
    }
    if (!said.has("result")) throw new TapeError(`${this.url}: status 200, and no answer to a call`);
    this.#stats.tape_hits++;
    return new Answer(plain(said.get("result")), failure(said.get("error")), seq).give(errors);
  }

  /** The arguments that the server has a call run with, which may be about other accounts. */
  #ordered(made, order, args) {
    if (write(order) === write(made.args)) return args;
    if (made.redacted.length) {
      throw new TapeError(`${made.tool}: cannot run with other arguments: redact has hidden some of the program's from the server`);
    }
    return plain(order);
  }

  /** The step and the answer of the server; throws what it refuses. */
  async #post(where, made, body) {
    let status, seq, text;
    try {
      [status, seq, text] = await post(this.url + where, write(body), this.#agent);
    } catch (cause) {
      throw new TapeError(`${this.url}: the server of the tape does not answer: ${cause.message}`, { cause });
    }
    let said, failed;
    try {
      said = read(text);
      failed = said.get("error");
      if (status !== 200 && typeof failed.get("code") !== "string") throw new SyntaxError("no answer");
    } catch (cause) {
      throw new TapeError(`${this.url}: status ${status}, and no answer to a call`, { cause });
    }
    if (status === 200) return [seq, said];
    throw this.#refusal(made, failed);
  }

  #refusal(made, failed) {
    const code = failed.get("code"), message = textIn(failed.get("message"));
    if (code === "live_refused") return new Refused(message);
    const known = { tape_drift: Drift, tape_miss: Miss, tape_exhausted: Exhausted, tape_gap: Gap }[code];
    if (!known) return new TapeError(`${made.tool}: ${code}: ${message}`);
    const { code: _, message: __, verdict: ___, ...rest } = plain(failed);
    const differences = listIn(failed.get("differences"));
    if (differences.length) {
      rest.differences = differences.map((d) => {
        const side = (name) => (d.has(name) ? { [name]: write(d.get(name)) } : {});
        return { path: d.get("path"), ...side("recorded"), ...side("live") };
      });
    }
    const verdict = new known(message, rest);
    this.#count(verdict);
    return verdict;
  }

  // -- the end

  /** The records that were not asked for so far. */
  unconsumed() {
    return this.#steps.filter((s) => !s.consumed).map(({ seq, kind, tool, key: k }) => ({ seq, kind, tool, key: k }));
  }

  /** Counts of what this session did; in served mode, of this process alone. */
  stats() { return { mode: this.mode, ...this.#stats, unconsumed: this.unconsumed().length }; }

  /**
   * Ends the session. Throws Unclean if a call was no hit, also one whose error the program
   * swallowed, or, in strict replay, if records were never asked for.
   */
  close() {
    if (this.#closed) return;
    this.#closed = true;
    this.#agent?.destroy();
    const stats = this.stats();
    this.#recorder?.close();
    const bad = { drift: stats.drift_events, miss: stats.tape_misses, exhausted: stats.exhausted, gap: stats.gaps, unconsumed: stats.unconsumed };
    const parts = Object.entries(bad).filter(([, n]) => n > 0);
    if (!parts.some(([what]) => this.mode !== "replay+record" || what === "drift" || what === "gap")) return;
    let text = `the replay was not clean: ${parts.map(([what, n]) => `${n} ${what}`).join(", ")}`;
    if (bad.unconsumed) {
      const left = this.unconsumed();
      text += `: ${left.slice(0, 3).map((u) => `step ${u.seq} ${u.tool}`).join(", ")}${left.length > 3 ? ", …" : ""}`;
    }
    throw new Unclean(text, stats);
  }

  /** Asks for every record in turn: one line each, and whether all was well. */
  _walk(print) {
    let good = true;
    for (const step of this.#steps) {
      const computed = keyOf(step.tool, step.args);
      let said = "hit";
      if (step.recordedKey && step.recordedKey !== computed && !step.argsBody) {
        good = false;
        said = `hit, but the arguments make its key ${computed}`;
      }
      const made = { number: ++this.#stats.steps, kind: step.kind, tool: step.tool, args: step.args, key: step.key };
      try {
        const { error } = this.#match(made);
        if (error) said += `, a failure: ${JSON.stringify(error.message || error.type)}`;
      } catch (verdict) {
        if (!(verdict instanceof Verdict)) throw verdict;
        this.#count(verdict);
        said = verdict.message;
      }
      print(shownSafely(`${String(step.seq).padStart(6)}  ${step.recordedKey || step.key}  ${said}`));
    }
    return good;
  }
}

/**
 * What a hook made of a tree. It has seen values, to which 1.0 is 1: what it left as it was
 * stays as it was spelled.
 */
function exactly(tree, seen, after) {
  if (write(seen) === write(after)) return tree;
  if (tree instanceof Map && after instanceof Map) {
    return new Map([...after].map(([name, v]) => [name, tree.has(name) ? exactly(tree.get(name), seen.get(name), v) : v]));
  }
  if (Array.isArray(tree) && Array.isArray(after)) return after.map((v, i) => (i < tree.length ? exactly(tree[i], seen[i], v) : v));
  return after;
}

/** On a terminal, names that an agent chose are text and nothing else. */
function shownSafely(line) {
  return line.replace(/[\u0000-\u001f\u007f-\u009f]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function queueAt(map, at) {
  if (!map.has(at)) map.set(at, new Queue());
  return map.get(at);
}

function details(made, more = {}) {
  return { call: made.number, kind: made.kind, tool: made.tool, key: made.key, live_args: plain(made.args), ...more };
}

function gapOf(made, step, { what, why, fix }) {
  return new Gap(`gap at step ${step.seq}: ${made.tool}: ${what}: ${why || "not captured"}${fix ? `; fix: ${fix}` : ""}`,
    details(made, { seq: step.seq, ...(fix ? { fix } : {}) }));
}

function failureOf(error) {
  if (error instanceof RecordedError) {
    return { ...(error.code && { code: error.code }), message: error.recordedMessage, ...(error.type && { type: error.type }) };
  }
  if (error instanceof Error) return { message: error.message, type: error.constructor.name || error.name };
  return { message: String(error), type: typeof error };
}

function similar(a, b) {
  [a, b] = [a, b].map((name) => name.replace(/[-_./ ]/g, "").toLowerCase());
  return a === b || (Math.min(a.length, b.length) >= 3 && (a.startsWith(b) || b.startsWith(a) || a.endsWith(b) || b.endsWith(a)));
}

function post(url, body, agent) {
  return new Promise((resolve, reject) => {
    const headers = { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) };
    const request = http.request(url, { method: "POST", agent, headers }, (response) => {
      const parts = [];
      response.on("data", (part) => parts.push(part));
      response.on("error", reject);
      response.on("end", () => resolve([response.statusCode, Number(response.headers["tape-seq"] ?? 0), Buffer.concat(parts).toString("utf8")]));
    });
    request.on("error", reject);
    request.end(body);
  });
}

function wrap(current, name, fn, options) {
  const wrapped = (tool, method, opts) => async function called(...given) {
    const at = current();
    if (!at) return method.apply(this, given);
    const args = given.length > 1 ? given : given[0] ?? null;
    const run = (others) => method.apply(this, others === args ? given : given.length > 1 ? others : [others]);
    return at._run(tool, run, args, opts);
  };
  if (typeof fn === "function") return wrapped(name, fn, options ?? {});
  const { name: called, ...opts } = name ?? {};
  return (method, context) => wrapped(called ?? String(context.name), method, opts);
}

// ---- the session of the environment

let chosen, started = false;

/** The session that call and tool use: that of use(), else the one the environment asks for. */
export function session() {
  if (!started) {
    const { TAPE_URL, TAPE_FILE, TAPE_MODE, TAPE_KIND } = process.env;
    if (TAPE_URL || TAPE_FILE) chosen = new Session(TAPE_FILE, { mode: TAPE_MODE || "replay", kinds: TAPE_KIND?.split(",") });
    started = true;
  }
  return chosen;
}

/** Makes call and tool use this session, with undefined none at all. */
export function use(of) {
  chosen = of;
  started = true;
}

/** Session.call of session(); without one, fn runs and nothing is recorded. */
export async function call(tool, fn, args = null, options = {}) {
  const current = session();
  if (current) return current.call(tool, fn, args, options);
  if (!fn) throw new TapeError(`${tool}: nothing to run live`);
  return fn(args);
}

/** Session.tool of session(), which is looked up at each call. */
export function tool(name, fn, options) { return wrap(session, name, fn, options); }

process.on("exit", () => {
  if (!chosen) return;
  try {
    chosen.close();
  } catch (error) {
    if (chosen.url) return; // the server reports
    console.error(`tape: ${error.message}`);
    process.exitCode = 1;
  }
});

/** Walks a tape: each record asks for its own answer. 0 if all have one. */
function main(argv) {
  if (argv.length !== 1 || argv[0].startsWith("-")) {
    console.error("usage: node tape.mjs FILE");
    return 2;
  }
  try {
    const walk = new Session(argv[0], { redact: (value) => value, url: "" });
    const good = walk._walk(console.log);
    console.log(JSON.stringify(walk.stats()));
    walk.close();
    return good ? 0 : 1;
  } catch (error) {
    console.error(`tape: ${error.message}`);
    return error instanceof Unclean ? 1 : 2;
  }
}

if (process.argv[1] && fs.existsSync(process.argv[1]) && fs.realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  process.exitCode = main(process.argv.slice(2));
}
