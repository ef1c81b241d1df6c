"""One request and its answer on a connection.

A body that may still be arriving, and an answer that is either whole, with its length, or sent in
parts. A whole answer is one write.
"""

import asyncio
from http import HTTPStatus
from typing import Protocol

from sightline.server.http_exchange import JSON_HEADERS, Head, Piece, Reply
from sightline.server.http_rules import CLOSE, Header

__all__ = ["Cycle", "Wire", "status_line"]

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_CHUNKED = b"transfer-encoding: chunked\r\n"
_JSON = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n%b"
#: What is refused before the token was seen to be good.
_AT_THE_DOOR = frozenset({401, 403, 404, 405})
_STATUS = {
    status.value: b"HTTP/1.1 %d %b\r\n" % (status.value, status.phrase.encode())
    for status in HTTPStatus
}


def status_line(status: int) -> bytes:
    return _STATUS[status]


class Wire(Protocol):
    """What a cycle needs of its connection."""

    def write(self, data: bytes) -> None: ...
    async def drain(self) -> None: ...
    def taken(self) -> None:
        """The application has taken what arrived of the body."""
        ...

    def answered(self, cycle: "Cycle") -> None: ...
    def is_recognized(self) -> bool:
        """Whether a request on this connection has shown a valid token."""
        ...


class Cycle:
    __slots__ = (
        "_told_end",
        "_waiter",
        "_wire",
        "announced",
        "body",
        "complete",
        "disconnected",
        "head",
        "keep_alive",
        "more_body",
        "started",
        "task",
    )

    def __init__(self, wire: Wire, head: Head, *, keep_alive: bool, announced: bool) -> None:
        self._wire = wire
        self.head = head
        self.keep_alive = keep_alive
        #: The client waits for our word before it sends the body.
        self.announced = announced
        self.body: bytes | bytearray = b""
        self.more_body = True
        self.disconnected = False
        self.started = False
        self.complete = False
        self.task: asyncio.Task[None] | None = None
        self._told_end = False
        self._waiter: asyncio.Future[None] | None = None

    # The connection's side

    def feed(self, data: bytes) -> None:
        if not self.body:
            self.body = data
        elif isinstance(self.body, bytearray):
            self.body += data
        else:
            self.body = bytearray(self.body + data)
        self._wake()

    def end(self) -> None:
        self.more_body = False
        self._wake()

    def disconnect(self) -> None:
        self.disconnected = True
        self._wake()

    def whole_body(self) -> bytes | None:
        """The body, if all of it is there and nobody has taken any of it."""
        return None if self.more_body or self.announced else bytes(self.body)

    def reply_now(self, reply: Reply) -> None:
        """A whole response, without waiting for those before it to be read."""
        if self.disconnected or self.complete:
            return
        if self.started:
            # A stream has begun and will not come to its end. Another status line would be a part
            # of it; closing without the last chunk tells the client that it is not whole.
            self.keep_alive = False
            self._end()
            return
        self.started = True
        if reply.status in _AT_THE_DOOR and not self._wire.is_recognized():
            self.keep_alive = False  # it costs us a descriptor, and its sender nothing
        if reply.headers is JSON_HEADERS and self.keep_alive:
            self._wire.write(_JSON % (len(reply.body), reply.body))
        else:
            length = b"content-length: %d\r\n" % len(reply.body)
            self._wire.write(self._head(reply.status, reply.headers, length) + reply.body)
        self._end()

    # The application's side

    async def receive(self) -> Piece | None:
        if self.announced and not self.disconnected:
            self.announced = False
            self._wire.write(_CONTINUE)
        while not (self.disconnected or self.body or (not self.more_body and not self._told_end)):
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        if self.disconnected or self.complete:
            return None
        body, self.body = bytes(self.body), b""
        self._told_end = not self.more_body
        self._wire.taken()
        return Piece(body, not self.more_body)

    async def reply(self, reply: Reply) -> None:
        await self._wire.drain()
        self.reply_now(reply)

    async def begin_stream(self, headers: tuple[Header, ...]) -> None:
        await self._wire.drain()
        if not self.disconnected:
            self.started = True
            self._wire.write(self._head(200, headers, _CHUNKED))

    async def stream(self, data: bytes, *, ends: bool) -> None:
        await self._wire.drain()
        if self.disconnected or self.complete:
            return
        chunk = b"%x\r\n%b\r\n" % (len(data), data)
        self._wire.write(chunk + b"0\r\n\r\n" if ends else chunk)
        if ends:
            self._end()

    def _head(self, status: int, headers: tuple[Header, ...], framing: bytes) -> bytes:
        if CLOSE in headers:
            self.keep_alive = False
        elif not self.keep_alive:
            headers = (*headers, CLOSE)
        lines = b"".join(b"%b: %b\r\n" % header for header in headers)
        return _STATUS[status] + lines + framing + b"\r\n"

    def _end(self) -> None:
        self.complete = True
        self._wire.answered(self)

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
