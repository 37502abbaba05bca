"""CrewAI: BaseTool.run and arun, which native tool calls use, and
CrewStructuredTool.invoke and ainvoke, which the other agents use.

Tools that hand work to a co-worker are answered and run all the same: that
agent's own model and tools are answered from the tape.
"""
import functools
import sys

from .ask import Order, ask, ask_async, for_subclasses, given, hooked, once, runs


def hook(module):
    if hasattr(module, "CrewStructuredTool"):
        cls = module.CrewStructuredTool
        _set(cls, "invoke", _sync(cls.invoke, _input, _input_again))
        _set(cls, "ainvoke", _async(cls.ainvoke, _input, _input_again))
    if hasattr(module, "BaseTool"):
        for_subclasses(module.BaseTool, _wrap)


def _wrap(cls):
    _set(cls, "run", _sync(cls.__dict__.get("run"), _keywords, _keywords_again))
    _set(cls, "arun", _async(cls.__dict__.get("arun"), _keywords, _keywords_again))


def _set(cls, name, wrapper):
    if name in cls.__dict__ and not hooked(cls.__dict__[name]):
        setattr(cls, name, wrapper)


def _sync(run, arguments, again):
    if run is None:
        return None

    @once
    @functools.wraps(run)
    def answered(self, *args, **kwargs):
        if runs(self):
            return run(self, *args, **kwargs)
        asked = arguments(self, args, kwargs)
        answer = ask(_name(self), asked)
        if isinstance(answer, Order):
            return answer.run(self, lambda others: again(run, self, args, kwargs, asked, others))
        return run(self, *args, **kwargs) if _hands_on(self) else given(answer)

    return answered


def _async(run, arguments, again):
    if run is None:
        return None

    @once
    @functools.wraps(run)
    async def answered(self, *args, **kwargs):
        if runs(self):
            return await run(self, *args, **kwargs)
        asked = arguments(self, args, kwargs)
        answer = await ask_async(_name(self), asked)
        if isinstance(answer, Order):
            return await answer.run_async(self, lambda others: again(run, self, args, kwargs, asked, others))
        return await run(self, *args, **kwargs) if _hands_on(self) else given(answer)

    return answered


def _input(_, args, kwargs):
    return args[0] if args else kwargs.get("input")


def _keywords(tool, args, kwargs):
    schema = getattr(tool, "args_schema", None)
    return {**dict(zip(getattr(schema, "model_fields", ()), args)), **kwargs}


def _input_again(run, tool, args, kwargs, asked, others):
    if not others:
        return run(tool, *args, **kwargs)
    changed = {**asked, **others}
    return run(tool, changed, *args[1:], **kwargs) if args else run(tool, **{**kwargs, "input": changed})


def _keywords_again(run, tool, args, kwargs, asked, others):
    return run(tool, **{**asked, **others}) if others else run(tool, *args, **kwargs)


def _name(tool):
    """The name that the model knows the tool by."""
    sanitize = getattr(sys.modules.get("crewai.utilities.string_utils"), "sanitize_tool_name", None)
    return sanitize(tool.name) if sanitize else tool.name


def _hands_on(tool):
    tool = getattr(tool, "_original_tool", None) or tool
    return any(base.__name__ == "BaseAgentTool" for base in type(tool).__mro__)
