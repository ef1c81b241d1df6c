"""A stream that cannot be finished is cut off; nothing else is put into it."""

import asyncio

from sightline.server.http_connection import Connection, Connections
from sightline.server.http_exchange import Coming, Head, Line, Reply

REQUEST = b"POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n"
BOUND_S = 10


class Streaming:
    """Begins a stream, then has nothing but a status to say."""

    def take(self, head: Head, body: bytes) -> Reply | Coming:
        return self._answer

    async def read_and_take(self, head: Head, line: Line) -> None:
        await self._answer(line)

    async def _answer(self, line: Line) -> None:
        try:
            await line.begin_stream(((b"content-type", b"text/event-stream"),))
            await line.stream(b"data: 1\r\n\r\n", ends=False)
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            await line.reply(Reply(503))


async def test_a_status_is_not_written_into_a_stream() -> None:
    loop, connections = asyncio.get_running_loop(), Connections()
    server = await loop.create_server(
        lambda: Connection(Streaming(), connections, loop), "127.0.0.1", 0
    )
    async with asyncio.timeout(BOUND_S), server:
        reader, writer = await asyncio.open_connection(*server.sockets[0].getsockname())
        writer.write(REQUEST)
        begun = await reader.readuntil(b"data: 1\r\n\r\n\r\n")
        await connections.end(0)
        rest = await reader.read()
        writer.close()
    assert begun.startswith(b"HTTP/1.1 200 OK\r\n")
    assert rest == b"", "no second status, and no end that would say that all was sent"
