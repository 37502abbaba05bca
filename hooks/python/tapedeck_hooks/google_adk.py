"""Google ADK: run_async of every tool.

Tools that steer the run (hand over to an agent, run one, leave a loop) are
answered and run all the same: they touch the run alone.
"""
import contextvars
import functools

from .ask import ask_async, for_subclasses, given, hooked, once

_STEERING = {"transfer_to_agent", "exit_loop", "set_model_response", "request_input"}

# The tool that is being answered: its class may call that of its base.
_running = contextvars.ContextVar("tapedeck_google_adk", default=None)


def hook(module):
    for_subclasses(module.BaseTool, _wrap)


def _wrap(cls):
    run = cls.__dict__.get("run_async")
    if run is None or hooked(run):
        return

    @once
    @functools.wraps(run)
    async def answered(self, *, args, tool_context):
        if _running.get() is self:
            return await run(self, args=args, tool_context=tool_context)
        answer = await ask_async(self.name, args, getattr(tool_context, "function_call_id", None))
        if self.name not in _STEERING and not hasattr(self, "agent"):
            return given(answer)
        before = _running.set(self)
        try:
            return await run(self, args=args, tool_context=tool_context)
        finally:
            _running.reset(before)

    cls.run_async = answered
