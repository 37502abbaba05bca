"""The start-up hook of `tape run`: Python imports it before the program.

It hands the tools of agent frameworks to the tape (tapedeck_hooks) and then runs
the sitecustomize that would have run without it.
"""
import importlib.machinery
import importlib.util
import os
import sys

_here = os.path.dirname(os.path.abspath(__file__))

if os.environ.get("TAPE_URL"):
    import tapedeck_hooks

    tapedeck_hooks.install()


def _chain():
    """Run the next sitecustomize on the path under its own name."""
    others = [entry for entry in sys.path if os.path.abspath(entry or os.curdir) != _here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is None or spec.loader is None:
        return
    module = importlib.util.module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


_chain()
