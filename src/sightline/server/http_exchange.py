"""One request's body and one request's answer, with their bounds.

A body is read within 1 MiB and five seconds. A request that is refused early is read on for a
moment, so that its sender gets to see the refusal instead of a reset; what does not come to an end
then closes the connection. An answer is JSON, or an event stream once there was progress.
"""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from sightline.contract.limits import MAX_REQUEST_BYTES
from sightline.server.http_rules import CLOSE, Refusal

__all__ = ["Answer", "Body", "Receive", "Sender", "respond"]

Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Sender = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Header = tuple[bytes, bytes]

_JSON: Header = (b"content-type", b"application/json")
_STREAM: Header = (b"content-type", b"text/event-stream")

_BODY_S = 5.0
_LINGER_S = 1.0
_LINGER_IDLE_S = 0.2
_LINGER_BYTES = 8 << 20


class Body:
    """The body of one request."""

    def __init__(
        self, receive: Receive, *, announced: bool = False, whole: bytes | None = None
    ) -> None:
        self._receive = receive
        #: All of it, where it came together with the headers.
        self._whole = whole
        #: The sender waits to be told to go on, which reading would do.
        self._announced = announced
        self._ended = whole is not None

    async def read(self) -> bytes:
        """The whole body, within the size and the time it may take."""
        if self._whole is not None:
            if len(self._whole) > MAX_REQUEST_BYTES:
                raise Refusal(413, CLOSE)
            return self._whole
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
        event = await self._receive()
        if event["type"] == "http.disconnect":
            raise Refusal(400, CLOSE)
        self._ended = not event.get("more_body", False)
        chunk: bytes = event.get("body", b"")
        return chunk


class Answer:
    """The answer to one accepted request."""

    def __init__(self, send: Sender, *, may_stream: bool) -> None:
        self._send = send
        self._may_stream = may_stream
        self._streaming = False

    async def accepted(self) -> None:
        """Nothing to say."""
        await respond(self._send, 202, [])

    async def event(self, message: bytes) -> None:
        """A message before the terminal one. It begins the stream."""
        if not self._may_stream:
            return
        if not self._streaming:
            self._streaming = True
            headers = [_STREAM, (b"cache-control", b"no-cache")]
            await self._send({"type": "http.response.start", "status": 200, "headers": headers})
        await self._send(_part(_framed(message), more=True))

    async def json(self, message: bytes, *headers: Header) -> None:
        """The terminal message."""
        if self._streaming:
            await self._send(_part(_framed(message), more=False))
        else:
            await respond(self._send, 200, [_JSON, *headers], message)


async def respond(send: Sender, status: int, headers: list[Header], body: bytes = b"") -> None:
    """A whole response."""
    length = (b"content-length", str(len(body)).encode())
    await send({"type": "http.response.start", "status": status, "headers": [*headers, length]})
    await send(_part(body, more=False))


def _part(body: bytes, *, more: bool) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": more}


def _framed(message: bytes) -> bytes:
    """One event. The message is one line: JSON escapes every line end."""
    return b"event: message\r\ndata: %b\r\n\r\n" % message
