"""Calls tools of an MCP server by the official SDK: one line of JSON a call.

Usage: mcpclient.py URL TOOL ARGUMENTS [TOOL ARGUMENTS]...
"""
import asyncio
import json
import sys

from mcp import Client


async def main(url, *calls):
    async with Client(url) as client:
        print(json.dumps([tool.name for tool in (await client.list_tools()).tools]))
        for tool, arguments in zip(calls[::2], calls[1::2]):
            try:
                result = await client.call_tool(tool, json.loads(arguments))
                said = {"failed": result.is_error, "text": [block.text for block in result.content],
                        "structured": result.structured_content}
            except Exception as error:
                said = {"thrown": str(error)}
            print(json.dumps(said), flush=True)


asyncio.run(main(*sys.argv[1:]))
