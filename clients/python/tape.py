# SPDX-License-Identifier: Apache-2.0
"""Record the tool calls of a program on a tape, and replay them from it.

    import tape

    @tape.tool                                  # or @tape.tool(name="search", side_effect=False)
    def search(query, limit=3): ...

    tape.call("search", search, {"query": "x"})         # the same without a decorator
    await tape.acall("fetch", fetch, {"url": "..."})    # for coroutine functions

    with tape.Session("run.jsonl", mode="record") as session:   # a session of one's own
        session.call("search", search, {"query": "x"})

Without a session of its own, a program does what the environment says:

    TAPE_URL   ask the server there, which `tape run` and `tape serve` start
    TAPE_FILE  use this tape, in the mode of TAPE_MODE ("replay" if not set), records
               of the kinds in TAPE_KIND only ("tool,model"; all if not set)
    neither    every call runs, nothing is recorded

Modes: "replay" answers from the tape alone: everything but a hit is an error, and
close() fails for records that were never asked for. "replay+record" also runs what the
tape does not have, once, and appends it. "record" runs and appends everything. Where
TAPE_URL is set it decides, whatever mode a session was opened in: in a live replay and
from a fork on the server tells a call to run, with which arguments, and is told what
came of it.

Nothing falls through to a live call silently. What is recorded is NOT redacted unless
a session has a redact= hook. A session holds its tape in memory and is safe for
threads and tasks. This file needs Python 3.9 and nothing else; `python3 tape.py FILE`
walks a tape and says whether every record can be replayed.
"""
from __future__ import annotations

import atexit
import asyncio
import datetime
import decimal
import functools
import hashlib
import inspect
import json
import logging
import os
import re
import sys
import threading
import time
import unicodedata
import urllib.error
import urllib.request
from typing import Any, Awaitable, Callable, Dict, Iterable, List, Mapping, Optional, Tuple, Type

__all__ = [
    "Session", "call", "acall", "tool", "use", "session", "canonical", "key", "parse", "dump",
    "TapeError", "Verdict", "Drift", "Miss", "Exhausted", "Gap", "Refused", "Unclean", "RecordedError",
]

VERSION = "1"
KINDS = ("tool", "model", "clock", "random")
MODES = ("replay", "replay+record", "record")
MAX_LINE = 1 << 30
MAX_DIFFERENCES = 100

# Calls that a replay runs live are logged here, at level INFO.
audit = logging.getLogger("tape")


# ---- errors

class TapeError(Exception):
    """The tape cannot be used as was asked: not a tape, not JSON, no server."""


class Verdict(TapeError):
    """A call that the tape does not answer. `details` has the members of an error of
    POST /v1/call: call, seq, kind, tool, key, expected, differences (each with path,
    recorded and live as JSON text), recorded_args, live_args, nearest."""

    verdict = ""

    def __init__(self, message: str, **details: Any):
        super().__init__(message)
        self.details: Dict[str, Any] = details

    @property
    def differences(self) -> List[Dict[str, Any]]:
        return self.details.get("differences") or []


class Drift(Verdict):
    """A record of the tool is left, but with other arguments."""
    verdict = "drift"


class Miss(Verdict):
    """Nothing left on the tape could be this call."""
    verdict = "miss"


class Exhausted(Verdict):
    """The call was on the tape, and all its answers are used up."""
    verdict = "exhausted"


class Gap(Verdict):
    """The call is on the tape, its content is not."""
    verdict = "gap"


class Refused(TapeError):
    """The call would have to run live and may not; the message says what to do."""


class Unclean(TapeError):
    """The replay as a whole was not clean; `stats` says why."""

    def __init__(self, message: str, stats: Dict[str, Any]):
        super().__init__(message)
        self.stats = stats


class RecordedError(Exception):
    """The recorded failure of a call, served as its answer."""

    def __init__(self, message: str = "", code: str = "", type: str = "", seq: int = 0, result: Any = None):
        text = message or type
        super().__init__("%s: %s" % (code, text) if code and text else text or "%s failed" % code)
        self.message, self.code, self.type, self.seq, self.result = message, code, type, seq, result


# ---- JSON and keys

_SURROGATE = re.compile("[\ud800-\udfff]")
# Python refuses to convert longer numbers between text and int; decimal does not.
_LONG = 4000


def _integer(text: str) -> int:
    return int(text) if len(text) < _LONG else int(decimal.Decimal(text))


def _refuse(name: str) -> None:
    raise ValueError("%s is not JSON" % name)


def parse(text: str) -> Any:
    """The value of a JSON text: integers of any size, no NaN or Infinity."""
    try:
        return json.loads(text, parse_int=_integer, parse_constant=_refuse)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _text(value: str) -> str:
    if _SURROGATE.search(value):
        # Two that make a pair are one code point, as any reader will have it; one alone
        # has no UTF-8 and stays an escape.
        value = value.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
        return _SURROGATE.sub(lambda m: "\\u%04x" % ord(m[0]), json.dumps(value, ensure_ascii=False))
    return json.dumps(value, ensure_ascii=False)


def _name(value: Any) -> str:
    if isinstance(value, str):
        return value
    if value is None or isinstance(value, (bool, int, float)):
        return dump(value)
    raise TypeError("a member named by a %s is not JSON" % type(value).__name__)


