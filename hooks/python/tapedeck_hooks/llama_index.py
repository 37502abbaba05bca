"""LlamaIndex: call and acall of every tool, FunctionTool first of all.

Tools that ask an index (QueryEngineTool, RetrieverTool) are answered as a whole.
"""
import functools

from .ask import Order, ask, ask_async, for_subclasses, given, hooked, once, runs


def hook(module):
    def wrap(cls):
        for name, wrapper in (("__call__", _sync), ("call", _sync), ("acall", _async)):
            original = cls.__dict__.get(name)
            # The abstract ones and the adapter of synchronous tools call others.
            if original is None or hooked(original) or cls.__name__ in ("BaseTool", "AsyncBaseTool", "BaseToolAsyncAdapter"):
                continue
            setattr(cls, name, wrapper(original, module))

    for_subclasses(module.BaseTool, wrap)


def _sync(call, module):
    @once
    @functools.wraps(call)
    def answered(self, *args, **kwargs):
        if runs(self):
            return call(self, *args, **kwargs)
        made = _arguments(self, args, kwargs)
        answer = ask(self.metadata.get_name(), made)
        if isinstance(answer, Order):
            return answer.run(self, lambda others: _again(call, self, args, kwargs, made, others), _told)
        return _output(self, module, made, given(answer))

    return answered


def _async(call, module):
    @once
    @functools.wraps(call)
    async def answered(self, *args, **kwargs):
        if runs(self):
            return await call(self, *args, **kwargs)
        made = _arguments(self, args, kwargs)
        answer = await ask_async(self.metadata.get_name(), made)
        if isinstance(answer, Order):
            return await answer.run_async(self, lambda others: _again(call, self, args, kwargs, made, others), _told)
        return _output(self, module, made, given(answer))

    return answered


def _arguments(tool, args, kwargs):
    """Arguments by name, without the workflow's context."""
    try:
        names = list(tool.metadata.get_parameters_dict().get("properties", {}))
    except (AttributeError, ValueError):
        names = []
    named = dict(zip(names, args))
    named.update((k, v) for k, v in kwargs.items() if k != getattr(tool, "ctx_param_name", None))
    return named


def _again(call, tool, args, kwargs, made, others):
    return call(tool, **{**kwargs, **made, **others}) if others else call(tool, *args, **kwargs)


def _told(output):
    return output.raw_output


def _output(tool, module, made, result):
    name = tool.metadata.get_name()
    raw = {"args": (), "kwargs": made}
    if hasattr(tool, "_parse_tool_output"):
        return module.ToolOutput(blocks=tool._parse_tool_output(result), tool_name=name, raw_input=raw, raw_output=result)
    return module.ToolOutput(content=str(result), tool_name=name, raw_input=raw, raw_output=result)
