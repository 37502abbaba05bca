"""Asking the tape, and how its answers reach a framework.

A recorded failure is raised as an exception of the class that was recorded, where
the program has one of that name, so that handlers by class work as they did. A
verdict other than hit is a BaseException: frameworks turn what tools raise into
answers for the model, and this must not become one.

In a live replay and from a fork on, the tape has the program run a call: the answer
is an Order then, which the framework's file runs the tool with.
"""
import builtins
import contextlib
import contextvars
import dataclasses
import functools
import http.client
import json
import os
import sys
import urllib.parse


class TapeVerdict(BaseException):
    """The tape has no answer to a call: drift, miss, exhausted or gap."""

    def __init__(self, message, code=""):
        super().__init__(message)
        self.code = code


class RecordedFailure(Exception):
    """A recorded failure whose own class is not at hand."""

    def __init__(self, message, code="", type=""):
        super().__init__(message)
        self.code, self.type = code, type


class Failure:
    """A recorded failure before it is raised: what the tape says of it."""

    def __init__(self, error, result):
        self.code, self.message, self.type = (str(error.get(name) or "") for name in ("code", "message", "type"))
        self.result = result

    @property
    def text(self):
        return self.message or self.type or self.code or "failed"

    def exception(self, known=()):
        """The exception to raise; known are classes of the framework, which go first."""
        name = self.type.rpartition(".")[2]
        for kind in [k for k in known if k.__name__ == name] + [_class_of(self.type)]:
            made = _make(kind, self.text)
            if made is not None:
                return made
        # Named as recorded, for whoever prints the class.
        kind = type(name, (RecordedFailure,), {}) if name.isidentifier() else RecordedFailure
        return kind(self.text, self.code, self.type)


def _class_of(name):
    """The class of a name, from what is imported: nothing is imported for it."""
    module, _, last = name.rpartition(".")
    found = getattr(sys.modules.get(module or "__main__"), last, None) or getattr(builtins, last, None)
    return found if isinstance(found, type) else None


def _make(kind, text):
    if kind is None or not issubclass(kind, Exception):
        return None
    try:
        made = kind(text)
        return made if text in str(made) else None
    except Exception:
        return None  # Its constructor wants something else.


class Order:
    """A call that this program is to run, and to say what came of."""

    def __init__(self, call, asked, args):
        self._call = call
        # The arguments that are to be others than those asked with, by name. None
        # where they have no names.
        self.others = {}
        if args != asked:
            self.others = None
            if isinstance(args, dict) and isinstance(asked, dict) and args.keys() == asked.keys():
                self.others = {name: value for name, value in args.items() if value != asked[name]}

    def run(self, tool, work, told=lambda result: result):
        """The result of work(others), which runs the tool itself: further asking about
        the same tool, by a base class, stays out of it. told() makes of the result what
        is recorded."""
        with running(tool):
            try:
                result = work(self._given())
            except BaseException as error:
                self._report(error=error)
                raise
        self._report(told(result))
        return result

    async def run_async(self, tool, work, told=lambda result: result):
        """run() of work that is awaited."""
        with running(tool):
            try:
                result = await work(self._given())
            except BaseException as error:
                await _aside(functools.partial(self._report, error=error))
                raise
        await _aside(functools.partial(self._report, told(result)))
        return result

    def _given(self):
        if self.others is None:
            raise _verdict("the tool cannot be run with other arguments: they have no names", "live_refused")
        return self.others

    def _report(self, result=None, error=None):
        outcome = {"call": self._call}
        if error is None:
            outcome["result"] = result
        else:
            outcome["error"] = {"type": type(error).__name__, "message": str(error)}
        _answered("/v1/record", outcome)


# The tool that runs, in this context.
_live = contextvars.ContextVar("tapedeck_live", default=object())


@contextlib.contextmanager
def running(tool):
    """Within it, runs(tool) is true: the tool itself runs, and is not asked about."""
    before = _live.set(tool)
    try:
        yield
    finally:
        _live.reset(before)


def runs(tool):
    """Whether it is the tool itself that runs."""
    return _live.get() is tool


def ask(tool, args, tool_call_id=None):
    """The recorded result of a call, its Failure, or the Order to run it. Raises
    TapeVerdict."""
    body = {"tool": tool, "args": args, "live": True}
    if tool_call_id:
        body["tool_call_id"] = tool_call_id
    answer = _answered("/v1/call", body)
    if answer.get("live"):
        return Order(answer["call"], json.loads(_json(args)), answer["args"])
    if answer.get("error"):
        return Failure(answer["error"], answer.get("result"))
    return answer.get("result")


async def ask_async(tool, args, tool_call_id=None):
    """ask() in a thread: an answer may be held back for the recorded order."""
    return await _aside(functools.partial(ask, tool, args, tool_call_id))


async def _aside(call):
    asyncio = sys.modules.get("asyncio")
    try:
        loop = asyncio.get_running_loop()
    except (AttributeError, RuntimeError):
        import anyio.to_thread  # Another event loop, which only anyio gives.

        return await anyio.to_thread.run_sync(call)
    return await loop.run_in_executor(None, call)


def given(answer, known=()):
    """The result of an answer; a recorded failure is raised."""
    if isinstance(answer, Failure):
        raise answer.exception(known)
    return answer


def text_of(result):
    """A result as the text that a model reads."""
    return result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)


def once(wrapper):
    """Mark a wrapper, so that a class hooked twice is asked once."""
    wrapper.tapedeck = True
    return wrapper


def hooked(function):
    return getattr(function, "tapedeck", False)


def for_subclasses(base, wrap):
    """Call wrap(cls) for a class, its subclasses, and those still to come."""
    original = base.__dict__.get("__init_subclass__")

    def __init_subclass__(cls, **keywords):
        if original is not None:
            original.__get__(None, cls)(**keywords)
        else:
            super(base, cls).__init_subclass__(**keywords)
        wrap(cls)

    base.__init_subclass__ = classmethod(__init_subclass__)
    known = [base]
    while known:
        cls = known.pop()
        wrap(cls)
        known += cls.__subclasses__()


def _answered(path, body):
    """The good answer of the server; of any other, the TapeVerdict."""
    status, answer = _post(path, _json(body).encode())
    if status == 200:
        return answer
    error = answer.get("error", {})
    raise _verdict(error.get("message", f"status {status}"), error.get("code", ""))


def _verdict(message, code):
    message = f"tape: {message}"
    # Said here too, as whoever catches it may keep it to himself.
    print(message, file=sys.stderr, flush=True)
    return TapeVerdict(message, code)


def _post(path, body):
    """POST by the bare client: no proxy, no instrumentation."""
    url = urllib.parse.urlsplit(os.environ["TAPE_URL"])
    connection = http.client.HTTPConnection(url.hostname, url.port)
    try:
        connection.request("POST", url.path.rstrip("/") + path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        return response.status, json.loads(response.read())
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise _verdict(f"{url.geturl()} does not answer: {error}", "unreachable") from error
    finally:
        connection.close()


def _json(value):
    return json.dumps(value, default=_plain)


def _plain(value):
    """What is no JSON, as the instrumentations write it."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return dataclasses.asdict(value)
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return str(value)
