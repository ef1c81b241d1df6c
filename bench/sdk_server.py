"""The other side of the comparison: a server on the official Python SDK with the same payload.

    python -m bench.sdk_server FILE http PORT | stdio

FILE has the tools that Sightline lists and one finished payload, which every call is answered
with. It is the SDK's low-level server, over HTTP in its JSON mode on uvicorn with uvloop and
httptools. It checks no token and no arguments and asks no language server.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import uvicorn
from mcp import types
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server


def build(file: Path) -> Server[Any]:
    content = json.loads(file.read_text(encoding="utf-8"))
    tools = [types.Tool.model_validate(tool) for tool in content["tools"]]
    payload = content["payload"]

    async def list_tools(context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tools)

    async def call_tool(context: Any, params: Any) -> types.CallToolResult:
        return types.CallToolResult(content=[], structured_content=payload)

    return Server("sdk", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


async def over_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (reader, writer):
        await server.run(reader, writer, server.create_initialization_options())


def main(file: str, transport: str, *port: str) -> None:
    server = build(Path(file))
    if transport == "stdio":
        asyncio.run(over_stdio(server))
        return
    uvicorn.run(
        server.streamable_http_app(json_response=True),
        host="127.0.0.1",
        port=int(port[0]),
        log_level="critical",
        access_log=False,
        loop="uvloop",
        http="httptools",
        ws="none",
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
