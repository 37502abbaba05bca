// Tests of the client: node --test in this folder.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import * as tape from "./tape.mjs";

const here = path.dirname(fileURLToPath(import.meta.url));
const shared = path.join(here, "../../tape/testdata");
const lines = (file) => fs.readFileSync(file, "utf8").split("\n").filter(Boolean).map((line) => JSON.parse(line));

let folder;
beforeEach(() => {
  folder = fs.mkdtempSync(path.join(os.tmpdir(), "tape-"));
  for (const name of ["TAPE_URL", "TAPE_FILE", "TAPE_MODE", "TAPE_KIND"]) delete process.env[name];
});
afterEach(() => {
  tape.use(undefined);
  fs.rmSync(folder, { recursive: true });
});

const at = (name) => path.join(folder, name);

function written(...records) {
  fs.writeFileSync(at("run.jsonl"), records.map((r) => `${typeof r === "string" ? r : JSON.stringify(r)}\n`).join(""));
  return at("run.jsonl");
}

function message(work) {
  try {
    work();
  } catch (error) {
    return error.message;
  }
  return "";
}

const never = () => assert.fail("ran live");
class ToolError extends Error {}

describe("keys", () => {
  it("are those of the conformance vectors", () => {
    for (const { name, tool, args_json: text, canonical, key } of lines(path.join(shared, "key_vectors.jsonl"))) {
      assert.equal(tape.canonical(text), canonical, name);
      assert.equal(tape.keyOfText(tool, text), key, name);
    }
  });

  it("are over the forms of a plain Python recorder", () => {
    for (const [text, form] of lines(path.join(shared, "python_canonical.jsonl"))) assert.equal(tape.canonical(text), form, text);
  });

  it("round halves to even on the exact binary value", () => {
    for (const [text, form] of [
      ["0.0078125", "0.007812"], ["0.0234375", "0.023438"], ["-0.0078125", "-0.007812"], ["1048576.0078125", "1048576.007812"],
      ["35184372088832.0078125", "35184372088832.01"], ["-0.0", "-0.0"], ["1e-7", "0.0"], ["-1e999", "-1e999"], ["9007199254740993.0", "9007199254740992.0"],
    ]) assert.equal(tape.canonical(text), form, text);
  });

  it("sort by code point, also where UTF-16 does not", () => {
    assert.equal(tape.canonical('{"\\ud83d\\ude80":1,"\\uff5e":2,"a\\ude80":3,"a\\u000b":4,"a":5}'), '{"a":5,"a\\u000b":4,"a\\ude80":3,"～":2,"🚀":1}');
  });

  it("are of values as JSON.stringify spells them", () => {
    for (const [value, text] of [
      [{ b: undefined, a: [undefined, -0, 1e21, 10n ** 20n, tape.float(1), tape.float(1e-5)] }, '{"a":[null,0,1e+21,100000000000000000000,1.0,1e-05]}'],
      [new Date(0), '"1970-01-01T00:00:00.000Z"'], [undefined, "null"], ["\ud800", '"\\ud800"'],
    ]) assert.equal(tape.dump(value), text);
  });

  it("come from JSON alone", () => {
    const round = {};
    round.round = round;
    for (const value of [NaN, Infinity, () => 1, Symbol("x"), new Map(), new Set(), round]) assert.throws(() => tape.dump(value));
    assert.throws(() => tape.float(NaN));
    for (const text of ["", "{", "[1,]", "{,}", '{"a"}', '{"a":1,}', "01", "1.", "+1", "NaN", '"a', '"\n"', "[1] 2", "tru", "[".repeat(1e6), '{"a":1 "b":2}', "\u00a01"]) {
      assert.throws(() => tape.parse(text), SyntaxError, text.slice(0, 20));
    }
  });

  it("lose nothing of what is read", () => {
    assert.deepEqual(tape.parse('{"big":12345678901234567890,"safe":9007199254740991,"f":1.0,"e":1e2,"z":-0}'),
      { big: 12345678901234567890n, safe: 9007199254740991, f: 1, e: 100, z: 0 });
    const odd = tape.parse('{"__proto__":{"x":1},"a\\\\":"\\"\\\\"}');
    assert.deepEqual(Object.keys(odd), ["__proto__", "a\\"]);
    assert.equal({}.x, undefined);
  });
});

