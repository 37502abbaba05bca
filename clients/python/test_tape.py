"""Tests of the client: python3 -m unittest in this folder."""
from __future__ import annotations

import ast
import asyncio
import contextlib
import enum
import hashlib
import http.server
import io
import json
import os
import stat
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path
from unittest import mock

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.dont_write_bytecode = True
import tape  # noqa: E402

ROOT = HERE.parent.parent


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]


class ToolError(Exception):
    pass


class Base(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("TAPE_URL", "TAPE_FILE", "TAPE_MODE", "TAPE_KIND"):
            os.environ.pop(name, None)

    def tape(self, *records, name="run.jsonl"):
        path = self.folder / name
        path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in records), encoding="utf-8")
        return str(path)

    def record(self, session, tool, args, result):
        return session.call(tool, lambda **_: result, args)


class Keys(unittest.TestCase):
    def test_conformance_vectors(self):
        for vector in lines(ROOT / "tape/testdata/key_vectors.jsonl"):
            with self.subTest(vector["name"]):
                args = tape.parse(vector["args_json"])
                self.assertEqual(vector["canonical"], tape.canonical(args))
                self.assertEqual(vector["key"], tape.key(vector["tool"], args))

    def test_canonical_forms_of_a_plain_recorder(self):
        for text, form in lines(ROOT / "tape/testdata/python_canonical.jsonl"):
            self.assertEqual(form, tape.canonical(tape.parse(text)), text)

    def test_values_that_are_like_json(self):
        class Color(str, enum.Enum):
            RED = " red "

        for value, want in [
            ((1, 2), "[1,2]"), (Color.RED, '"red"'),
            (10 ** 5000, "1" + "0" * 5000), ("\ud83d\ude80", '"🚀"'), ("\udc80", '"\\udc80"'), (float("inf"), "1e999"),
        ]:
            self.assertEqual(want, tape.canonical(value))
        self.assertEqual('{"1.5":4,"null":3,"x":1}', tape.dump({1.5: 4, None: 3, "x": 1}))
        self.assertEqual(10 ** 5000, tape.parse("1" + "0" * 5000))

    def test_what_is_not_json(self):
        deep = []
        for _ in range(5000):
            deep = [deep]
        for value in (float("nan"), {1, 2}, b"x", object(), {(1, 2): 3}, deep):
            with self.assertRaises((TypeError, ValueError)):
                tape.dump(value)
        for text in ("NaN", "[Infinity]", "{", "[" * 100000):
            with self.assertRaises(ValueError):
                tape.parse(text)

    def test_the_file_is_python_3_9(self):
        ast.parse((HERE / "tape.py").read_text(encoding="utf-8"), feature_version=(3, 9))


class Scenarios(Base):
    def test_the_same_as_in_go(self):
        for scenario in lines(HERE.parent / "testdata/scenarios.jsonl"):
            with self.subTest(scenario["name"]):
                self.run_one(scenario)

    def run_one(self, scenario):
        session = tape.Session(self.tape(*scenario["tape"]), scenario["mode"], kinds=scenario.get("kinds"))
        for call in scenario["calls"]:
            ran = []

            def run(*_, **__):
                ran.append(1)
                return tape.parse(call["live"])

            want, got = call["want"], {}
            try:
                result = session.call(call["tool"], run if "live" in call else None, tape.parse(call["args"]), kind=call.get("kind", "tool"))
                got = {"result": tape.dump(result)}
            except tape.RecordedError as error:
                got = {"result": tape.dump(error.result), "error": {"code": error.code, "message": error.message, "type": error.type}}
            except tape.Verdict as verdict:
                got = {"verdict": verdict.verdict, "message": str(verdict)}
                if verdict.differences:
                    got["differences"] = verdict.differences
                self.assertEqual([], ran)
            self.assertEqual(want, got)
        closing = ""
        try:
            session.close()
        except tape.Unclean as unclean:
            closing = str(unclean)
        self.assertEqual(scenario["close"], closing)
        self.assertEqual(scenario["stats"], session.stats())


