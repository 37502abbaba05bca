"""A small agent of three tools whose last one fails, and how such an agent is
recorded and replayed. Recording needs opentelemetry-sdk and
opentelemetry-exporter-otlp-proto-http; a replay needs Python alone.

    OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4318 python agent.py
    tape run failed.jsonl -- python agent.py [MAX_WORDS]
"""
import json
import pathlib
import sys

# An agent of its own has a copy of tape.py beside it.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))
import tape  # noqa: E402


class ToolError(Exception):
    pass


def traced(tool, function):
    """The function in a span as the GenAI conventions have it."""
    def run(**args):
        with tracer.start_as_current_span(f"execute_tool {tool}") as span:
            span.set_attribute("gen_ai.operation.name", "execute_tool")
            span.set_attribute("gen_ai.tool.name", tool)
            span.set_attribute("gen_ai.tool.call.arguments", json.dumps(args))
            result = function(**args)
            span.set_attribute("gen_ai.tool.call.result", json.dumps(result))
            return result
    return run


def call(tool, function, **args):
    """Under `tape run` the recorded answer; else the function really runs."""
    try:
        return tape.call(tool, traced(tool, function), args, errors=[ToolError])
    except tape.Verdict as verdict:
        sys.exit(f"{tool}: {verdict}")


def search(query, limit):
    return [f"{query}, result {n}" for n in range(1, limit + 1)]


def shorten(text, max_words):
    return " ".join(text.split()[:max_words])


def publish(body, token):
    raise ToolError("503 Service Unavailable")


def agent(max_words):
    found = call("search", search, query="record and replay", limit=3)
    text = call("shorten", shorten, text="; ".join(found), max_words=max_words)
    call("publish", publish, body=text, token="not-for-the-tape")


def main(max_words=6):
    if tape.session():
        return agent(max_words)
    with tracer.start_as_current_span("invoke_agent reporter") as span:
        span.set_attribute("gen_ai.operation.name", "invoke_agent")
        span.set_attribute("gen_ai.agent.name", "reporter")
        agent(max_words)


if not tape.session():
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    tracer = provider.get_tracer("reporter")

try:
    main(*map(int, sys.argv[1:]))
except ToolError as error:
    sys.exit(f"agent: {error}")
