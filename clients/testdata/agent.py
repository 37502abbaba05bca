"""Makes the calls in a file through the client and prints what came of each.

    python3 agent.py CALLS RAN

The tools leave a line in the file RAN when they really run.
"""
import sys

import tape


class ToolError(Exception):
    pass


def tool_of(call):
    def run(*_, **__):
        with open(sys.argv[2], "a", encoding="utf-8") as file:
            file.write(call["tool"] + "\n")
        if "error" in call:
            raise ToolError(call["error"])
        return call["result"]

    return run


with open(sys.argv[1], encoding="utf-8") as calls:
    for line in calls.read().split("\n"):
        if not line:
            continue
        call = tape.parse(line)
        try:
            came = {"result": tape.call(call["tool"], tool_of(call), call["args"], errors=[ToolError])}
        except ToolError as error:
            came = {"failed": str(error)}
        except tape.Verdict as verdict:
            came = {"verdict": verdict.verdict, "message": str(verdict)}
        sys.stdout.buffer.write((tape.dump(came) + "\n").encode())
