"""The MCP client: ClientSession.call_tool.

A session still connects, lists tools and reads resources where the program says;
only calls of tools are answered from the tape.
"""
import functools
import json

from .ask import Failure, ask_async, hooked, once


def hook(module):
    call_tool = module.ClientSession.call_tool
    if hooked(call_tool):
        return

    @once
    @functools.wraps(call_tool)
    async def answered(self, name, arguments=None, *args, **kwargs):
        return _result(module.types, await ask_async(name, arguments or {}))

    module.ClientSession.call_tool = answered


def _result(types, answer):
    """A recorded result in the protocol's form; a failure is a result with isError."""
    failed = isinstance(answer, Failure)
    value = answer.result if failed else answer
    if isinstance(value, dict) and isinstance(value.get("content"), list):
        return types.CallToolResult.model_validate({**value, "isError": failed or bool(value.get("isError"))})
    if failed and value is None:
        value = answer.text
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    made = {"content": [{"type": "text", "text": text}], "isError": failed}
    if isinstance(value, dict):
        made["structuredContent"] = value
    return types.CallToolResult.model_validate(made)
