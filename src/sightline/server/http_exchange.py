"""One request and one answer, as the application sees them, with their bounds.

A body is read within 1 MiB and five seconds. A request that is refused early is read on for a
moment, so that its sender gets to see the refusal instead of a reset; what does not come to an end
then closes the connection. An answer is JSON, or an event stream once there was progress.
"""

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from sightline.contract.limits import MAX_REQUEST_BYTES
from sightline.server.http_rules import CLOSE, Header, Heads, Refusal
from sightline.server.tokens import Tokens

__all__ = [
    "JSON_HEADERS",
    "Admission",
    "Answer",
    "Body",
    "Coming",
    "Head",
    "Line",
    "Piece",
    "Reply",
]

#: The headers of nearly every answer.
JSON_HEADERS: tuple[Header, ...] = ((b"content-type", b"application/json"),)
_STREAM_HEADERS: tuple[Header, ...] = (
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-cache"),
)

_BODY_S = 5.0
_LINGER_S = 1.0
_LINGER_IDLE_S = 0.2
_LINGER_BYTES = 8 << 20


class Admission(NamedTuple):
    """The headers of a request that was let in, and the tokens that were valid then."""

    tokens: Tokens
    heads: Heads


@dataclass(slots=True, eq=False)
class Head:
    """What a request says before its body. Names are in lower case; see ``http_rules.join``.

    A client says the same with nearly every request, and then it is the same object: what was
    found out about it once is kept in it.
    """

    method: bytes
    target: bytes
    version: str
    headers: Mapping[bytes, bytes]
    admission: Admission | None = None


class Reply(NamedTuple):
    """A whole response."""

    status: int
    headers: tuple[Header, ...] = ()
    body: bytes = b""


class Piece(NamedTuple):
    """A part of a request's body."""

    data: bytes
    ended: bool


class Line(Protocol):
    """The connection, as far as one request is concerned."""

    async def receive(self) -> Piece | None:
        """The next part of the body; ``None`` when the sender is gone."""
        ...

    async def reply(self, reply: Reply) -> None: ...
    async def begin_stream(self, headers: tuple[Header, ...]) -> None: ...
    async def stream(self, data: bytes, *, ends: bool) -> None: ...


#: How an answer that takes time comes to the line: run in a task of its own.
Coming = Callable[[Line], Coroutine[Any, Any, None]]


class Body:
    """The body of a request that did not come in one piece with its head."""

    def __init__(self, line: Line, *, announced: bool) -> None:
        self._line = line
        #: The sender waits to be told to go on, which reading would do.
        self._announced = announced
        self._ended = False

    async def read(self) -> bytes:
        """The whole body, within the size and the time it may take."""
        body = bytearray()
        try:
            async with asyncio.timeout(_BODY_S):
                self._announced = False
                while not self._ended:
                    body += await self._more()
                    if len(body) > MAX_REQUEST_BYTES:
                        raise Refusal(413, CLOSE)
        except TimeoutError:
            raise Refusal(408, CLOSE) from None
        return bytes(body)

    async def settle(self) -> bool:
        """Reads on for a moment; whether the body came to its end."""
        size = 0
        try:
            async with asyncio.timeout(_LINGER_S):
                while not (self._ended or self._announced) and size <= _LINGER_BYTES:
                    async with asyncio.timeout(_LINGER_IDLE_S):
                        size += len(await self._more())
        except (TimeoutError, Refusal):
            pass
        return self._ended

    async def _more(self) -> bytes:
        piece = await self._line.receive()
        if piece is None:
            raise Refusal(400, CLOSE)
        self._ended = piece.ended
        return piece.data


class Answer:
    """The answer to one call: JSON, or a stream that began with progress."""

    def __init__(self, line: Line, *, may_stream: bool) -> None:
        self._line = line
        self._may_stream = may_stream
        self._streaming = False

    async def event(self, message: bytes) -> None:
        """A message before the terminal one. It begins the stream."""
        if not self._may_stream:
            return
        if not self._streaming:
            await self._line.begin_stream(_STREAM_HEADERS)
            self._streaming = True  # not before: whoever is cancelled while waiting began nothing
        await self._line.stream(_framed(message), ends=False)

    async def json(self, message: bytes) -> None:
        """The terminal message."""
        if self._streaming:
            await self._line.stream(_framed(message), ends=True)
        else:
            await self._line.reply(Reply(200, JSON_HEADERS, message))


def _framed(message: bytes) -> bytes:
    """One event. The message is one line: JSON escapes every line end."""
    return b"event: message\r\ndata: %b\r\n\r\n" % message
