"""Google ADK: run_async of every tool.

Tools that steer the run (hand over to an agent, run one, leave a loop) are
answered and run all the same: they touch the run alone.
"""
import functools

from .ask import Order, ask_async, for_subclasses, given, hooked, once, running, runs

_STEERING = {"transfer_to_agent", "exit_loop", "set_model_response", "request_input"}


def hook(module):
    for_subclasses(module.BaseTool, _wrap)


def _wrap(cls):
    run = cls.__dict__.get("run_async")
    if run is None or hooked(run):
        return

    @once
    @functools.wraps(run)
    async def answered(self, *, args, tool_context):
        # Its class may call that of its base.
        if runs(self):
            return await run(self, args=args, tool_context=tool_context)
        answer = await ask_async(self.name, args, getattr(tool_context, "function_call_id", None))
        if isinstance(answer, Order):
            return await answer.run_async(self, lambda others: run(self, args={**args, **others}, tool_context=tool_context))
        if self.name not in _STEERING and not hasattr(self, "agent"):
            return given(answer)
        with running(self):
            return await run(self, args=args, tool_context=tool_context)

    cls.run_async = answered
