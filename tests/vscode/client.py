"""The official Python client, connected to a server in an editor."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from mcp import Client, MCPError
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client

__all__ = ["Agent", "Refused", "connected", "one_call"]

_CALL_S = 120


class Refused(Exception):
    """A call that ended in an error that no retry helps."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message


class Agent:
    def __init__(self, client: Client) -> None:
        self._client = client

    async def tools(self) -> list[str]:
        return [tool.name for tool in (await self._client.list_tools()).tools]

    async def call(self, tool: str, **arguments: Any) -> Any:
        """The payload of ``vscode.lsp.TOOL``; waits while a retry helps."""
        async with asyncio.timeout(_CALL_S):
            while True:
                try:
                    result = await self._client.call_tool(f"vscode.lsp.{tool}", arguments)
                except MCPError as error:
                    data: Any = error.error.data
                    details = data.get("details", {})
                    if not details.get("retryable"):
                        raise Refused(data["code"].rpartition("/")[2], error.message) from None
                else:
                    return result.structured_content


@contextlib.asynccontextmanager
async def connected(url: str, token: str) -> AsyncIterator[Agent]:
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        create_mcp_http_client(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), mode="legacy") as client,
    ):
        yield Agent(client)


def one_call(url: str, token: str, tool: str, **arguments: Any) -> Any:
    """One call in a connection of its own."""

    async def call() -> Any:
        async with connected(url, token) as agent:
            try:
                return await agent.call(tool, **arguments)
            except Refused as refused:
                return refused  # raised outside: the client wraps what is raised inside

    answer = asyncio.run(call())
    if isinstance(answer, Refused):
        raise answer
    return answer
