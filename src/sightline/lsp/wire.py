"""Language Server Protocol framing: ``Content-Length`` headers, bounded messages."""

import asyncio

__all__ = ["BadFraming", "MAX_MESSAGE_BYTES", "frame", "read_message"]

#: 20,000 locations take about 4 MB; a whole-workspace diagnostics answer of django 7 MB.
MAX_MESSAGE_BYTES = 64 << 20
_MAX_HEADER_LINES = 16


class BadFraming(Exception):
    """The server does not speak the protocol, or says more than it may."""


def frame(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


async def read_message(stream: asyncio.StreamReader) -> bytes | None:
    """The next message body, or ``None`` at the end of the stream."""
    length: int | None = None
    for _ in range(_MAX_HEADER_LINES):
        try:
            line = await stream.readuntil(b"\r\n")
        except asyncio.IncompleteReadError as end:
            if end.partial or length is not None:
                raise BadFraming("the stream ended inside a header") from None
            return None
        except asyncio.LimitOverrunError:
            raise BadFraming("a header line is too long") from None
        if line == b"\r\n":
            break
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            if not value.strip().isdigit():
                raise BadFraming("Content-Length is not a number")
            length = int(value)
    if length is None:
        raise BadFraming("a message without Content-Length")
    if length > MAX_MESSAGE_BYTES:
        raise BadFraming("a message is larger than it may be")
    try:
        return await stream.readexactly(length)
    except asyncio.IncompleteReadError:
        raise BadFraming("the stream ended inside a message") from None
