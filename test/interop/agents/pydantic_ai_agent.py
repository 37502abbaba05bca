"""A Pydantic AI agent with its own OpenTelemetry instrumentation. Usage: pydantic_ai_agent.py DOCUMENT"""
import sys

import effects
import telemetry

from pydantic_ai import Agent
from pydantic_ai.models.instrumented import InstrumentationSettings

provider = telemetry.provider()
agent = Agent(
    "openai-chat:gpt-4o-mini",
    instructions="You publish documents.",
    tools=[effects.fetch_doc, effects.shorten, effects.count_words, effects.publish],
    name="publisher",
)
Agent.instrument_all(InstrumentationSettings(tracer_provider=provider))
print(agent.run_sync(f"Publish the document {sys.argv[1]}").output)
