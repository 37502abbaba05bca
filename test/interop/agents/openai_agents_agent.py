"""An agent of the OpenAI Agents SDK, traced by OpenInference. Usage: openai_agents_agent.py DOCUMENT"""
import sys

from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

import effects
import telemetry

OpenAIAgentsInstrumentor().instrument(tracer_provider=telemetry.provider())

from agents import Agent, Runner, function_tool  # noqa: E402

tools = [function_tool(f) for f in (effects.fetch_doc, effects.shorten, effects.count_words)]
tools.append(function_tool(effects.publish, failure_error_function=None))
agent = Agent(name="publisher", instructions="You publish documents.", model="gpt-4o-mini", tools=tools)
print(Runner.run_sync(agent, f"Publish the document {sys.argv[1]}").final_output)
