"""A local socket that only the user who started the program can connect to.

It lies in a private folder (0700) with mode 0600. A program that cannot have one still does its
work: what is asked over it is a convenience.
"""

import asyncio
import contextlib
import os
import socket
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

__all__ = ["PrivateSocket", "short"]

_LONGEST_PATH = 100
Answer = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class PrivateSocket:
    def __init__(self, path: Path, answer: Answer, *, limit: int = 1 << 16) -> None:
        self.path = path
        self._answer = answer
        self._limit = limit
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Begins to listen."""
        with contextlib.suppress(FileNotFoundError):
            self.path.unlink()
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            with short(self.path) as path:
                # Nobody can connect before it listens, and then its mode is what it should be. The
                # mask for new files is the whole process's, and others make files meanwhile.
                listener.bind(path)
                os.chmod(path, 0o600)
            self._server = await asyncio.start_unix_server(
                self._serve, sock=listener, limit=self._limit
            )
        except OSError:
            listener.close()

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
            with contextlib.suppress(FileNotFoundError):
                self.path.unlink()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            await self._answer(reader, writer)
            await writer.drain()
            writer.close()
            await writer.wait_closed()


@contextlib.contextmanager
def short(path: Path) -> Iterator[str]:
    """A spelling of a socket's path that the system takes: it allows about a hundred bytes."""
    if len(os.fsencode(path)) < _LONGEST_PATH or not os.path.isdir("/proc/self/fd"):
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)
