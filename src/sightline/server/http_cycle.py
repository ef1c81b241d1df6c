"""One request and its answer on a connection, in the words of ASGI.

This is as much of an ASGI server as the application needs: a body that may still be arriving, and
an answer that is either whole, with its length, or sent in parts. A whole answer is one write.
"""

import asyncio
from collections.abc import MutableMapping
from http import HTTPStatus
from typing import Any, Protocol

from sightline.server.http_rules import CLOSE

__all__ = ["Cycle", "Line", "status_line"]

Event = MutableMapping[str, Any]

_CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
_CLOSE = b"connection: close\r\n"
_CHUNKED = b"transfer-encoding: chunked\r\n"
_STATUS = {
    status.value: b"HTTP/1.1 %d %b\r\n" % (status.value, status.phrase.encode())
    for status in HTTPStatus
}


def status_line(status: int) -> bytes:
    return _STATUS[status]


class Line(Protocol):
    """What a cycle needs of its connection."""

    def write(self, data: bytes) -> None: ...
    async def drain(self) -> None: ...
    def taken(self) -> None:
        """The application has taken what arrived of the body."""
        ...

    def answered(self, cycle: "Cycle") -> None: ...


class Cycle:
    __slots__ = (
        "_chunked",
        "_head",
        "_line",
        "_told_end",
        "_waiter",
        "announced",
        "body",
        "complete",
        "disconnected",
        "keep_alive",
        "more_body",
        "scope",
        "started",
        "task",
    )

    def __init__(self, line: Line, scope: Event, *, keep_alive: bool, announced: bool) -> None:
        self._line = line
        self.scope = scope
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
        self._head: Event | None = None
        self._chunked = False
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

    # The application's side

    async def receive(self) -> Event:
        if self.announced and not self.disconnected:
            self.announced = False
            self._line.write(_CONTINUE)
        while not (self.disconnected or self.body or (not self.more_body and not self._told_end)):
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        if self.disconnected or self.complete:
            return {"type": "http.disconnect"}
        body, self.body = bytes(self.body), b""
        self._told_end = not self.more_body
        self._line.taken()
        return {"type": "http.request", "body": body, "more_body": self.more_body}

    async def send(self, event: Event) -> None:
        if event["type"] == "http.response.start":
            self._head = event
            return
        await self._line.drain()
        if self.disconnected or self.complete:
            return
        body: bytes = event["body"]
        more: bool = event["more_body"]
        parts: list[bytes] = []
        if self._head is not None:
            self._begin(self._head, parts, streams=more)
            self._head = None
        if not self._chunked:
            parts.append(body)
        elif body:
            parts += (b"%x\r\n" % len(body), body, b"\r\n")
        if not more and self._chunked:
            parts.append(b"0\r\n\r\n")
        self._line.write(b"".join(parts))
        if not more:
            self.complete = True
            self._line.answered(self)

    def _begin(self, head: Event, parts: list[bytes], *, streams: bool) -> None:
        self.started = True
        self._chunked = streams
        parts.append(_STATUS[head["status"]])
        closes = False
        for header in head["headers"]:
            closes = closes or header == CLOSE
            parts.append(b"%b: %b\r\n" % header)
        if closes:
            self.keep_alive = False
        elif not self.keep_alive:
            parts.append(_CLOSE)
        if streams:
            parts.append(_CHUNKED)
        parts.append(b"\r\n")

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
