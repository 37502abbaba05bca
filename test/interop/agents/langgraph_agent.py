"""A LangGraph agent, traced by OpenInference. Usage: langgraph_agent.py DOCUMENT [async]"""
import asyncio
import sys

from openinference.instrumentation.langchain import LangChainInstrumentor

import effects
import telemetry

LangChainInstrumentor().instrument(tracer_provider=telemetry.provider())

from langchain.agents import create_agent  # noqa: E402
from langchain_core.tools import tool  # noqa: E402
from langchain_openai import ChatOpenAI  # noqa: E402

tools = [tool(f) for f in (effects.fetch_doc, effects.shorten, effects.count_words, effects.publish)]
agent = create_agent(ChatOpenAI(model="gpt-4o-mini", temperature=0), tools, system_prompt="You publish documents.")
question = {"messages": [("user", f"Publish the document {sys.argv[1]}")]}
answer = asyncio.run(agent.ainvoke(question)) if "async" in sys.argv else agent.invoke(question)
print(answer["messages"][-1].content)
