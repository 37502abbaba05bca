"""LangChain and LangGraph: BaseTool.run and arun, around the tool's _run and _arun.

Callbacks, validation and the handling of errors stay the framework's; only the
tool's own code is replaced. The arguments are those that callbacks see: without
what the framework injects.
"""
import contextvars
import functools

from .ask import Order, ask, ask_async, for_subclasses, given, hooked, once, runs

# The call that is due to be answered: the tool, its input, the id of the call.
_due = contextvars.ContextVar("tapedeck_langchain", default=None)


def hook(module):
    tool_exception = getattr(module, "ToolException", None)
    known = (tool_exception,) if tool_exception else ()

    def wrap(cls):
        for name, wrapper in (("run", _noting), ("arun", _noting_async), ("_run", _answered), ("_arun", _answered_async)):
            original = cls.__dict__.get(name)
            if original is not None and not hooked(original):
                setattr(cls, name, wrapper(original, known))

    for_subclasses(module.BaseTool, wrap)


def _noting(run, _):
    @once
    @functools.wraps(run)
    def noting(self, tool_input, *args, **kwargs):
        before = _due.set(_Call(self, tool_input, kwargs.get("tool_call_id")))
        try:
            return run(self, tool_input, *args, **kwargs)
        finally:
            _due.reset(before)

    return noting


def _noting_async(run, _):
    @once
    @functools.wraps(run)
    async def noting(self, tool_input, *args, **kwargs):
        before = _due.set(_Call(self, tool_input, kwargs.get("tool_call_id")))
        try:
            return await run(self, tool_input, *args, **kwargs)
        finally:
            _due.reset(before)

    return noting


class _Call:
    def __init__(self, tool, tool_input, tool_call_id):
        self.tool, self.id = tool, tool_call_id
        self.args = tool_input
        if isinstance(tool_input, dict) and hasattr(tool, "_filter_injected_args"):
            self.args = tool._filter_injected_args(tool_input)


def _take(tool):
    call = _due.get()
    if call is None or call.tool is not tool or runs(call):
        return None
    return call


def _answered(run, known):
    @once
    @functools.wraps(run)
    def answered(self, *args, **kwargs):
        call = _take(self)
        if call is None:
            return run(self, *args, **kwargs)
        answer = ask(self.name, call.args, call.id)
        if isinstance(answer, Order):
            return answer.run(call, lambda others: run(self, *args, **{**kwargs, **others}), _told(self))
        return _shaped(self, given(answer, known))

    return answered


def _answered_async(run, known):
    @once
    @functools.wraps(run)
    async def answered(self, *args, **kwargs):
        call = _take(self)
        if call is None:
            return await run(self, *args, **kwargs)
        answer = await ask_async(self.name, call.args, call.id)
        if isinstance(answer, Order):
            return await answer.run_async(call, lambda others: run(self, *args, **{**kwargs, **others}), _told(self))
        return _shaped(self, given(answer, known))

    return answered


def _has_artifact(tool):
    # Artifacts are not sent to models, nor recorded.
    return getattr(tool, "response_format", "content") == "content_and_artifact"


def _shaped(tool, result):
    return (result, None) if _has_artifact(tool) else result


def _told(tool):
    return lambda result: result[0] if _has_artifact(tool) else result