class Recording(Base):
    def test_the_core_members(self):
        path = str(self.folder / "new.jsonl")
        with tape.Session(path, "record") as session:
            got = session.call("add", lambda a, b: (a, b), {"b": 2, "a": 1.0}, side_effect=False)
            self.assertEqual([1.0, 2], got, "as a replay will give it")
        (record,) = lines(Path(path))
        self.assertEqual(["seq", "tool", "key", "args", "result", "ms", "side_effect", "clock", "start", "done"], list(record))
        self.assertEqual((1, "add", tape.key("add", {"a": 1.0, "b": 2}), False, 1),
                         tuple(record[m] for m in ("seq", "tool", "key", "side_effect", "done")))
        self.assertEqual('{"b":2,"a":1.0}', tape.dump(record["args"]), "in its order")
        self.assertRegex(record["clock"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$")
        if os.name == "posix":
            self.assertEqual(0o600, stat.S_IMODE(os.stat(path).st_mode), "tapes hold what users said")

    def test_a_failure_is_recorded_and_replayed(self):
        path = str(self.folder / "new.jsonl")

        def fail():
            raise ToolError("503 down")

        with tape.Session(path, "record") as session:
            with self.assertRaisesRegex(ToolError, "503"):
                session.call("send", fail)
        self.assertEqual({"message": "503 down", "type": "ToolError"}, lines(Path(path))[0]["error"])
        session = tape.Session(path)
        with self.assertRaises(ToolError) as raised:
            session.call("send", fail, errors=(ValueError, ToolError))
        self.assertIsInstance(raised.exception.__cause__, tape.RecordedError)
        session.close()

    def test_a_class_that_wants_more_than_a_message_is_not_made(self):
        class Busy(Exception):
            def __init__(self, code, message):
                super().__init__(message)

        path = self.tape({"seq": 1, "tool": "t", "args": None, "error": {"message": "x", "type": "mod.Busy", "code": 5}})
        with tape.Session(path) as session, self.assertRaisesRegex(tape.RecordedError, "5: x"):
            session.call("t", None, errors=[Busy])

    def test_records_stand_in_the_order_in_which_calls_began(self):
        path = str(self.folder / "new.jsonl")

        async def main():
            inner = asyncio.Event()

            async def slow():
                await inner.wait()
                return "slow"

            async def quick():
                inner.set()
                return "quick"

            async with tape.Session(path, "record") as session:
                return await asyncio.gather(session.acall("slow", slow), session.acall("quick", quick))

        self.assertEqual(["slow", "quick"], asyncio.run(main()))
        self.assertEqual([(1, "slow", 2), (2, "quick", 1)], [(r["seq"], r["tool"], r["done"]) for r in lines(Path(path))])

    def test_many_threads(self):
        path = str(self.folder / "new.jsonl")
        with tape.Session(path, "record") as session:
            threads = [threading.Thread(target=lambda i=i: [self.record(session, "t", {"i": i, "j": j}, i) for j in range(20)]) for i in range(8)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
        records = lines(Path(path))
        self.assertEqual(list(range(1, 161)), [r["seq"] for r in records])
        self.assertEqual(list(range(1, 161)), sorted(r["done"] for r in records))
        with tape.Session(path) as session:
            for r in records:
                self.assertEqual(r["result"], session.call("t", None, r["args"]))

    def test_a_file_goes_on_where_it_ended(self):
        path = self.folder / "run.jsonl"
        path.write_text('{"seq":4,"tool":"a","args":{},"result":1}')  # as an editor left it
        with tape.Session(str(path), "replay+record") as session:
            with self.assertLogs("tape", "INFO") as audit:
                self.record(session, "b", {}, 2)
        self.assertIn("tool=b", audit.output[0])
        self.assertEqual([(4, "a"), (5, "b")], [(r["seq"], r["tool"]) for r in lines(path)])

    def test_a_result_that_is_not_json(self):
        path = str(self.folder / "new.jsonl")
        with tape.Session(path, "record") as session, self.assertRaisesRegex(tape.TapeError, "result of t: a set is not JSON"):
            session.call("t", lambda: {1})
        self.assertIn("a set is not JSON", lines(Path(path))[0]["error"]["message"])

    def test_a_full_disk_stops_calls_but_keeps_answers(self):
        session = tape.Session(str(self.folder / "new.jsonl"), "record")
        with mock.patch("os.write", side_effect=OSError("disk full")):
            self.assertEqual(1, self.record(session, "t", {}, 1))
        with self.assertRaisesRegex(tape.TapeError, "cannot be written: disk full"):
            self.record(session, "t", {}, 1)
        with self.assertRaisesRegex(tape.TapeError, "cannot be written"):
            session.close()

    def test_a_coroutine_function_is_not_called_by_call(self):
        async def fn():
            raise AssertionError

        with tape.Session(str(self.folder / "x"), "record") as session, self.assertRaisesRegex(TypeError, "acall"):
            session.call("t", fn)


def hide(value):
    if isinstance(value, dict):
        return {n: "[hidden]" if n == "token" else hide(v) for n, v in value.items()}
    return value.replace("s3cret", "[hidden]") if isinstance(value, str) else value


class Redaction(Base):
    def test_a_hook_sees_everything_that_is_kept(self):
        path = str(self.folder / "new.jsonl")
        with tape.Session(path, "record", redact=hide) as session:
            self.assertEqual("s3cret", self.record(session, "a", {"token": "s3cret", "n": 1.0}, "s3cret"), "the program has the real answer")
            with self.assertRaisesRegex(ToolError, "s3cret"):
                session.call("b", self.fail_with_secret)
        text = Path(path).read_text()
        self.assertNotIn("s3cret", text)
        first, second = lines(Path(path))
        self.assertEqual(["args.token", "result"], first["redacted"])
        self.assertEqual(["error.message"], second["redacted"])
        self.assertEqual("redacted", first["fidelity"])
        with tape.Session(path, redact=hide) as session:
            self.assertEqual("[hidden]", session.call("a", None, {"n": 1.0, "token": "s3cret"}))
            with self.assertRaisesRegex(tape.RecordedError, "hidden"):
                session.call("b", None)
            self.assertEqual(2, session.stats()["redacted_served"])

    @staticmethod
    def fail_with_secret():
        raise ToolError("bad token s3cret")

    def test_redacted_arguments_are_refused(self):
        for redacted in ({"redacted": ["args.token"]}, {"fidelity": "redacted"}):
            path = self.tape({"tape": "1", "redaction": {"policy": "p"}}, {"seq": 3, "tool": "t", "args": {}, **redacted})
            with self.assertRaisesRegex(tape.TapeError, r"record 3 has redacted arguments.*`tape run .*run.jsonl -- CMD`"):
                tape.Session(path)

    def test_a_policy_that_met_no_arguments_is_no_obstacle(self):
        path = self.tape({"tape": "1", "redaction": {"policy": "p"}}, {"seq": 1, "tool": "t", "args": {}, "result": 1, "redacted": ["result.x"]})
        with tape.Session(path) as session:
            self.assertEqual(1, session.call("t", None, {}))
        for mode in ("record", "replay+record"):
            with self.assertRaisesRegex(tape.TapeError, "redacted by a policy"):
                tape.Session(path, mode)


class Files(Base):
    def test_what_is_not_a_tape(self):
        for text, want in [
            ("", "empty"), ("\n\n", "empty"), ("[1]", "run.jsonl:1: not an object"), ('{"seq":1,"tool":"t"}\n{"seq":2,', "run.jsonl:2: "),
            ('{"tape":"2"}', 'tape version "2"'), ('{"tape":null}', "tape version null"), ('{"seq":1}\n{"tape":"1"}', "not the first line"),
            ('{"seq":"x"}', "member 'seq': want a whole number"), ('{"seq":1e999}', "seq"), ('{"ms":1e999}', "ms"), ('{"tool":[]}', "tool"),
            ('{"seq":1.5}', "seq"), ('{"redacted":1}', "redacted"), ("[" * 200000, "nested"),
        ]:
            with self.subTest(text[:40]), self.assertRaisesRegex(tape.TapeError, want):
                tape.Session(self.tape(text))
        with self.assertRaises(FileNotFoundError):
            tape.Session(str(self.folder / "none"))
        with self.assertRaisesRegex(tape.TapeError, "unknown mode"):
            tape.Session(self.tape("{}"), "live")
        with self.assertRaisesRegex(tape.TapeError, "path"):
            tape.Session()

    def test_odd_lines_are_read(self):
        path = self.folder / "run.jsonl"
        path.write_bytes(b'\xef\xbb\xbf\r\n  {"tape":"1","gaps":7}\r\n\r\n{"seq":2.0,"tool":"t","args":{"a":"\xff"},"body":[{"of":[1]},3],"side_effect":"?"}')
        with tape.Session(str(path)) as session:
            self.assertIsNone(session.call("t", None, {"a": "\ufffd"}))

    def test_bodies_lie_beside_the_tape(self):
        data = b'{"n": 1}'
        digest = hashlib.sha256(data).hexdigest()

        def body(seq, **more):
            return {"seq": seq, "tool": "t", "args": {"n": seq}, "body": {"sha256": digest, "bytes": len(data), **more}}

        path = self.tape(body(1, media_type="application/json"), body(2), body(3), {**body(4), "body": {"sha256": "0" * 64}})
        (self.folder / "bodies").mkdir()
        (self.folder / "bodies" / digest).write_bytes(data)
        session = tape.Session(path)
        with self.assertRaisesRegex(tape.Gap, "held by reference: body 000.* is not in bodies/"):
            session.call("t", None, {"n": 4})
        self.assertEqual({"n": 1}, session.call("t", None, {"n": 1}))
        self.assertEqual('{"n": 1}', session.call("t", None, {"n": 2}))
        (self.folder / "bodies" / digest).write_bytes(b"other")
        with self.assertRaisesRegex(tape.Gap, "damaged"):
            session.call("t", None, {"n": 3})

    def test_results_that_nest_deeply(self):
        path = self.tape('{"seq":1,"tool":"t","args":{},"result":%s1%s}' % ("[" * 600, "]" * 600))
        with tape.Session(path) as session:
            got = session.call("t", None, {})
        for _ in range(600):
            (got,) = got
        self.assertEqual(1, got)

    def test_results_are_copies(self):
        path = self.tape(*[{"seq": i, "tool": "t", "args": {}, "result": {"a": [1]}} for i in (1, 2)])
        with tape.Session(path) as session:
            session.call("t", None, {})["a"].append(2)
            self.assertEqual({"a": [1]}, session.call("t", None, {}))

    def test_long_tapes_of_one_call(self):
        path = self.tape(*[{"seq": i + 1, "tool": "poll", "args": {}, "result": i} for i in range(5000)])
        with tape.Session(path) as session:
            for i in range(5000):
                self.assertEqual(i, session.call("poll", None, {}))


class Tools(Base):
    def test_the_arguments_of_a_function_by_name(self):
        path = str(self.folder / "new.jsonl")
        with tape.Session(path, "record") as session:
            @session.tool
            def search(query, *more, limit=3, **options):
                """Looks."""
                return [query, *more, limit]

            class Agent:
                @session.tool(name="publish", side_effect=True)
                async def send(self, body):
                    return len(body)

            self.assertEqual("Looks.", search.__doc__)
            self.assertEqual(["a", "b", 3], search("a", "b", lang="en"))
            self.assertEqual(2, asyncio.run(Agent().send("hi")))
        first, second = lines(Path(path))
        self.assertEqual({"query": "a", "more": ["b"], "lang": "en"}, first["args"], "what was not given is not there")
        self.assertEqual(("publish", {"body": "hi"}, True), (second["tool"], second["args"], second["side_effect"]))

    def test_streams_are_refused(self):
        with self.assertRaisesRegex(TypeError, "piece by piece"):
            @tape.tool
            def stream():
                yield 1

    def test_without_a_session_everything_runs(self):
        self.addCleanup(tape.use, None)
        tape.use(None)

        @tape.tool
        def pair(a):
            return (a, a)

        async def later(x):
            return x

        self.assertEqual((1, 1), pair(1))
        self.assertEqual({1}, tape.call("t", lambda: {1}))
        self.assertEqual(2, tape.call("t", lambda x: x, 2))
        self.assertEqual(3, asyncio.run(tape.acall("t", later, {"x": 3})))
        with self.assertRaisesRegex(tape.TapeError, "nothing to run"):
            tape.call("t", None)
        self.assertIsNone(tape.session())

    def test_the_session_in_use(self):
        self.addCleanup(tape.use, None)
        with tape.Session(self.tape({"seq": 1, "tool": "t", "args": {"a": 1}, "result": "from the tape"})) as session:
            tape.use(session)

            @tape.tool
            def t(a):
                raise AssertionError("ran")

            self.assertEqual("from the tape", t(1))

    def test_what_ends_a_block_is_not_hidden(self):
        with self.assertRaises(KeyError), tape.Session(self.tape({"seq": 1, "tool": "t"})):
            raise KeyError

    def test_a_closed_session(self):
        session = tape.Session(self.tape('{"tape":"1"}'))
        session.close()
        session.close()
        with self.assertRaisesRegex(tape.TapeError, "closed"):
            session.call("t", None)

    def test_bad_calls(self):
        session = tape.Session(self.tape('{"tape":"1"}'))
        with self.assertRaisesRegex(tape.TapeError, "unknown kind"):
            session.call("t", None, kind="x")
        with self.assertRaisesRegex(tape.TapeError, "arguments of t: a set is not JSON"):
            session.call("t", None, {1})
        session.close()
        with tape.Session(str(self.folder / "x"), "record") as session, self.assertRaisesRegex(tape.TapeError, "nothing to run"):
            session.call("t", None)


class Server(http.server.BaseHTTPRequestHandler):
    answers: list = []
    asked: list = []

    def do_POST(self):
        self.asked.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        status, text = self.answers.pop(0)
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.send_header("Tape-Seq", "7")
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_):
        pass


class Served(Base):
    def setUp(self):
        super().setUp()
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        Server.answers, Server.asked = [], []
        self.url = "http://127.0.0.1:%d" % server.server_port
        os.environ["TAPE_URL"] = self.url
        os.environ["http_proxy"] = "http://127.0.0.1:1"
        self.addCleanup(os.environ.pop, "TAPE_URL", None)
        self.addCleanup(os.environ.pop, "http_proxy", None)

    def test_the_server_decides_whatever_the_mode(self):
        Server.answers = [(200, b'{"result":{"n":12345678901234567890123}}'), (200, b'{"result":"half","error":{"code":"503","message":"down","type":"Busy"}}')]
        session = tape.Session(str(self.folder / "never"), "record", redact=hide)
        self.assertEqual({"n": 12345678901234567890123}, session.call("t", self.fail, {"token": "x"}))
        with self.assertRaises(tape.RecordedError) as raised:
            asyncio.run(session.acall("u", None, 1, kind="model"))
        self.assertEqual(("503", "down", "Busy", 7, "half"), tuple(getattr(raised.exception, n) for n in ("code", "message", "type", "seq", "result")))
        self.assertEqual([{"tool": "t", "args": {"token": "[hidden]"}, "kind": "tool", "live": True}, {"tool": "u", "args": 1, "kind": "model"}], Server.asked)
        self.assertFalse((self.folder / "never").exists())
        session.close()
        self.assertEqual(("served", 2), (session.stats()["mode"], session.stats()["tape_hits"]))

    def test_verdicts(self):
        for status, code, cls in [(422, "tape_drift", tape.Drift), (404, "tape_miss", tape.Miss), (410, "tape_exhausted", tape.Exhausted), (424, "tape_gap", tape.Gap)]:
            Server.answers = [(status, json.dumps({"error": {"code": code, "message": "why", "seq": 3, "differences": [{"path": "a", "live": "x"}]}}).encode())]
            session = tape.Session()
            with self.assertRaisesRegex(cls, "why") as raised:
                session.call("t", self.fail)
            self.assertEqual([{"path": "a", "live": '"x"'}], raised.exception.differences)
            with self.assertRaises(tape.Unclean):
                session.close()

    def order(self, args, **answer):
        """The answers to a call that is to run with args, and to the report of its outcome."""
        Server.asked = []
        Server.answers = [(200, json.dumps({"live": True, "code": "run_live", "call": "live-1", "args": args}).encode()),
                          (200, json.dumps(answer or {"result": None}).encode())]

    def test_the_server_has_calls_run(self):
        @tape.tool(side_effect=True)
        def pay(account, *rest, cents=1, **more):
            return (account, rest, cents, more)

        class Agent:
            @tape.tool
            async def pay(self, account):
                return account

        async def fetch(account):
            return (account,)

        session = tape.Session()
        self.addCleanup(tape.use, None)
        tape.use(session)
        for name, args, work, want in [
            ("as asked", {"account": "a"}, lambda: session.call("pay", lambda account: (account,), {"account": "a"}), ["a"]),
            ("one value", "b", lambda: session.call("pay", lambda account: [account], "a"), ["b"]),
            ("others", {"account": "b"}, lambda: session.call("pay", lambda account: [account], {"account": "a"}), ["b"]),
            ("others, awaited", {"account": "b"}, lambda: asyncio.run(session.acall("pay", fetch, {"account": "a"})), ["b"]),
            ("a function", {"account": "b", "rest": [2], "cents": 3, "to": "d"}, lambda: pay("a", 2, cents=3, to="c"), ["b", [2], 3, {"to": "d"}]),
            ("a method", {"account": "b"}, lambda: asyncio.run(Agent().pay("a")), "b"),
        ]:
            with self.subTest(name):
                self.order(args)
                self.assertEqual(want, work())
                self.assertTrue(Server.asked[0]["live"])
                self.assertEqual({"call": "live-1", "result": want}, Server.asked[1])
        self.assertEqual((6, 1, 0), tuple(session.stats()[n] for n in ("live_tool_calls", "real_side_effects", "tape_hits")))
        session.close()

    def test_the_server_is_told_of_failures(self):
        class Busy(Exception):
            pass

        def fail():
            raise Busy("down")

        async def later():
            fail()

        session = tape.Session()
        for work in (lambda: session.call("t", fail), lambda: asyncio.run(session.acall("t", later))):
            self.order(None)
            self.assertRaises(Busy, work)
            self.assertEqual({"call": "live-1", "error": {"message": "down", "type": "Busy"}}, Server.asked[1])
        self.order(None)
        self.assertRaisesRegex(tape.TapeError, "result of t: a set is not JSON", session.call, "t", lambda: {1})
        self.assertEqual("TapeError", Server.asked[1]["error"]["type"])

    def test_what_a_hook_hides_cannot_be_given_others(self):
        session = tape.Session(redact=hide)
        self.order({"token": "[hidden]"})
        self.assertEqual("x", session.call("t", lambda token: token, {"token": "x"}), "the program has its own value")
        self.order({"token": "[hidden]", "account": "b"})
        self.assertRaisesRegex(tape.TapeError, "cannot run with other arguments", session.call, "t", self.fail, {"token": "x", "account": "a"})
        self.assertIn("cannot run", Server.asked[1]["error"]["message"])

    def test_calls_that_may_not_run(self):
        Server.answers = [(403, b'{"error":{"code":"live_refused","message":"refused: call 1: say --isolated"}}')]
        with self.assertRaisesRegex(tape.Refused, "say --isolated"):
            tape.Session().call("t", self.fail)
        Server.answers = [(200, b'{"live":true,"code":"run_live","call":"live-1","args":null}'), (404, b'{"error":{"code":"not_found","message":"no call"}}')]
        with self.assertRaisesRegex(tape.TapeError, "t: not_found: no call"):
            tape.Session().call("t", lambda: 1)

    def test_answers_that_are_none(self):
        for status, text, want in [(400, b'{"error":{"code":"bad_request","message":"no"}}', "bad_request: no"), (200, b"{}", "no answer"),
                                   (500, b"<html>", "status 500"), (200, b"[]", "no answer"), (200, b'{"live":true}', "no answer"), (404, b'{"error":"x"}', "no answer")]:
            Server.answers = [(status, text)]
            with self.assertRaisesRegex(tape.TapeError, want):
                tape.Session().call("t", self.fail)
        with self.assertRaisesRegex(tape.TapeError, "does not answer"):
            tape.Session(url="http://127.0.0.1:1").call("t", self.fail)


AGENT = """
import tape
@tape.tool
def t(n):
    return n + 1
print(t(1), t(n=2))
"""


class Programs(Base):
    def python(self, *argv, **env):
        env = {**os.environ, "PYTHONPATH": str(HERE), "PYTHONDONTWRITEBYTECODE": "1", **env}
        done = subprocess.run([sys.executable, *argv], env=env, capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout, done.stderr

    def test_the_environment_decides(self):
        agent, path = self.folder / "agent.py", str(self.folder / "run.jsonl")
        agent.write_text(AGENT)
        self.assertEqual((0, "2 3\n", ""), self.python(str(agent)))
        self.assertEqual((0, "2 3\n", ""), self.python(str(agent), TAPE_FILE=path, TAPE_MODE="record"))
        self.assertEqual((0, "2 3\n", ""), self.python(str(agent), TAPE_FILE=path))
        with open(path, "a") as file:
            file.write('{"seq":3,"tool":"t","args":{"n":3},"result":4}\n{"seq":4,"tool":"chat","kind":"model","args":{}}\n')
        code, out, err = self.python(str(agent), TAPE_FILE=path, TAPE_KIND="tool")
        self.assertEqual((1, "2 3\n", "tape: the replay was not clean: 1 unconsumed: step 3 t\n"), (code, out, err))

    def test_walking_a_tape(self):
        for records, want, text in [
            ([{"seq": 1, "tool": "t", "args": {"token": "[REDACTED:token]"}, "redacted": ["args.token"], "error": "down"}], 0, 'hit, a failure: "down"'),
            ([{"seq": 1, "tool": "t", "args": {}, "key": "t:000000000000"}], 1, "make its key t:44136fa355b3"),
            ([{"seq": 1, "tool": "t\x1b[2J", "args": None, "fidelity": "absent"}], 1, "gap at step 1"),
        ]:
            code, out, err = self.main(self.tape(*records))
            self.assertEqual(want, code, err)
            self.assertIn(text, out)
            self.assertNotIn("\x1b", out)
        self.assertEqual(2, self.main("none")[0])
        self.assertEqual(2, self.main()[0])

    def main(self, *argv):
        out, err = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = tape.main(list(argv))
        return code, out.getvalue(), err.getvalue()


if __name__ == "__main__":
    unittest.main()
