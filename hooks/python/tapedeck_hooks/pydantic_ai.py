"""Pydantic AI: the toolsets that run tools, not those that wrap others.

ToolManager knows the arguments as the model wrote them, which is what spans hold;
the toolset gets them validated. Approval, retries and output tools stay the
framework's.
"""
import contextvars
import functools
import json
import sys

from .ask import Order, ask_async, for_subclasses, given, hooked, once, runs

# The call that the manager executes, as the model made it.
_made = contextvars.ContextVar("tapedeck_pydantic_ai", default=None)

# Toolsets that hand calls to others, by name: they are defined after their base.
_HANDING_ON = {"WrapperToolset", "CombinedToolset", "DynamicToolset"}


def hook(module):
    if hasattr(module, "ToolManager"):
        _note_calls(module.ToolManager)
    if hasattr(module, "AbstractToolset"):
        for_subclasses(module.AbstractToolset, _wrap)


def _note_calls(manager):
    execute = manager._raw_execute

    @functools.wraps(execute)
    async def noting(self, validated, *args, **kwargs):
        before = _made.set(validated.call)
        try:
            return await execute(self, validated, *args, **kwargs)
        finally:
            _made.reset(before)

    manager._raw_execute = noting


def _wrap(cls):
    call_tool = cls.__dict__.get("call_tool")
    if call_tool is None or hooked(call_tool) or getattr(call_tool, "__isabstractmethod__", False):
        return
    if _HANDING_ON.intersection(base.__name__ for base in cls.__mro__):
        return

    @once
    @functools.wraps(call_tool)
    async def answered(self, name, tool_args, ctx, tool):
        call = _made.get()
        running = call or tool
        if runs(running):
            return await call_tool(self, name, tool_args, ctx, tool)
        asked = name, tool_args
        if call is not None and call.tool_call_id == ctx.tool_call_id:
            asked = call.tool_name, _parsed(call.args)
        exceptions = sys.modules.get("pydantic_ai.exceptions")
        known = [getattr(exceptions, n) for n in ("ModelRetry", "ToolFailed") if hasattr(exceptions, n)]
        answer = await ask_async(*asked, ctx.tool_call_id)
        if isinstance(answer, Order):
            return await answer.run_async(running, lambda others: call_tool(self, name, {**tool_args, **others}, ctx, tool))
        return given(answer, known)

    cls.call_tool = answered


def _parsed(args):
    if isinstance(args, str):
        try:
            return json.loads(args) if args else {}
        except ValueError:
            return args
    return args if args is not None else {}
