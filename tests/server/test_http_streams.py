"""A stream that cannot come to its end is broken off, and never holds anything but a stream."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from sightline.server.connections import Connections
from sightline.server.http_connection import Connection
from sightline.server.http_exchange import Answer, Coming, Head, Line, Reply
from sightline.server.http_rules import CLOSE
from tests.support.watching import HANG_S

REQUEST = b"POST /mcp HTTP/1.1\r\nHost: here\r\nContent-Length: 2\r\n\r\n{}"


class Application:
    """Answers every request in one way."""

    def __init__(self, coming: Coming) -> None:
        self._coming = coming

    def take(self, head: Head, body: bytes) -> Reply | Coming:
        return self._coming

    async def read_and_take(self, head: Head, line: Line) -> None:
        raise AssertionError("requests come in one piece here")


@asynccontextmanager
async def client(
    coming: Coming, connected: Callable[[Connection], None] = lambda connection: None
) -> AsyncIterator[asyncio.StreamReader]:
    """What is said to somebody who sends one request."""
    loop = asyncio.get_running_loop()

    def connect() -> Connection:
        connection = Connection(Application(coming), Connections(), loop)
        connected(connection)
        return connection

    server = await loop.create_server(connect, "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
    writer.write(REQUEST)
    try:
        yield reader
    finally:
        writer.close()
        server.close()
        await server.wait_closed()


@pytest.mark.parametrize("status", [500, 503])
async def test_what_goes_wrong_after_the_beginning_breaks_the_stream_off(status: int) -> None:
    async def fail(line: Line) -> None:
        await Answer(line, may_stream=True).event(b"{}")
        await line.reply(Reply(status, (CLOSE,)))

    async with client(fail) as said, asyncio.timeout(HANG_S):
        whole = await said.read()
    assert whole.count(b"HTTP/1.1") == 1
    assert whole.endswith(b"data: {}\r\n\r\n\r\n"), "the end of the first chunk, and no last one"


async def test_who_is_cancelled_before_the_beginning_answers_without_a_stream() -> None:
    """The client has not read what it was sent before, so the stream waits."""

    connections: list[Connection] = []

    async def answer(line: Line) -> None:
        connections[0].pause_writing()
        whole = Answer(line, may_stream=True)
        telling = asyncio.create_task(whole.event(b"{}"))
        await asyncio.sleep(0)
        telling.cancel()
        await asyncio.wait({telling})
        connections[0].resume_writing()
        await whole.json(b'{"id":1}')

    async with client(answer, connections.append) as said, asyncio.timeout(HANG_S):
        head = await said.readuntil(b"\r\n\r\n")
        assert b"content-type: application/json" in head
        assert await said.readexactly(8) == b'{"id":1}'
