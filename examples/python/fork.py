"""An agent that publishes a release if CI passed, as a replay can fork it.

    tape run replay/testdata/gate.jsonl --fork 2 --trials 10 --isolated \
        --allow-kind model --allow publish --allow-side-effects -- python3 examples/python/fork.py

What the tape answers comes from the tape; what is to run live is run here, and what
came of it is told. The model is a dice, and publishing does nothing.
"""
import json
import os
import random
import sys
import urllib.error
import urllib.request

direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))


def post(path, body):
    request = urllib.request.Request(os.environ["TAPE_URL"] + path, json.dumps(body).encode(),
                                     {"Content-Type": "application/json"})
    try:
        return json.load(direct.open(request))
    except urllib.error.HTTPError as verdict:  # drift, miss, exhausted, gap, refused
        sys.exit(json.load(verdict)["error"]["message"])


def call(tool, args, run, kind="tool"):
    answer = post("/v1/call", {"tool": tool, "args": args, "kind": kind, "live": True})
    if answer.get("live"):
        outcome = {"call": answer["call"]}
        try:
            outcome["result"] = run(answer["args"])
        except Exception as e:
            outcome["error"] = {"type": type(e).__name__, "message": str(e)}
        answer = post("/v1/record", outcome)
    if "error" in answer:
        raise RuntimeError(answer["error"]["message"])
    return answer["result"]


def model(request):
    said = random.choice(["v1.4.0 is out.", "I will not announce a release that failed."])
    return {"message": {"role": "assistant", "content": said}}


ci = call("ci_status", {"ref": "v1.4.0"}, run=lambda args: sys.exit("CI is on the tape"))
note = call("chat", kind="model", run=model, args={
    "messages": [{"role": "user", "content": f"CI says {ci['conclusion']}. Write a note for v1.4.0."}],
})["message"]["content"]
if not note.endswith("is out."):
    sys.exit(3)  # It was held back.
call("publish", {"ref": "v1.4.0", "note": note}, run=lambda args: {"url": "https://example.com/" + args["ref"]})
