"""Tools of agent frameworks, answered from a tape.

install() imports no framework. It waits until the program imports one, and then
lets the framework's file in this package wrap the place where tools run: a call
is answered by POST /v1/call at $TAPE_URL, and the tool's own code does not run,
nor what it would have called. One file is one framework:

    hook(module)    wraps what the module, just imported, runs tools with

A framework whose insides have changed so that there is nothing to wrap is named
on standard error; the report of the replay names the calls that slip through.
The cost at start-up is one import hook; nothing else is imported.
"""
import importlib
import importlib.util
import sys

# The module that, once imported, is hooked, and the file that does it.
HOOKS = {
    "langchain_core.tools.base": "langchain",
    "agents.tool": "openai_agents",
    "pydantic_ai.tool_manager": "pydantic_ai",
    "pydantic_ai.toolsets.abstract": "pydantic_ai",
    "crewai.tools.base_tool": "crewai",
    "crewai.tools.structured_tool": "crewai",
    "llama_index.core.tools.types": "llama_index",
    "smolagents.tools": "smolagents",
    "google.adk.tools.base_tool": "google_adk",
    "mcp.client.session": "mcp",
    "opentelemetry.instrumentation.auto_instrumentation": "opentelemetry_instrument",
}


class _Finder:
    """Finds what the finders after it find, and has it hooked after its import."""

    def find_spec(self, name, path=None, target=None):
        if name not in HOOKS:
            return None
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            if finder is self or find is None:
                continue
            spec = find(name, path, target)
            if spec is not None:
                _hook_after(spec)
                return spec
        return None


def _hook_after(spec):
    loader = spec.loader
    execute = getattr(loader, "exec_module", None)
    if execute is None:
        return

    def exec_module(module):
        execute(module)
        # A loader may load many modules: that of an archive does.
        if module.__name__ in HOOKS:
            _hook(module)

    try:
        loader.exec_module = exec_module
    except AttributeError as error:
        _complain(spec.name, error)


def _hook(module):
    try:
        importlib.import_module("." + HOOKS[module.__name__], __name__).hook(module)
    except (AttributeError, ImportError, TypeError) as error:
        _complain(module.__name__, error)


def _complain(name, error):
    print(f"tape: tools of {name} are not answered from the tape: {error!r}", file=sys.stderr)


def install():
    """Hook what is imported from now on, and what already is."""
    if any(isinstance(finder, _Finder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _Finder())
    for name in HOOKS:
        if name in sys.modules:
            _hook(sys.modules[name])