def _write(out: List[str], value: Any, canon: bool) -> None:
    if value is None:
        out.append("null")
    elif value is True or value is False:
        out.append("true" if value else "false")
    elif isinstance(value, str):
        out.append(_text(value.strip() if canon else value))
    elif isinstance(value, int):
        value = int(value)
        out.append(str(value) if value.bit_length() < 3 * _LONG else format(decimal.Decimal(value), "f"))
    elif isinstance(value, float):
        if value != value:
            raise ValueError("NaN is not JSON")
        text = float.__repr__(round(float(value), 6) if canon else float(value))
        out.append(text.replace("inf", "1e999"))
    elif isinstance(value, Mapping):
        members = [(_name(name), inner) for name, inner in value.items()]
        if canon:
            members = sorted((m for m in dict(members).items() if m[1] is not None), key=lambda m: m[0])
        for i, (name, inner) in enumerate(members):
            out.append((",%s:" if i else "{%s:") % _text(name))
            _write(out, inner, canon)
        out.append("}" if members else "{}")
    elif isinstance(value, (list, tuple)):
        for i, inner in enumerate(value):
            out.append("," if i else "[")
            _write(out, inner, canon)
        out.append("]" if value else "[]")
    else:
        raise TypeError("a %s is not JSON" % type(value).__name__)


def dump(value: Any) -> str:
    """The value as JSON text on one line, members in their order, floats as repr."""
    return _dump(value, False)


def _dump(value: Any, canon: bool) -> str:
    out: List[str] = []
    try:
        _write(out, value, canon)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    return "".join(out)


def canonical(args: Any) -> str:
    """The canonical form of arguments, over which keys are made: members sorted, those
    that are null left out, strings stripped, floats rounded to 6 decimals."""
    return _dump(args, True)


def key(tool: str, args: Any) -> str:
    """The key of a call: the tool and 12 hex digits of the hash of its arguments."""
    return tool + ":" + hashlib.sha256(canonical(args).encode()).hexdigest()[:12]


def _join(path: str, name: str) -> str:
    plain = name and all(c in "_-" or unicodedata.category(c)[0] == "L" or unicodedata.category(c) == "Nd" for c in name)
    if not plain:
        return "%s[%s]" % (path, _text(name))
    return path + "." + name if path else name


_ABSENT = object()


def _diff(out: List[Dict[str, Any]], path: str, a: Any, b: Any) -> None:
    if isinstance(a, dict) and isinstance(b, dict):
        for name in sorted({**a, **b}):
            _diff(out, _join(path, name), a.get(name, _ABSENT), b.get(name, _ABSENT))
        return
    if isinstance(a, list) and isinstance(b, list):
        for i in range(max(len(a), len(b))):
            _diff(out, "%s[%d]" % (path, i), a[i] if i < len(a) else _ABSENT, b[i] if i < len(b) else _ABSENT)
        return
    recorded, live = (None if v is _ABSENT else dump(v) for v in (a, b))
    if recorded != live:
        difference: Dict[str, Any] = {"path": path}
        if recorded is not None:
            difference["recorded"] = recorded
        if live is not None:
            difference["live"] = live
        out.append(difference)


def _shown(differences: List[Dict[str, Any]], more: int) -> str:
    def short(text: Optional[str]) -> str:
        return "(absent)" if text is None else text if len(text) <= 80 else text[:80] + "…"

    parts = ["%s %s -> %s" % (d["path"] or "(whole)", short(d.get("recorded")), short(d.get("live"))) for d in differences]
    if more:
        parts.append("and %d more" % more)
    return "; ".join(parts)


# ---- the tape

_TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?(?:[Zz]|([+-])(\d\d):(\d\d))")
_EPOCH = datetime.datetime(1970, 1, 1)


def _nanoseconds(text: Any) -> Optional[int]:
    """An RFC 3339 time in nanoseconds, None if it is none."""
    match = _TIME.fullmatch(text) if isinstance(text, str) else None
    if not match:
        return None
    day, clock, fraction, sign, hours, minutes = match.groups()
    try:
        at = datetime.datetime.fromisoformat(day + "T" + clock) - _EPOCH
    except ValueError:
        return None
    seconds = at.days * 86400 + at.seconds
    if sign:
        seconds -= (1 if sign == "+" else -1) * (int(hours) * 3600 + int(minutes) * 60)
    return seconds * 10**9 + int((fraction or "").ljust(9, "0"))