describe("scenarios", () => {
  for (const scenario of lines(path.join(here, "../testdata/scenarios.jsonl"))) {
    it(scenario.name, async () => {
      const session = new tape.Session(written(...scenario.tape), { mode: scenario.mode, kinds: scenario.kinds, audit: () => {} });
      for (const call of scenario.calls) {
        let got;
        try {
          const live = call.live && (() => tape.parse(call.live));
          got = { result: tape.dump(await session.call(call.tool, live, tape.parse(call.args), { kind: call.kind })) };
        } catch (error) {
          if (error instanceof tape.RecordedError) {
            got = { result: tape.dump(error.result), error: { code: error.code, message: error.recordedMessage, type: error.type } };
          } else {
            assert.ok(error instanceof tape.Verdict, error.stack);
            got = { verdict: error.verdict, message: error.message };
            if (error.differences.length) got.differences = error.differences;
          }
        }
        assert.deepEqual(got, call.want);
      }
      assert.equal(message(() => session.close()), scenario.close);
      assert.deepEqual(session.stats(), scenario.stats);
    });
  }
});

describe("recording", () => {
  it("writes the core members", async () => {
    const session = new tape.Session(at("new.jsonl"), { mode: "record" });
    assert.deepEqual(await session.call("add", ({ a, b }) => [a, b, undefined], { b: 10n ** 20n, a: 1.5 }, { sideEffect: false }), [1.5, 10n ** 20n, null]);
    session.close();
    const text = fs.readFileSync(at("new.jsonl"), "utf8");
    assert.match(text, /"args":\{"b":100000000000000000000,"a":1.5\}/);
    const [record] = lines(at("new.jsonl"));
    assert.deepEqual(Object.keys(record), ["seq", "tool", "key", "args", "result", "ms", "side_effect", "clock", "start", "done"]);
    assert.deepEqual([record.seq, record.tool, record.side_effect, record.done], [1, "add", false, 1]);
    assert.equal(record.key, tape.key("add", { a: 1.5, b: 10n ** 20n }));
    assert.match(record.clock, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    if (process.platform !== "win32") assert.equal(fs.statSync(at("new.jsonl")).mode & 0o777, 0o600, "tapes hold what users said");
  });

  it("records failures, and gives them back as what they were", async () => {
    const fail = () => { throw new ToolError("503 down"); };
    let session = new tape.Session(at("new.jsonl"), { mode: "record" });
    await assert.rejects(session.call("send", fail), ToolError);
    await assert.rejects(session.call("odd", () => Promise.reject("text")), (e) => e === "text");
    session.close();
    assert.deepEqual(lines(at("new.jsonl")).map((r) => r.error), [{ message: "503 down", type: "ToolError" }, { message: "text", type: "string" }]);
    session = new tape.Session(at("new.jsonl"));
    await assert.rejects(session.call("send", never, null, { errors: [TypeError, ToolError] }),
      (e) => e instanceof ToolError && e.message === "503 down" && e.cause instanceof tape.RecordedError);
    await assert.rejects(session.call("odd", never), tape.RecordedError);
    session.close();
  });

  it("keeps records in the order in which calls began", async () => {
    const session = new tape.Session(at("new.jsonl"), { mode: "record" });
    let release;
    const gate = new Promise((resolve) => { release = resolve; });
    const slow = session.call("slow", () => gate);
    await session.call("quick", () => 1);
    release("x");
    assert.equal(await slow, "x");
    session.close();
    assert.deepEqual(lines(at("new.jsonl")).map((r) => [r.seq, r.tool, r.done]), [[1, "slow", 2], [2, "quick", 1]]);
  });

  it("goes on where a file ended, and tells of calls that a replay ran", async () => {
    fs.writeFileSync(at("run.jsonl"), '{"seq":4,"tool":"a","args":{},"result":1}');
    const told = [];
    const session = new tape.Session(at("run.jsonl"), { mode: "replay+record", audit: (entry) => told.push(entry) });
    await session.call("b", () => 2);
    session.close();
    assert.deepEqual(lines(at("run.jsonl")).map((r) => [r.seq, r.tool]), [[4, "a"], [5, "b"]]);
    assert.deepEqual(told.map((t) => [t.tool, t.failed, t.side_effect]), [["b", false, null]]);
  });

  it("refuses results that are not JSON", async () => {
    const session = new tape.Session(at("new.jsonl"), { mode: "record" });
    await assert.rejects(session.call("t", () => new Map()), /result of t: a Map is not JSON/);
    session.close();
    assert.match(lines(at("new.jsonl"))[0].error.message, /a Map is not JSON/);
  });

  it("keeps answers where the disk is full, and then stops", async (t) => {
    const session = new tape.Session(at("new.jsonl"), { mode: "record" });
    t.mock.method(fs, "writeSync", () => { throw new Error("disk full"); });
    assert.equal(await session.call("t", () => 1), 1);
    await assert.rejects(session.call("t", never), /cannot be written: disk full/);
    assert.throws(() => session.close(), /cannot be written/);
  });
});

describe("redaction", () => {
  const hide = (value) => {
    if (typeof value === "string") return value.replaceAll("s3cret", "[hidden]");
    return value && typeof value === "object" && "token" in value ? { ...value, token: "[hidden]" } : value;
  };

  it("sees everything that is kept", async () => {
    let session = new tape.Session(at("new.jsonl"), { mode: "record", redact: hide });
    assert.equal(await session.call("a", () => "s3cret", { token: "s3cret", n: tape.float(1) }), "s3cret", "the program has the real answer");
    await assert.rejects(session.call("b", () => { throw new ToolError("bad token s3cret"); }), /s3cret/);
    session.close();
    const text = fs.readFileSync(at("new.jsonl"), "utf8");
    assert.doesNotMatch(text, /s3cret/);
    assert.match(text, /"n":1\.0/, "what the hook left stays as it was spelled");
    const [first, second] = lines(at("new.jsonl"));
    assert.deepEqual([first.redacted, first.fidelity, second.redacted], [["args.token", "result"], "redacted", ["error.message"]]);
    session = new tape.Session(at("new.jsonl"), { redact: hide });
    assert.equal(await session.call("a", never, { n: tape.float(1), token: "s3cret" }), "[hidden]");
    await assert.rejects(session.call("b", never), /hidden/);
    assert.equal(session.stats().redacted_served, 2);
    session.close();
  });

  it("of arguments is refused without the hook", () => {
    for (const redacted of [{ redacted: ["args.token"] }, { fidelity: "redacted" }]) {
      const file = written({ tape: "1", redaction: { policy: "p" } }, { seq: 3, tool: "t", args: {}, ...redacted });
      assert.throws(() => new tape.Session(file), /record 3 has redacted arguments.*`tape run .*run\.jsonl -- CMD`/);
    }
  });

  it("by a policy that met no arguments is no obstacle, but to recording", async () => {
    const file = written({ tape: "1", redaction: { policy: "p" } }, { seq: 1, tool: "t", args: {}, result: 1, redacted: ["result.x"] });
    const session = new tape.Session(file);
    assert.equal(await session.call("t", never, {}), 1);
    session.close();
    for (const mode of ["record", "replay+record"]) assert.throws(() => new tape.Session(file, { mode }), /redacted by a policy/);
  });
});

describe("files", () => {
  it("that are no tapes", () => {
    for (const [text, want] of [
      ["", /empty/], ["\n\n", /empty/], ["[1]", /run\.jsonl:1: not an object/], ['{"seq":1,"tool":"t"}\n{"seq":2,', /run\.jsonl:2: /],
      ['{"tape":"2"}', /tape version "2"/], ['{"tape":null}', /tape version null/], ['{"seq":1}\n{"tape":"1"}', /not the first line/],
      ['{"seq":"x"}', /member "seq": want a whole number/], ['{"seq":1e999}', /seq/], ['{"ms":1e999}', /ms/], ['{"tool":[]}', /tool/],
      ['{"seq":1.5}', /seq/], ['{"redacted":1}', /redacted/], ["[".repeat(1e6), /nested/],
    ]) {
      const file = written(text);
      assert.throws(() => new tape.Session(file), (e) => e instanceof tape.TapeError && want.test(e.message), text.slice(0, 40));
    }
    assert.throws(() => new tape.Session(at("none")), { code: "ENOENT" });
    assert.throws(() => new tape.Session(written("{}"), { mode: "live" }), /unknown mode/);
    assert.throws(() => new tape.Session(), /path/);
  });

  it("with odd lines", async () => {
    fs.writeFileSync(at("run.jsonl"), Buffer.concat([Buffer.from('\ufeff\r\n  {"tape":"1","gaps":7}\r\n\r\n{"seq":2.0,"tool":"t","args":{"a":"'),
      Buffer.from([0xff]), Buffer.from('"},"body":[{"of":[1]},3],"side_effect":"?"}')]));
    const session = new tape.Session(at("run.jsonl"));
    await assert.rejects(session.call("t", never, { a: "\ufffd" }), /body without a hash/);
  });

  it("have bodies beside them", async () => {
    const data = '{"n": 1}', digest = createHash("sha256").update(data).digest("hex");
    const body = (seq, more) => ({ seq, tool: "t", args: { n: seq }, body: { sha256: digest, bytes: data.length, ...more } });
    const session = new tape.Session(written(body(1, { media_type: "application/json" }), body(2), body(3), { ...body(4), body: { sha256: "0".repeat(64) } }));
    await assert.rejects(session.call("t", never, { n: 4 }), /held by reference: body 000.* is not in bodies\//);
    fs.mkdirSync(at("bodies"));
    fs.writeFileSync(at(`bodies/${digest}`), data);
    assert.deepEqual(await session.call("t", never, { n: 1 }), { n: 1 });
    assert.equal(await session.call("t", never, { n: 2 }), data);
    fs.writeFileSync(at(`bodies/${digest}`), "other");
    await assert.rejects(session.call("t", never, { n: 3 }), (e) => e instanceof tape.Gap && /damaged/.test(e.message));
  });

  it("of one call five thousand times", async () => {
    const session = new tape.Session(written(...Array.from({ length: 5000 }, (_, i) => ({ seq: i + 1, tool: "poll", args: {}, result: i }))));
    for (let i = 0; i < 5000; i++) assert.equal(await session.call("poll", never, {}), i);
    session.close();
  });
});

describe("tools", () => {
  it("wrap functions and methods", async () => {
    const session = new tape.Session(at("new.jsonl"), { mode: "record" });
    const add = session.tool("add", (a, b) => a + b, { sideEffect: false });
    // What a compiler makes of a decorated method.
    const greet = session.tool({ name: "hello", sideEffect: true })(async function (name) { return `${this.word} ${name}`; }, { kind: "method", name: "greet" });
    const plain = session.tool()(function () { return 1; }, { kind: "method", name: "plain" });
    assert.equal(await add(1, 2), 3);
    assert.equal(await greet.call({ word: "hi" }, "bob"), "hi bob");
    assert.equal(await plain(), 1);
    session.close();
    assert.deepEqual(lines(at("new.jsonl")).map((r) => [r.tool, r.args, r.side_effect]), [["add", [1, 2], false], ["hello", "bob", true], ["plain", null, null]]);
  });

  it("run without a session", async () => {
    const result = new Map();
    assert.equal(await tape.call("t", () => result), result);
    assert.equal(await tape.tool("t", (x) => x)(2), 2);
    await assert.rejects(tape.call("t", null), /nothing to run/);
    assert.equal(tape.session(), undefined);
  });

  it("use the session in use", async () => {
    const t = tape.tool("t", never);
    const session = new tape.Session(written({ seq: 1, tool: "t", args: { a: 1 }, result: "from the tape" }));
    tape.use(session);
    assert.equal(await t({ a: 1 }), "from the tape");
    session.close();
    session.close();
    await assert.rejects(t({ a: 1 }), /closed/);
  });

  it("refuse bad calls", async () => {
    const session = new tape.Session(written('{"tape":"1"}'));
    await assert.rejects(session.call("t", never, null, { kind: "x" }), /unknown kind/);
    await assert.rejects(session.call("t", never, NaN), /arguments of t: NaN is not JSON/);
    session.close();
    await assert.rejects(new tape.Session(at("x"), { mode: "record" }).call("t", null), /nothing to run/);
  });

  it("are all declared", () => {
    const declared = fs.readFileSync(path.join(here, "tape.d.mts"), "utf8");
    for (const name of Object.keys(tape)) assert.match(declared, new RegExp(`export (class|function) ${name}\\b`), name);
  });
});

describe("a server", () => {
  let server, answers, asked;
  beforeEach(async () => {
    [answers, asked] = [[], []];
    server = http.createServer((request, response) => {
      let body = "";
      request.on("data", (part) => { body += part; });
      request.on("end", () => {
        asked.push([request.method, request.url, body]);
        const [status, text] = answers.shift();
        response.writeHead(status, { "Tape-Seq": "7" }).end(text);
      });
    });
    await new Promise((resolve) => { server.listen(0, "127.0.0.1", resolve); });
    process.env.TAPE_URL = `http://127.0.0.1:${server.address().port}/`;
  });
  afterEach(() => {
    server.closeAllConnections();
    server.close();
  });

  it("decides, whatever the mode", async () => {
    answers = [[200, '{"result":{"n":12345678901234567890123}}'], [200, '{"result":"half","error":{"code":"503","message":"down","type":"Busy"}}']];
    const session = new tape.Session(at("never"), { mode: "record", redact: (v) => (v.token ? { token: "[hidden]" } : v) });
    assert.deepEqual(await session.call("t", never, { token: "x" }), { n: 12345678901234567890123n });
    await assert.rejects(session.call("u", never, tape.float(1), { kind: "model" }), (e) => {
      assert.deepEqual([e.code, e.recordedMessage, e.type, e.seq, e.result, e.message], ["503", "down", "Busy", 7, "half", "503: down"]);
      return e instanceof tape.RecordedError;
    });
    assert.deepEqual(asked, [["POST", "/v1/call", '{"tool":"t","args":{"token":"[hidden]"},"kind":"tool","live":true}'], ["POST", "/v1/call", '{"tool":"u","args":1.0,"kind":"model","live":true}']]);
    assert.equal(fs.existsSync(at("never")), false);
    session.close();
    assert.deepEqual([session.stats().mode, session.stats().tape_hits], ["served", 2]);
  });

  /** The answers to a call that is to run with args, and to the report of its outcome. */
  const order = (args) => {
    asked = [];
    answers = [[200, `{"live":true,"code":"run_live","call":"live-1","args":${args}}`], [200, '{"result":null}']];
  };

  it("has calls run", async () => {
    const session = new tape.Session();
    class Agent { pay(account, to) { return [account, to]; } }
    const method = session.tool({ sideEffect: true })(Agent.prototype.pay, { name: "pay" });
    const once = session.tool("pay", (of) => [of]);
    for (const [args, work, want] of [
      ['{"account":"a","big":12345678901234567890}', () => session.call("pay", ({ account, big }) => [account, big], { account: "a", big: 12345678901234567890n }), '["a",12345678901234567890]'],
      ['{"account":"b"}', () => session.call("pay", async ({ account }) => [account], { account: "a" }), '["b"]'],
      ['"b"', () => once("a"), '["b"]'],
      ['["b",1]', () => method.call(new Agent(), "a", 1), '["b",1]'],
    ]) {
      order(args);
      assert.equal(tape.dump(await work()), want);
      assert.deepEqual(asked[1], ["POST", "/v1/record", `{"call":"live-1","result":${want}}`]);
    }
    session.close();
    assert.deepEqual([session.stats().live_tool_calls, session.stats().real_side_effects, session.stats().tape_hits], [4, 1, 0]);
  });

  it("is told of failures", async () => {
    const session = new tape.Session();
    order("null");
    await assert.rejects(session.call("t", () => { throw new ToolError("down"); }), ToolError);
    assert.equal(asked[1][2], '{"call":"live-1","error":{"message":"down","type":"ToolError"}}');
    order("null");
    await assert.rejects(session.call("t", () => new Set()), /result of t: a Set is not JSON/);
    assert.match(asked[1][2], /"type":"TapeError"/);
    answers = [[200, '{"live":true,"code":"run_live","call":"live-1","args":null}'], [404, '{"error":{"code":"not_found","message":"no call"}}']];
    await assert.rejects(session.call("t", () => 1), /t: not_found: no call/);
  });

  it("gives no other arguments where a hook has hidden some", async () => {
    const session = new tape.Session(undefined, { redact: (v) => (v?.token ? { ...v, token: "[hidden]" } : v) });
    order('{"token":"[hidden]"}');
    assert.equal(await session.call("t", ({ token }) => token, { token: "x" }), "x");
    order('{"token":"[hidden]","account":"b"}');
    await assert.rejects(session.call("t", never, { token: "x", account: "a" }), /cannot run with other arguments/);
    assert.match(asked[1][2], /cannot run/);
  });

  it("refuses what may not run", async () => {
    answers = [[403, '{"error":{"code":"live_refused","message":"refused: call 1: say --isolated"}}']];
    await assert.rejects(new tape.Session().call("t", never), (e) => e instanceof tape.Refused && /say --isolated/.test(e.message));
  });

  it("gives verdicts", async () => {
    for (const [status, code, cls] of [[422, "tape_drift", tape.Drift], [404, "tape_miss", tape.Miss], [410, "tape_exhausted", tape.Exhausted], [424, "tape_gap", tape.Gap]]) {
      answers = [[status, JSON.stringify({ error: { code, message: "why", seq: 3, differences: [{ path: "a", live: "x" }] } })]];
      const session = new tape.Session();
      await assert.rejects(session.call("t", never), (e) => {
        assert.deepEqual([e.message, e.details.seq, e.differences], ["why", 3, [{ path: "a", live: '"x"' }]]);
        return e instanceof cls;
      });
      assert.throws(() => session.close(), tape.Unclean);
    }
  });

  it("may talk nonsense, or not be there", async () => {
    for (const [status, text, want] of [[400, '{"error":{"code":"bad_request","message":"no"}}', /bad_request: no/], [200, "{}", /no answer/],
      [500, "<html>", /status 500/], [200, "[]", /no answer/], [404, '{"error":"x"}', /no answer/]]) {
      answers = [[status, text]];
      const session = new tape.Session();
      await assert.rejects(session.call("t", never), want);
      session.close();
    }
    const session = new tape.Session(undefined, { url: "http://127.0.0.1:1" });
    await assert.rejects(session.call("t", never), /does not answer/);
    session.close();
  });
});

describe("programs", () => {
  const node = (argv, env = {}) => {
    const done = spawnSync(process.execPath, argv, { env: { ...process.env, ...env }, encoding: "utf8" });
    return [done.status, done.stdout, done.stderr];
  };

  it("do what the environment says", () => {
    fs.writeFileSync(at("agent.mjs"), `import * as tape from ${JSON.stringify(path.join(here, "tape.mjs"))};
      const t = tape.tool("t", ({ n }) => n + 1);
      console.log(await t({ n: 1 }), await t({ n: 2 }));`);
    const agent = [at("agent.mjs")], TAPE_FILE = at("run.jsonl");
    assert.deepEqual(node(agent), [0, "2 3\n", ""]);
    assert.deepEqual(node(agent, { TAPE_FILE, TAPE_MODE: "record" }), [0, "2 3\n", ""]);
    assert.deepEqual(node(agent, { TAPE_FILE }), [0, "2 3\n", ""]);
    fs.appendFileSync(TAPE_FILE, '{"seq":3,"tool":"t","args":{"n":3},"result":4}\n{"seq":4,"tool":"chat","kind":"model","args":{}}\n');
    assert.deepEqual(node(agent, { TAPE_FILE, TAPE_KIND: "tool" }), [1, "2 3\n", "tape: the replay was not clean: 1 unconsumed: step 3 t\n"]);
  });

  it("walk a tape", () => {
    const walk = (...argv) => node([path.join(here, "tape.mjs"), ...argv]);
    for (const [record, code, text] of [
      [{ seq: 1, tool: "t", args: { token: "[REDACTED:token]" }, redacted: ["args.token"], error: "down" }, 0, 'hit, a failure: "down"'],
      [{ seq: 1, tool: "t", args: {}, key: "t:000000000000" }, 1, "make its key t:44136fa355b3"],
      [{ seq: 1, tool: "t\u001b[2J", args: null, fidelity: "absent" }, 1, "gap at step 1"],
    ]) {
      const [status, out, err] = walk(written(record));
      assert.equal(status, code, err);
      assert.ok(out.includes(text), out);
      assert.ok(!out.includes("\u001b"), "names come from an agent, and are shown as text");
    }
    assert.equal(walk("none")[0], 2);
    assert.equal(walk()[0], 2);
  });
});
