"""OpenAI Agents SDK: FunctionTool, below its handling of failures.

What the SDK makes of a failing tool (failure_error_function) it makes of a
recorded failure too. An agent used as a tool is answered and runs all the same:
its own model and tools are answered from the tape.
"""
import ast
import functools
import json
import re

from .ask import Failure, Order, ask_async, given, hooked, once


def hook(module):
    finish = module.FunctionTool.__post_init__

    @functools.wraps(finish)
    def __post_init__(self, *args, **kwargs):
        finish(self, *args, **kwargs)
        invoker = self.on_invoke_tool
        if not hasattr(invoker, "_invoke_tool_impl"):
            if not hooked(invoker):
                self.on_invoke_tool = _answered(self, invoker)
        elif not hooked(invoker._invoke_tool_impl):
            invoker._invoke_tool_impl = _answered(self, invoker._invoke_tool_impl)

    module.FunctionTool.__post_init__ = __post_init__


def _answered(tool, invoke):
    @once
    @functools.wraps(invoke)
    async def answered(context, text):
        args = _parsed(text)
        answer = await ask_async(
            getattr(context, "tool_name", None) or tool.name, args, getattr(context, "tool_call_id", None))
        if isinstance(answer, Order):
            return await answer.run_async(
                tool, lambda others: invoke(context, json.dumps({**args, **others}) if others else text))
        if getattr(tool, "_is_agent_tool", False):
            return await invoke(context, text)
        if isinstance(answer, Failure):
            if answer.result is not None:
                return answer.result  # What the SDK told the model of the failure.
            answer.message = _bare(answer.message)
        return given(answer)

    return answered


def _bare(message):
    """The message that the tool raised: spans have it inside what the SDK says of it."""
    told = re.fullmatch(r"Error running tool[^:]*: (\{.*\})", message, re.DOTALL)
    try:
        return str(ast.literal_eval(told[1])["error"]) if told else message
    except (KeyError, SyntaxError, TypeError, ValueError):
        return message


def _parsed(text):
    """Arguments as a value; what is no JSON stays text, as the model wrote it."""
    try:
        return json.loads(text) if text else {}
    except ValueError:
        return text
