"""opentelemetry-instrument puts a start-up hook of its own first on PYTHONPATH,
which would run in place of ours: ours goes before it, and runs it."""
import os


def hook(module):
    execute = module.execl

    def execl(*args):
        path = os.environ.get("PYTHONPATH", "").split(os.pathsep)
        ours = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        os.environ["PYTHONPATH"] = os.pathsep.join([ours] + [entry for entry in path if entry and entry != ours])
        execute(*args)

    module.execl = execl
