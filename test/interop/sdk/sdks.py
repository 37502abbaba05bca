"""Asks model APIs by the official SDKs and says what they make of the answers.

Each line of standard input is a job: {"family", "base", "body"}; each line of
standard output is what came of it, a parsed answer or {"error", "status", "body"}.
"""
import json
import sys

import anthropic
import openai
from google import genai
from openai.lib.streaming.chat import ChatCompletionStreamState


OPENAI = openai.OpenAI(api_key="none", max_retries=0)
ANTHROPIC = anthropic.Anthropic(api_key="none", max_retries=0)


def chat(base, body):
    client = OPENAI.with_options(base_url=base)
    # What others add to the API goes beside what the SDK knows.
    answer = client.post("/chat/completions", body=body, cast_to=openai.types.chat.ChatCompletion,
                         stream=bool(body.get("stream")), stream_cls=openai.Stream[openai.types.chat.ChatCompletionChunk])
    if not body.get("stream"):
        return answer.model_dump(mode="json")
    state = ChatCompletionStreamState()
    for chunk in answer:
        state.handle_chunk(chunk)
    return state.get_final_completion().model_dump(mode="json")


def responses(base, body):
    answer = OPENAI.with_options(base_url=base).responses.create(**body)
    if not body.get("stream"):
        return answer.model_dump(mode="json", warnings=False)
    final = None
    for event in answer:
        if event.type in ("response.completed", "response.incomplete", "response.failed"):
            final = event.response
    return final.model_dump(mode="json", warnings=False)


def messages(base, body):
    client = ANTHROPIC.with_options(base_url=base)
    # Betas are members that the method does not know.
    rest = {name: value for name, value in body.items() if name not in ("model", "messages", "max_tokens", "stream")}
    asked = {"model": body["model"], "messages": body["messages"], "max_tokens": body["max_tokens"], "extra_body": rest}
    if not body.get("stream"):
        return client.messages.create(**asked).model_dump(mode="json", warnings=False)
    with client.messages.stream(**asked) as stream:
        return stream.get_final_message().model_dump(mode="json", warnings=False)


def gemini(base, body):
    client = genai.Client(api_key="none", http_options={"base_url": base})
    call = {"model": "gemini-x", "contents": body["contents"], "config": body.get("config")}
    if not body.get("stream"):
        return _gemini([client.models.generate_content(**call)])
    return _gemini(list(client.models.generate_content_stream(**call)))


def _gemini(answers):
    parts = [part for a in answers for part in (a.candidates[0].content.parts or [])]
    return {
        "text": "".join(part.text or "" for part in parts),
        "calls": [{"name": part.function_call.name, "args": part.function_call.args} for part in parts if part.function_call],
        "finish": answers[-1].candidates[0].finish_reason.value,
        "tokens": answers[-1].usage_metadata.total_token_count,
    }


FAMILIES = {
    "openai-chat": chat, "openai-compatible": chat, "openai-responses": responses,
    "anthropic-messages": messages, "gemini": gemini,
}

for line in sys.stdin:
    job = json.loads(line)
    try:
        said = FAMILIES[job["family"]](job["base"], job["body"])
    except Exception as error:
        status = getattr(error, "status_code", None) or getattr(error, "code", None)
        said = {"error": type(error).__name__, "status": status, "body": getattr(error, "body", None)}
        if not isinstance(status, int):
            said["message"] = str(error)
    print(json.dumps(said), flush=True)
