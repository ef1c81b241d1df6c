"""The child's ends of the pipes as streams."""

import asyncio
import os
from typing import NamedTuple

from sightline.editor.messages import MAX_MESSAGE_BYTES

__all__ = ["Pipes", "open_pipes"]


class Pipes(NamedTuple):
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    #: What must be closed for the loop to end: a reader has no end of its own.
    source: asyncio.ReadTransport


async def open_pipes(read_fd: int, write_fd: int) -> Pipes:
    """Streams on two descriptors that are pipes or sockets.

    The file objects do not own them. uvloop closes a descriptor itself and its file object after
    that, by number: with ``closefd`` that would be whatever another thread had opened meanwhile.
    """
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=MAX_MESSAGE_BYTES)
    source = os.fdopen(read_fd, "rb", buffering=0, closefd=False)
    reading, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), source)
    sink = os.fdopen(write_fd, "wb", buffering=0, closefd=False)
    transport, protocol = await loop.connect_write_pipe(_Sink, sink)
    return Pipes(reader, asyncio.StreamWriter(transport, protocol, None, loop), reading)


class _Sink(asyncio.streams.FlowControlMixin):
    """What a ``StreamWriter`` needs of its protocol."""

    def __init__(self) -> None:
        super().__init__()
        self._closed: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        if not self._closed.done():
            self._closed.set_result(None)

    def _get_close_waiter(self, stream: asyncio.StreamWriter) -> "asyncio.Future[None]":
        return self._closed
