"""Connections that nobody uses are closed, however many requests they served before."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from sightline.server import http_connection
from sightline.server.connections import Connections
from sightline.server.http_connection import Connection
from sightline.server.http_exchange import Head, Line, Reply
from tests.support.watching import HANG_S

REQUEST = b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 2\r\n\r\n{}"


class Accepting:
    """Says yes to everything."""

    def take(self, head: Head, body: bytes) -> Reply:
        return Reply(202)

    async def read_and_take(self, head: Head, line: Line) -> None:
        await line.reply(Reply(202))


@pytest.fixture
async def port() -> AsyncIterator[int]:
    loop = asyncio.get_running_loop()
    connections = Connections()
    server = await loop.create_server(
        lambda: Connection(Accepting(), connections, loop), "127.0.0.1", 0
    )
    yield server.sockets[0].getsockname()[1]
    server.close()
    connections.abort()


async def test_an_idle_connection_is_closed(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http_connection, "_IDLE_S", 0.2)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(REQUEST * 3)
    for _ in range(3):
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 202 ")
    async with asyncio.timeout(HANG_S):
        assert await reader.read() == b""
    writer.close()


async def test_a_connection_that_says_nothing_is_closed(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(http_connection, "_HEADER_S", 0.2)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    async with asyncio.timeout(HANG_S):
        assert await reader.read() == b""
    writer.close()


async def test_a_second_request_must_be_complete_in_time_too(
    port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(REQUEST)
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 202 ")
    monkeypatch.setattr(http_connection, "_HEADER_S", 0.2)
    writer.write(REQUEST + REQUEST[:30])
    async with asyncio.timeout(HANG_S):
        answers = await reader.read()
    assert answers.startswith(b"HTTP/1.1 202 ")
    assert answers.count(b"HTTP/1.1 ") == 2 and b"HTTP/1.1 408 " in answers
    writer.close()
