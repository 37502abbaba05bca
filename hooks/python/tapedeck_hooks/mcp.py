"""The MCP client: ClientSession.call_tool.

A session still connects, lists tools and reads resources where the program says;
only calls of tools are answered from the tape.
"""
import functools
import json

from .ask import Failure, Order, ask_async, hooked, once


def hook(module):
    call_tool = module.ClientSession.call_tool
    if hooked(call_tool):
        return

    @once
    @functools.wraps(call_tool)
    async def answered(self, name, arguments=None, *args, **kwargs):
        answer = await ask_async(name, arguments or {})
        if isinstance(answer, Order):
            return await answer.run_async(
                self, lambda others: call_tool(self, name, {**arguments, **others} if others else arguments, *args, **kwargs), _told)
        return _result(module.types, answer)

    module.ClientSession.call_tool = answered


def _told(result):
    return result.model_dump(mode="json", by_alias=True, exclude_none=True)


def _result(types, answer):
    """A recorded result in the envelope that it came in, else as text; a failure is a
    result with isError."""
    failed = isinstance(answer, Failure)
    value = answer.result if failed else answer
    if failed and value is None:
        value = answer.text
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        made = {**value, "isError": failed or bool(value.get("isError"))}
    elif isinstance(value, list) and value and all(isinstance(block, dict) and "type" in block for block in value):
        made = {"content": value, "isError": failed}
    elif value is None:
        made = {"content": [], "isError": failed}
    else:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        made = {"content": [{"type": "text", "text": text}], "isError": failed}
    return types.CallToolResult.model_validate(made)