def _now() -> str:
    ns = time.time_ns()
    at = _EPOCH + datetime.timedelta(seconds=ns // 10**9)
    return at.isoformat() + ".%09dZ" % (ns % 10**9)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_whole(value: Any) -> bool:
    return type(value) is int or isinstance(value, float) and value.is_integer()


def _is_duration(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) < 1e18


# What a member must be that is there and not null.
_MEMBERS: List[Tuple[str, Callable[[Any], bool], str]] = [
    ("seq", _is_whole, "a whole number"), ("ms", _is_duration, "a number"), ("tool", _is_text, "a string"),
    ("key", _is_text, "a string"), ("kind", _is_text, "a string"),
    ("redacted", lambda value: isinstance(value, list), "a list"),
]


def _read(path: str) -> Tuple[Optional[Dict[str, Any]], List[Dict[str, Any]]]:
    """The manifest, None if there is none, and the records of a tape."""
    manifest: Optional[Dict[str, Any]] = None
    records: List[Dict[str, Any]] = []
    number = 0
    with open(path, "rb") as file:
        while True:
            raw = file.readline(MAX_LINE + 1)
            number += 1
            if not raw:
                return manifest, records
            if len(raw) > MAX_LINE:
                raise TapeError("%s:%d: over %d bytes" % (path, number, MAX_LINE))
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8", "replace").strip(" \t\r\n")
            if not text:
                continue
            try:
                line = parse(text)
                if not isinstance(line, dict):
                    raise ValueError("not an object")
                if "tape" in line:
                    if line["tape"] != VERSION:
                        raise ValueError("tape version %s, and this client knows %r" % (dump(line["tape"]), VERSION))
                    if manifest is not None or records:
                        raise ValueError("a manifest that is not the first line")
                    manifest = line
                    continue
                for name, right, what in _MEMBERS:
                    if line.get(name) is not None and not right(line[name]):
                        raise ValueError("member %r: want %s" % (name, what))
            except ValueError as error:
                raise TapeError("%s:%d: %s" % (path, number, error)) from None
            records.append(line)


def _failure(value: Any) -> Optional[Dict[str, str]]:
    """The error member of a record: a bare string is a message."""
    if value is None or value is False or value == "":
        return None
    if not isinstance(value, dict):
        return {"message": value if isinstance(value, str) else dump(value)}
    return {n: v if isinstance(v, str) else dump(v) for n, v in value.items() if n in ("code", "message", "type") and v is not None}


class _Step:
    """A record with what matching needs to know of it."""

    def __init__(self, place: int, line: Dict[str, Any], gaps: Dict[int, List[Dict[str, Any]]], folder: str):
        self.kind: str = line.get("kind") or "tool"
        self.tool: str = line.get("tool") or ""
        self.key: str = line.get("key") or ""
        self.recorded_key = self.key
        self.seq = int(line.get("seq") or 0)
        listed = gaps.get(self.seq, [])
        if self.seq < 1:
            self.seq = place + 1
        self.args, self.result, self.error = line.get("args"), line.get("result"), _failure(line.get("error"))
        self.side_effect: Optional[bool] = line.get("side_effect")
        self.start = _nanoseconds(line.get("start"))
        self.begin = self.end = place
        self.ms = float(line.get("ms") or 0)
        self.expires = _nanoseconds(line.get("expires"))
        self.consumed = False
        self.folder = folder
        body = line.get("body") or []
        bodies = {str(b.get("of") or "result"): b for b in (body if isinstance(body, list) else [body]) if isinstance(b, dict)}
        self.args_body, self.result_body = bodies.get("args"), bodies.get("result")
        paths = [p for p in line.get("redacted") or [] if isinstance(p, str)]
        fidelity = line.get("fidelity")
        self.redacted_args = any(p.startswith("args") for p in paths) or (fidelity == "redacted" and not paths)
        self.redacted_answer = any(p.startswith(("result", "error")) for p in paths)
        self.args_gap = next((g for g in listed if g.get("what") == "args"), None)
        self.result_gap = next((g for g in listed if g.get("what") == "result"), None)
        if listed:
            return
        if fidelity == "truncated":
            self.args_gap = {"what": "args", "why": "cut before they were recorded"}
            self.result_gap = {"what": "result", "why": "cut before it was recorded"}
        elif fidelity == "absent":
            if self.args is None and not self.args_body:
                self.args_gap = {"what": "args", "why": "never captured"}
            if self.result is None and not self.result_body and not self.error:
                self.result_gap = {"what": "result", "why": "never captured"}

    def load(self) -> Any:
        """The recorded result; a body held by reference is looked for in bodies/ beside
        the tape, where bundles have it. OSError and ValueError say why there is none."""
        if not self.result_body:
            text = dump(self.result)
            self.redacted_answer = self.redacted_answer or "[REDACTED:" in text
            return parse(text)  # a copy: the caller may change it
        digest = str(self.result_body.get("sha256"))
        if not re.fullmatch("[0-9a-f]{64}", digest):
            raise ValueError("body without a hash")
        try:
            with open(os.path.join(self.folder, "bodies", digest), "rb") as file:
                data = file.read()
        except FileNotFoundError:
            raise ValueError("body %s is not in bodies/ beside the tape" % digest) from None
        if hashlib.sha256(data).hexdigest() != digest:
            raise ValueError("body %s is damaged" % digest)
        text = data.decode("utf-8", "replace")
        if "json" in str(self.result_body.get("media_type") or ""):
            try:
                return parse(text)
            except ValueError:
                pass
        return text


class _Queue:
    """Steps in recorded order; those before `first` are consumed."""

    def __init__(self) -> None:
        self.steps: List[_Step] = []
        self.first = 0

    def head(self) -> Optional[_Step]:
        while self.first < len(self.steps) and self.steps[self.first].consumed:
            self.first += 1
        return self.steps[self.first] if self.first < len(self.steps) else None


class _Recorder:
    """Appends records in the order in which their calls began: one that ended waits for
    those that began before it and still run."""

    def __init__(self, path: str, next_seq: int, done: int):
        self.path, self.next_seq, self.done = path, next_seq, done
        self.running: List[Tuple[int, Optional[Dict[str, Any]]]] = []
        self.error: Optional[OSError] = None
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
        if os.fstat(self.file).st_size:
            os.lseek(self.file, -1, os.SEEK_END)
            if os.read(self.file, 1) != b"\n":
                self._append("")  # ends a line that an editor left open

    def _append(self, text: str) -> None:
        data = (text + "\n").encode()
        while data:
            data = data[os.write(self.file, data):]

    def begin(self) -> int:
        if self.error:
            raise TapeError("%s cannot be written: %s" % (self.path, self.error))
        seq = self.next_seq
        self.next_seq += 1
        self.running.append((seq, None))
        return seq

    def end(self, record: Dict[str, Any]) -> None:
        self.done += 1
        record["done"] = self.done
        self.running = [(seq, record if seq == record["seq"] else held) for seq, held in self.running]
        while self.running and self.running[0][1] is not None:
            self._flush(self.running.pop(0)[1])

    def _flush(self, record: Optional[Dict[str, Any]]) -> None:
        if record is not None and not self.error:
            try:
                self._append(dump(record))
            except OSError as error:
                self.error = error

    def close(self) -> None:
        for _, record in self.running:
            self._flush(record)
        self.running = []
        os.close(self.file)
        if self.error:
            raise TapeError("%s cannot be written: %s" % (self.path, self.error))


class _Call:
    """A call made comparable with records; redacted. `given` are the arguments before."""

    def __init__(self, number: int, kind: str, tool: str, args: Any, redacted: List[str], given: Any = None):
        self.number, self.kind, self.tool, self.args, self.redacted, self.given = number, kind, tool, args, redacted, given
        self.key = key(tool, args)

    def details(self, **more: Any) -> Dict[str, Any]:
        return {"call": self.number, "kind": self.kind, "tool": self.tool, "key": self.key, "live_args": self.args, **more}


class _Answer:
    """What a tape or a server says to a call."""

    def __init__(self, result: Any, error: Optional[Dict[str, str]], seq: int):
        self.result, self.error, self.seq = result, error, seq

    def give(self, errors: Iterable[Type[BaseException]]) -> Any:
        if self.error is None:
            return self.result
        recorded = RecordedError(seq=self.seq, result=self.result, **self.error)
        name = recorded.type.rpartition(".")[2]
        for cls in errors:
            if cls.__name__ == name:
                try:
                    known = cls(recorded.message)
                except TypeError:
                    break  # its constructor wants more than a message
                raise known from recorded
        raise recorded


class Session:
    """One replay or recording. `path` names the tape; `kinds` are those of the records
    that count, all if None; `redact` is a function of a JSON value (arguments, results,
    messages of errors) that returns what may be kept of it, and must leave unchanged
    what it returned before; `url` names a server, that of TAPE_URL if None, "" for none.
    Raises TapeError for a tape that cannot be used, OSError for a file that cannot."""

    def __init__(self, path: Optional[str] = None, mode: str = "replay", *,
                 redact: Optional[Callable[[Any], Any]] = None, kinds: Optional[Iterable[str]] = None,
                 url: Optional[str] = None):
        if mode not in MODES:
            raise TapeError("unknown mode %r, want one of %s" % (mode, ", ".join(MODES)))
        self.url = (os.environ.get("TAPE_URL", "") if url is None else url).rstrip("/")
        self.mode = "served" if self.url else "strict" if mode == "replay" else mode
        self._redact = redact
        self._lock = threading.RLock()
        self._closed = False
        self._recorder: Optional[_Recorder] = None
        self._steps: List[_Step] = []
        self._by_key: Dict[Tuple[str, str], _Queue] = {}
        self._by_tool: Dict[Tuple[str, str], _Queue] = {}
        self._ran: Dict[Tuple[str, str], Tuple[int, int]] = {}
        self._latest: Optional[int] = None
        self._stats = dict.fromkeys((
            "steps", "tape_hits", "tape_misses", "live_tool_calls", "real_side_effects", "drift_events",
            "exhausted", "gaps", "reordered", "redacted_served", "expired_served"), 0)
        if self.url:
            return
        if path is None:
            raise TapeError("a session needs the path of a tape")
        manifest: Optional[Dict[str, Any]] = None
        records: List[Dict[str, Any]] = []
        if self.mode == "strict" or os.path.exists(path):
            manifest, records = _read(path)
        if self.mode == "strict" and manifest is None and not records:
            raise TapeError("%s: the tape is empty" % path)
        policy = bool(manifest and manifest.get("redaction"))
        if policy and self.mode != "strict" and redact is None:
            raise TapeError("%s is redacted by a policy, which this client cannot apply to what it would append: "
                            "give redact= a function, or record to another file" % path)
        if self.mode != "record":
            self._load(path, manifest or {}, records, policy, None if kinds is None else set(kinds))
        self._effects: Dict[str, bool] = {}
        for line in records:
            if isinstance(line.get("side_effect"), bool):
                self._effects[line.get("tool") or ""] = self._effects.get(line.get("tool") or "", False) or line["side_effect"]
        if self.mode != "strict":
            seqs = [int(line.get("seq") or 0) for line in records]
            self._recorder = _Recorder(path, max([len(seqs)] + seqs) + 1, len(records))

    def _load(self, path: str, manifest: Dict[str, Any], records: List[Dict[str, Any]], policy: bool, kinds: Any) -> None:
        gaps: Dict[int, List[Dict[str, Any]]] = {}
        listed = manifest.get("gaps")
        for gap in listed if isinstance(listed, list) else []:
            if isinstance(gap, dict) and _is_whole(gap.get("seq")) and gap["seq"]:
                gaps.setdefault(int(gap["seq"]), []).append(gap)
        folder = os.path.dirname(os.path.abspath(path))
        steps = [_Step(i, line, gaps, folder) for i, line in enumerate(records)]
        timed = all(step.start is not None for step in steps)
        for step in steps:
            if kinds is not None and step.kind not in kinds:
                continue
            if step.redacted_args and self._redact is None:
                raise TapeError("%s: record %d has redacted arguments, which live ones cannot match here: replay it with "
                                "`tape run %s -- CMD`, which redacts them the same way" % (path, step.seq, path))
            if timed and step.start is not None:
                step.begin, step.end = step.start, step.start + int(max(0.0, step.ms) * 1e6)
            if not (step.key and (policy or step.args_body)):
                try:
                    step.key = key(step.tool, step.args if policy else self._redacted("", step.args)[0])
                except (TypeError, ValueError) as error:
                    raise TapeError("%s: record %d: member \"args\": %s" % (path, step.seq, error)) from error
            self._steps.append(step)
            self._by_key.setdefault((step.kind, step.key), _Queue()).steps.append(step)
            self._by_tool.setdefault((step.kind, step.tool), _Queue()).steps.append(step)

    # -- calls

    def call(self, tool: str, fn: Optional[Callable[..., Any]], args: Any = None, *, kind: str = "tool",
             side_effect: Optional[bool] = None, errors: Iterable[Type[BaseException]] = ()) -> Any:
        """The answer of a tool: from the tape, or from fn where the mode lets it run, with
        a dict as keyword arguments, None as none and anything else as the one argument.
        A recorded failure is raised as the class among `errors` of its name, else as
        RecordedError; what the tape does not answer is a Verdict."""
        if inspect.iscoroutinefunction(fn):
            raise TypeError("%s is a coroutine function: use acall" % tool)
        return self._call(tool, None if fn is None else functools.partial(_apply, fn), args, kind, side_effect, errors)

    async def acall(self, tool: str, fn: Optional[Callable[..., Awaitable[Any]]], args: Any = None, *, kind: str = "tool",
                    side_effect: Optional[bool] = None, errors: Iterable[Type[BaseException]] = ()) -> Any:
        """call() for functions whose result is awaited."""
        return await self._acall(tool, None if fn is None else functools.partial(_apply, fn), args, kind, side_effect, errors)

    def tool(self, fn: Any = None, *, name: Optional[str] = None, kind: str = "tool",
             side_effect: Optional[bool] = None, errors: Iterable[Type[BaseException]] = ()) -> Any:
        """A decorator: every call of the function, a coroutine function or not, is a call
        of the tool of its name, with the arguments that were given, by name."""
        return _decorator(lambda: self, fn, name, kind, side_effect, errors)

    def _call(self, tool: str, run: Optional[Callable[[Any], Any]], args: Any, kind: str,
              side_effect: Optional[bool], errors: Iterable[Type[BaseException]]) -> Any:
        answer = self._ask(tool, args, kind, run is not None, side_effect)
        if isinstance(answer, _Answer):
            return answer.give(errors)
        assert run is not None
        try:
            value = run(answer.args)
        except BaseException as error:
            answer.failed(error)
            raise
        return answer.returned(value)

    async def _acall(self, tool: str, run: Optional[Callable[[Any], Awaitable[Any]]], args: Any, kind: str,
                     side_effect: Optional[bool], errors: Iterable[Type[BaseException]]) -> Any:
        answer = await self._aside(self._ask, tool, args, kind, run is not None, side_effect)
        if isinstance(answer, _Answer):
            return answer.give(errors)
        assert run is not None
        try:
            value = await run(answer.args)
        except BaseException as error:
            await self._aside(answer.failed, error)
            raise
        return await self._aside(answer.returned, value)

    async def _aside(self, work: Callable[..., Any], *args: Any) -> Any:
        # A server may hold an answer back; a tape in memory never waits.
        if self.url:
            return await asyncio.get_running_loop().run_in_executor(None, functools.partial(work, *args))
        return work(*args)

    def _ask(self, tool: str, args: Any, kind: str, can_run: bool, side_effect: Optional[bool]) -> Any:
        """An _Answer, or a _Live call that is to run."""
        if kind not in KINDS:
            raise TapeError("%s: unknown kind %r, want one of %s" % (tool, kind, ", ".join(KINDS)))
        given = args
        try:
            args, redacted = self._redacted("args", args)
        except (TypeError, ValueError) as error:
            raise TapeError("arguments of %s: %s" % (tool, error)) from error
        with self._lock:
            if self._closed:
                raise TapeError("%s: the session is closed" % tool)
            self._stats["steps"] += 1
            made = _Call(self._stats["steps"], kind, tool, args, redacted, given)
        if self.url:
            return self._serve(made, can_run, side_effect)
        with self._lock:
            if self.mode != "record":
                try:
                    return self._match(made)
                except Verdict as verdict:
                    self._count(verdict)
                    if self.mode == "strict" or not can_run or isinstance(verdict, (Drift, Gap)):
                        raise
            if not can_run:
                raise TapeError("%s: nothing to run live" % tool)
            return self._start(made, side_effect)

    def _redacted(self, root: str, value: Any) -> Tuple[Any, List[str]]:
        """A copy of a value as it may be kept, and the paths that differ from it."""
        before = parse(dump(value))
        if self._redact is None:
            return before, []
        after = parse(dump(self._redact(parse(dump(value)))))
        changed: List[Dict[str, Any]] = []
        _diff(changed, root, before, after)
        return after, [c["path"] for c in changed]

    # -- matching, with the lock held

    def _match(self, made: _Call) -> _Answer:
        step = self._by_key.get((made.kind, made.key), _Queue()).head()
        if step is None:
            raise self._no_answer(made)
        reordered = self._consume(step)
        if step.result_gap:
            raise _gap(made, step, step.result_gap)
        try:
            answer = _Answer(step.load(), step.error, step.seq)
        except (OSError, ValueError) as error:
            why = "held by reference: %s" % error if step.result_body else str(error)
            raise _gap(made, step, {"what": "result", "why": why}) from error
        self._stats["tape_hits"] += 1
        self._stats["reordered"] += reordered
        self._stats["redacted_served"] += step.redacted_answer
        self._stats["expired_served"] += step.expires is not None and step.expires < time.time_ns()
        return answer

    def _consume(self, step: _Step) -> bool:
        step.consumed = True
        latest = self._latest
        self._latest = step.begin if latest is None else max(latest, step.begin)
        return latest is not None and step.end <= latest and step.begin < latest

    def _no_answer(self, made: _Call) -> Verdict:
        at = (made.kind, made.key)
        served = self._by_key.get(at, _Queue()).steps
        times, last = self._ran.get(at, (0, served[-1].seq if served else 0))
        times += len(served)
        if times:
            return Exhausted("exhausted: call %d: %s was answered %d of %d times, last by step %d"
                             % (made.number, made.key, times, times, last), **made.details(seq=last))
        step = self._by_tool.get((made.kind, made.tool), _Queue()).head()
        if step is None:
            return self._miss(made)
        if step.args_gap:
            self._consume(step)
            return _gap(made, step, step.args_gap)
        details = made.details(seq=step.seq, expected=step.key)
        text = "drift at step %d: %s: recorded %s, called %s" % (step.seq, made.tool, step.key, made.key)
        if not step.args_body:
            changed = self._differences(step, made)
            details.update(recorded_args=self._redacted("", step.args)[0], differences=changed[:MAX_DIFFERENCES])
            text += ": " + (_shown(changed[:MAX_DIFFERENCES], len(changed[MAX_DIFFERENCES:]))
                            or "the arguments are the same, but the record's key is not theirs")
        return Drift(text, **details)

    def _differences(self, step: _Step, made: _Call) -> List[Dict[str, Any]]:
        changed: List[Dict[str, Any]] = []
        recorded, _ = self._redacted("", step.args)
        _diff(changed, "", parse(canonical(recorded)), parse(canonical(made.args)))
        return changed

    def _miss(self, made: _Call) -> Miss:
        digits = made.key[-13:]
        best: Optional[Tuple[int, int, _Step, str]] = None
        for (kind, tool), queue in self._by_tool.items():
            if kind != made.kind:
                continue
            near = [(2, queue, "the same tool, served before")]
            if tool != made.tool:
                near = [(3, self._by_key.get((kind, tool + digits), _Queue()), "the same arguments for another tool")]
                if _similar(tool, made.tool):
                    near.append((1, queue, "a similar name"))
            for rank, steps, why in near:
                step = steps.head()
                rank = 2 * rank + (step is not None)
                if not steps.steps:
                    continue
                step = step or steps.steps[-1]
                if best is None or (rank, -step.seq) > best[:2]:
                    best = (rank, -step.seq, step, why)
        text = "miss: call %d: %s is not on the tape" % (made.number, made.key)
        if best is None:
            return Miss(text, **made.details())
        step, why = best[2], best[3]
        if step.tool == made.tool and not step.args_body:
            changed = self._differences(step, made)
            why += ", differs at " + _shown(changed[:1], 0) if changed else ""
        text += "; nearest is step %d, %s: %s" % (step.seq, step.key, why)
        return Miss(text, **made.details(nearest={"seq": step.seq, "tool": step.tool, "key": step.key, "why": why}))

    def _count(self, verdict: Verdict) -> None:
        name = {"drift": "drift_events", "miss": "tape_misses", "gap": "gaps"}.get(verdict.verdict, verdict.verdict)
        self._stats[name] += 1

    # -- live calls

    def _start(self, made: _Call, side_effect: Optional[bool]) -> "_Live":
        assert self._recorder is not None
        seq = self._recorder.begin()
        if side_effect is None:
            side_effect = self._effects.get(made.tool)
        self._count_live(side_effect)
        if self.mode == "replay+record":
            at = (made.kind, made.key)
            self._ran[at] = (self._ran.get(at, (0, 0))[0] + 1, seq)
        return _Live(self, made, seq, side_effect)

    def _count_live(self, side_effect: Optional[bool]) -> None:
        self._stats["live_tool_calls"] += 1
        self._stats["real_side_effects"] += side_effect is True

    def _end(self, made: _Call, record: Dict[str, Any]) -> None:
        with self._lock:
            if self._recorder is not None and not self._closed:
                self._recorder.end(record)
        if self.mode == "replay+record":
            audit.info("replay ran a call live: tool=%s key=%s side_effect=%s ms=%.3f failed=%s",
                       made.tool, made.key, record["side_effect"], record["ms"], "error" in record)

    # -- the server

    def _serve(self, made: _Call, can_run: bool, side_effect: Optional[bool]) -> Any:
        """An _Answer of the server, or an _Ordered call that is to run."""
        body: Dict[str, Any] = {"tool": made.tool, "args": made.args, "kind": made.kind}
        if can_run:
            body["live"] = True
        seq, said = self._post("/v1/call", made, body)
        if said.get("live") is True and can_run:
            if not (isinstance(said.get("call"), str) and "args" in said):
                raise TapeError("%s: status 200, and no answer to a call" % self.url)
            with self._lock:
                self._count_live(side_effect)
            return _Ordered(self, made, said["call"], side_effect).begin(said["args"])
        if "result" not in said:
            raise TapeError("%s: status 200, and no answer to a call" % self.url)
        with self._lock:
            self._stats["tape_hits"] += 1
        return _Answer(said["result"], _failure(said.get("error")), seq)

    def _post(self, path: str, made: _Call, body: Dict[str, Any]) -> Tuple[int, Dict[str, Any]]:
        """The step and the answer of the server. Raises what it refuses."""
        request = urllib.request.Request(self.url + path, dump(body).encode(), {"Content-Type": "application/json"})
        # The server is on this machine: no proxy in between.
        direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with direct.open(request) as response:
                status, seq, text = 200, int(response.headers.get("Tape-Seq") or 0), response.read()
        except urllib.error.HTTPError as refused:
            with refused:
                status, seq, text = refused.code, 0, refused.read()
        except OSError as error:
            raise TapeError("%s: the server of the tape does not answer: %s" % (self.url, error)) from error
        try:
            said = parse(text.decode("utf-8", "replace"))
            if status == 200 and isinstance(said, dict):
                return seq, said
            failed = said["error"]
            code, message = failed["code"], failed["message"]
        except (ValueError, LookupError, TypeError) as error:
            raise TapeError("%s: status %d, and no answer to a call" % (self.url, status)) from error
        raise self._refusal(made, code, message, failed)

    def _refusal(self, made: _Call, code: str, message: str, failed: Dict[str, Any]) -> TapeError:
        if code == "live_refused":
            return Refused(message)
        cls = {"tape_drift": Drift, "tape_miss": Miss, "tape_exhausted": Exhausted, "tape_gap": Gap}.get(code)
        if cls is None:
            return TapeError("%s: %s: %s" % (made.tool, code, message))
        details = {n: v for n, v in failed.items() if n not in ("code", "message", "verdict")}
        for difference in details.get("differences") or []:
            difference.update({side: dump(difference[side]) for side in ("recorded", "live") if side in difference})
        verdict = cls(message, **details)
        with self._lock:
            self._count(verdict)
        return verdict

    # -- the end

    def unconsumed(self) -> List[Dict[str, Any]]:
        """The records that were not asked for so far."""
        with self._lock:
            return [{"seq": s.seq, "kind": s.kind, "tool": s.tool, "key": s.key} for s in self._steps if not s.consumed]

    def stats(self) -> Dict[str, Any]:
        """Counts of what this session did; in served mode, of this process alone."""
        with self._lock:
            return {"mode": self.mode, **self._stats, "unconsumed": len(self.unconsumed())}

    def close(self) -> None:
        """End the session. Raises Unclean if a call was no hit, also one whose error the
        program swallowed, or, in strict replay, if records were never asked for."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            stats = self.stats()
            if self._recorder is not None:
                self._recorder.close()
        bad = {"drift": stats["drift_events"], "miss": stats["tape_misses"], "exhausted": stats["exhausted"],
               "gap": stats["gaps"], "unconsumed": stats["unconsumed"]}
        if not any(bad[what] for what in (("drift", "gap") if self.mode == "replay+record" else bad)):
            return
        text = "the replay was not clean: " + ", ".join("%d %s" % (n, what) for what, n in bad.items() if n)
        if bad["unconsumed"]:
            left = self.unconsumed()
            text += ": " + ", ".join("step %d %s" % (u["seq"], u["tool"]) for u in left[:3]) + (", …" if len(left) > 3 else "")
        raise Unclean(text, stats)

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            self.close()
        except TapeError:
            if kind is None:
                raise  # else what ended the block says more

    async def __aenter__(self) -> "Session":
        return self

    async def __aexit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.__exit__(kind, error, trace)


class _Live:
    """A call that runs, with `args`, and is being recorded."""

    def __init__(self, session: Session, made: _Call, seq: int, side_effect: Optional[bool]):
        self.session, self.made, self.seq, self.side_effect = session, made, seq, side_effect
        self.args = made.given
        self.start, self.began = _now(), time.perf_counter()

    def returned(self, value: Any) -> Any:
        try:
            text = dump(value)
        except (TypeError, ValueError) as error:
            wrong = TapeError("result of %s: %s" % (self.made.tool, error))
            self.failed(wrong)
            raise wrong from error
        kept, redacted = self.session._redacted("result", value)
        self._record(kept, None, redacted)
        # As a replay will give it: a tuple is a list.
        return parse(text)

    def failed(self, error: BaseException) -> None:
        failure = {"code": getattr(error, "code", ""), "message": str(error), "type": type(error).__name__}
        if isinstance(error, RecordedError):
            failure.update(message=error.message, type=error.type)
        else:
            failure["code"] = ""
        failure["message"], redacted = self.session._redacted("error.message", failure["message"])
        self._record(None, {name: text for name, text in failure.items() if text}, redacted)

    def _record(self, result: Any, error: Optional[Dict[str, str]], redacted: List[str]) -> None:
        made = self.made
        record: Dict[str, Any] = {
            "seq": self.seq, "tool": made.tool, "key": made.key, "args": made.args, "result": result,
            "ms": round((time.perf_counter() - self.began) * 1000, 6), "side_effect": self.side_effect, "clock": self.start,
        }
        if made.kind != "tool":
            record["kind"] = made.kind
        if error is not None:
            record["error"] = error
        record["start"] = self.start
        redacted = made.redacted + redacted
        if redacted:
            record.update(fidelity="redacted", redacted=redacted)
        self.session._end(made, record)


class _Ordered(_Live):
    """A call that the server has this program run, and is told the outcome of."""

    def __init__(self, session: Session, made: _Call, id: str, side_effect: Optional[bool]):
        super().__init__(session, made, 0, side_effect)
        self.id = id

    def begin(self, args: Any) -> "_Ordered":
        """Take the arguments to run with, which may be about other accounts."""
        if dump(args) == dump(self.made.args):
            return self  # with the values as the program has them
        if self.made.redacted:
            error = TapeError("%s: cannot run with other arguments: redact= has hidden some of the program's from the server" % self.made.tool)
            self.failed(error)
            raise error
        self.args = args
        return self

    def _record(self, result: Any, error: Optional[Dict[str, str]], redacted: List[str]) -> None:
        outcome = {"result": result} if error is None else {"error": error}
        self.session._post("/v1/record", self.made, {"call": self.id, **outcome})


def _gap(made: _Call, step: _Step, gap: Dict[str, Any]) -> Gap:
    why, fix = gap.get("why") or "not captured", gap.get("fix")
    text = "gap at step %d: %s: %s: %s" % (step.seq, made.tool, gap.get("what"), why)
    return Gap(text + ("; fix: %s" % fix if fix else ""), **made.details(seq=step.seq, **({"fix": fix} if fix else {})))


def _similar(a: str, b: str) -> bool:
    a, b = (re.sub("[-_./ ]", "", name).lower() for name in (a, b))
    return a == b or min(len(a), len(b)) >= 3 and (a.startswith(b) or b.startswith(a) or a.endswith(b) or b.endswith(a))


def _apply(fn: Callable[..., Any], args: Any) -> Any:
    if args is None:
        return fn()
    return fn(**args) if isinstance(args, Mapping) else fn(args)


def _decorator(current: Callable[[], Optional[Session]], fn: Any, name: Optional[str], kind: str,
               side_effect: Optional[bool], errors: Iterable[Type[BaseException]]) -> Any:
    def wrap(fn: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
            raise TypeError("%s gives its result piece by piece, which a tape cannot hold" % fn.__qualname__)
        tool, signature = name or fn.__name__, inspect.signature(fn)

        def bind(args: Any, kwargs: Any) -> Tuple[Dict[str, Any], Callable[[Any], Any]]:
            """The arguments by name, and what calls fn with these or with others."""
            bound = signature.bind(*args, **kwargs)
            given: Dict[str, Any] = {}
            for i, (at, value) in enumerate(bound.arguments.items()):
                if signature.parameters[at].kind is inspect.Parameter.VAR_KEYWORD:
                    given.update(value)
                elif not (i == 0 and at in ("self", "cls")):
                    given[at] = value

            def run(others: Any) -> Any:
                if others is given:
                    return fn(*args, **kwargs)
                for at, value in bound.arguments.items():
                    if signature.parameters[at].kind is inspect.Parameter.VAR_KEYWORD:
                        bound.arguments[at] = {name: others[name] for name in value}
                    elif at in given:
                        bound.arguments[at] = others[at]
                return fn(*bound.args, **bound.kwargs)

            return given, run

        if inspect.iscoroutinefunction(fn):
            @functools.wraps(fn)
            async def awaited(*args: Any, **kwargs: Any) -> Any:
                session = current()
                if session is None:
                    return await fn(*args, **kwargs)
                given, run = bind(args, kwargs)
                return await session._acall(tool, run, given, kind, side_effect, errors)
            return awaited

        @functools.wraps(fn)
        def called(*args: Any, **kwargs: Any) -> Any:
            session = current()
            if session is None:
                return fn(*args, **kwargs)
            given, run = bind(args, kwargs)
            return session._call(tool, run, given, kind, side_effect, errors)
        return called

    return wrap if fn is None else wrap(fn)


# ---- the session of the environment

_current: Optional[Session] = None
_started = False
_guard = threading.Lock()


def session() -> Optional[Session]:
    """The session that call, acall and tool use: that of use(), else the one the
    environment asks for, else None."""
    global _current, _started
    with _guard:
        if not _started:
            kinds = os.environ.get("TAPE_KIND")
            if os.environ.get("TAPE_URL") or os.environ.get("TAPE_FILE"):
                _current = Session(os.environ.get("TAPE_FILE"), os.environ.get("TAPE_MODE") or "replay",
                                   kinds=kinds.split(",") if kinds else None)
            _started = True
        return _current


def use(of: Optional[Session]) -> None:
    """Make call, acall and tool use this session, with None none at all."""
    global _current, _started
    with _guard:
        _current, _started = of, True


def call(tool: str, fn: Optional[Callable[..., Any]], args: Any = None, **options: Any) -> Any:
    """Session.call of session(); without one, fn runs and nothing is recorded."""
    current = session()
    if current is not None:
        return current.call(tool, fn, args, **options)
    if fn is None:
        raise TapeError("%s: nothing to run live" % tool)
    return _apply(fn, args)


async def acall(tool: str, fn: Optional[Callable[..., Awaitable[Any]]], args: Any = None, **options: Any) -> Any:
    """Session.acall of session(); without one, fn runs and nothing is recorded."""
    current = session()
    if current is not None:
        return await current.acall(tool, fn, args, **options)
    if fn is None:
        raise TapeError("%s: nothing to run live" % tool)
    return await _apply(fn, args)


def tool(fn: Any = None, *, name: Optional[str] = None, kind: str = "tool",
         side_effect: Optional[bool] = None, errors: Iterable[Type[BaseException]] = ()) -> Any:
    """Session.tool of session(), which is looked up at each call."""
    return _decorator(session, fn, name, kind, side_effect, errors)


@atexit.register
def _at_exit() -> None:
    if _current is None:
        return
    try:
        _current.close()
    except TapeError as error:
        if _current.url:
            return  # the server reports
        print("tape: %s" % error, file=sys.stderr)
        sys.stdout.flush()
        sys.stderr.flush()
        # The only way for a handler to have a say in the exit code of the process.
        os._exit(1)


def main(argv: List[str]) -> int:
    """Walk a tape: each record asks for its own answer. 0 if all have one."""
    if len(argv) != 1 or argv[0].startswith("-"):
        print("usage: python3 tape.py FILE", file=sys.stderr)
        return 2
    good = True
    try:
        walk = Session(argv[0], redact=lambda value: value, url="")
        for step in walk._steps:
            made = _Call(step.seq, step.kind, step.tool, step.args, [])
            computed, made.key = made.key, step.key
            said = "hit"
            if step.recorded_key not in ("", computed) and not step.args_body:
                good, said = False, "hit, but the arguments make its key %s" % computed
            walk._stats["steps"] += 1
            try:
                answer = walk._match(made)
                if answer.error is not None:
                    said += ", a failure: %s" % dump(answer.error.get("message") or answer.error.get("type") or "")
            except Verdict as verdict:
                walk._count(verdict)
                said = str(verdict)
            line = "%6d  %s  %s" % (step.seq, step.recorded_key or step.key, said)
            # On a terminal, names that an agent chose are text and nothing else.
            print(re.sub("[\x00-\x1f\x7f-\x9f\ud800-\udfff]", lambda m: "\\u%04x" % ord(m[0]), line))
        try:
            walk.close()
        finally:
            print(dump(walk.stats()))
    except Unclean as unclean:
        print("tape: %s" % unclean, file=sys.stderr)
        return 1
    except (TapeError, OSError) as error:
        print("tape: %s" % error, file=sys.stderr)
        return 2
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
